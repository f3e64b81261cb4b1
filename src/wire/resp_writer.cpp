#include "wire/resp_writer.h"

#include <array>
#include <charconv>

#include "base/check.h"

namespace ratel {
namespace {

constexpr std::size_t kLengthLineBytesMax = 1 + 20 + 2;  // marker, 64-bit number with sign, CRLF
constexpr std::size_t kIntegersMax = 8;

/// REQUIRES: kLengthLineBytesMax bytes at `at`.
char* put_line(char* at, char marker, std::int64_t value) {
  *at++ = marker;
  if (value >= 0 && value < 10) {
    *at++ = static_cast<char>('0' + value);
  } else if (value >= 0 && value < 100) {
    *at++ = static_cast<char>('0' + value / 10);
    *at++ = static_cast<char>('0' + value % 10);
  } else {
    at = std::to_chars(at, at + 20, value).ptr;
  }
  *at++ = '\r';
  *at++ = '\n';
  return at;
}

}  // namespace

void RespWriter::header(char marker, std::int64_t value) {
  std::array<char, kLengthLineBytesMax> line;
  const char* end = put_line(line.data(), marker, value);
  output_.append(line.data(), static_cast<std::size_t>(end - line.data()));
}

void RespWriter::integers(std::initializer_list<std::int64_t> values) {
  CHECK(values.size() <= kIntegersMax);
  std::array<char, kLengthLineBytesMax*(kIntegersMax + 1)> lines;
  char* end = put_line(lines.data(), '*', static_cast<std::int64_t>(values.size()));
  for (std::int64_t value : values) end = put_line(end, ':', value);
  output_.append(lines.data(), static_cast<std::size_t>(end - lines.data()));
}

void RespWriter::simple(std::string_view text) {
  output_ += '+';
  output_ += text;
  output_ += "\r\n";
}

void RespWriter::error(std::string_view text) {
  output_ += '-';
  for (char c : text) output_ += c == '\r' || c == '\n' ? ' ' : c;
  output_ += "\r\n";
}

void RespWriter::bulk(std::string_view text) {
  header('$', static_cast<std::int64_t>(text.size()));
  output_ += text;
  output_ += "\r\n";
}

void RespWriter::map(std::size_t size) {
  const bool named = version_ == RespVersion::k3;
  header(named ? '%' : '*', static_cast<std::int64_t>(named ? size : 2 * size));
}

}  // namespace ratel
