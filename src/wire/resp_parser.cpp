#include "wire/resp_parser.h"

#include <charconv>
#include <cstring>

namespace ratel {
namespace {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

enum class Line : std::uint8_t { kWhole, kPartial, kTooLong, kInvalid };

/// Reads `<marker><integer>\r\n` at `position`, whose first byte the caller has seen, and moves behind it.
Line read_length(std::string_view input, std::size_t& position, std::int64_t& length) {
  const std::string_view line = input.substr(position, kRespLengthLineBytesMax);
  if (line.size() >= 4 && is_digit(line[1]) && line[2] == '\r' && line[3] == '\n') {  // as most arrays have it
    length = line[1] - '0';
    position += 4;
    return Line::kWhole;
  }
  const std::size_t end = line.find('\r');
  if (end == std::string_view::npos) return line.size() < kRespLengthLineBytesMax ? Line::kPartial : Line::kTooLong;
  if (position + end + 1 == input.size()) return Line::kPartial;
  if (input[position + end + 1] != '\n') return Line::kInvalid;
  const auto [stop, problem] = std::from_chars(line.data() + 1, line.data() + end, length);
  if (problem != std::errc() || stop != line.data() + end) return Line::kInvalid;
  position += end + 2;
  return Line::kWhole;
}

/// A bulk string of less than 100 bytes that is there whole and right, which nearly every one is. Moves behind it, or
/// leaves everything to the careful way.
bool take_short_bulk(std::string_view input, std::size_t& position, std::string_view& bulk) {
  constexpr std::size_t kLongest = 5 + 99 + 2;
  const char* at = input.data() + position;
  const std::size_t left = input.size() - position;
  if (left < 6 || at[0] != '$' || !is_digit(at[1]) || position + kLongest > kRespCommandBytesMax) return false;
  auto size = static_cast<std::size_t>(at[1] - '0');
  std::size_t header = 4;
  if (is_digit(at[2])) {
    size = size * 10 + static_cast<std::size_t>(at[2] - '0');
    header = 5;
  }
  const std::size_t whole = header + size + 2;
  if (left < whole || std::memcmp(at + header - 2, "\r\n", 2) != 0 || std::memcmp(at + whole - 2, "\r\n", 2) != 0) {
    return false;
  }
  bulk = {at + header, size};
  position += whole;
  return true;
}

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The byte that an escape in double quotes stands for; moves `i` from behind the backslash to behind the escape.
char unescape(std::string_view line, std::size_t& i) {
  if (line[i] == 'x' && i + 2 < line.size() && hex_value(line[i + 1]) >= 0 && hex_value(line[i + 2]) >= 0) {
    const int value = hex_value(line[i + 1]) * 16 + hex_value(line[i + 2]);
    i += 3;
    return static_cast<char>(value);
  }
  switch (const char c = line[i++]) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

}  // namespace

RespParser::Outcome RespParser::fail(std::string_view text) {
  error_ = "Protocol error: ";
  error_ += text;
  return Outcome::kError;
}

RespParser::Parsed RespParser::parse(std::string_view input) {
  std::size_t consumed = 0;
  while (consumed < input.size()) {
    const std::string_view rest = input.substr(consumed);
    std::size_t position = 0;
    arguments_.clear();
    const Outcome outcome = rest[0] == '*' ? parse_array(rest, position) : parse_inline(rest, position);
    if (outcome != Outcome::kCommand) return {outcome, consumed};
    consumed += position;
    if (!arguments_.empty()) return {Outcome::kCommand, consumed};
  }
  return {Outcome::kPartial, consumed};
}

RespParser::Outcome RespParser::parse_array(std::string_view input, std::size_t& position) {
  std::int64_t count = 0;
  switch (read_length(input, position, count)) {
    case Line::kWhole:
      break;
    case Line::kPartial:
      return Outcome::kPartial;
    case Line::kTooLong:
      return fail("too big mbulk count string");
    case Line::kInvalid:
      return fail("invalid multibulk length");
  }
  if (count > static_cast<std::int64_t>(kRespArgumentsMax)) return fail("invalid multibulk length");

  for (std::string_view bulk; count > 0; --count) {
    if (take_short_bulk(input, position, bulk)) {
      arguments_.push_back(bulk);
      continue;
    }
    if (position == input.size()) return Outcome::kPartial;
    if (input[position] != '$') {
      return fail(std::string("expected '$', got '") + input[position] + "'");
    }
    std::int64_t length = 0;
    switch (read_length(input, position, length)) {
      case Line::kWhole:
        break;
      case Line::kPartial:
        return Outcome::kPartial;
      case Line::kTooLong:
        return fail("too big bulk count string");
      case Line::kInvalid:
        return fail("invalid bulk length");
    }
    if (length < 0 || length > static_cast<std::int64_t>(kRespBulkBytesMax)) return fail("invalid bulk length");
    const auto size = static_cast<std::size_t>(length);
    if (position + size + 2 > kRespCommandBytesMax) return fail("too big command");
    if (position + size >= input.size()) return Outcome::kPartial;
    arguments_.emplace_back(input.data() + position, size);
    position += size;
    // Each byte is judged as soon as it is there, so that an error does not depend on how the bytes were split.
    if (input[position] != '\r') return fail("expected CRLF after bulk string");
    if (position + 1 == input.size()) return Outcome::kPartial;
    if (input[position + 1] != '\n') return fail("expected CRLF after bulk string");
    position += 2;
  }
  return Outcome::kCommand;
}

RespParser::Outcome RespParser::parse_inline(std::string_view input, std::size_t& position) {
  const std::size_t end = input.substr(0, kRespInlineBytesMax).find('\n');
  if (end == std::string_view::npos) {
    return input.size() < kRespInlineBytesMax ? Outcome::kPartial : fail("too big inline request");
  }
  position = end + 1;
  if (!split_words(input.substr(0, end))) return fail("unbalanced quotes in request");
  if (arguments_.size() > kRespArgumentsMax) return fail("too big inline request");
  return Outcome::kCommand;
}

/// Words between white space; "double quotes" know escapes, 'single quotes' only \'. A closing quote ends its word.
bool RespParser::split_words(std::string_view line) {
  words_.clear();
  words_.reserve(line.size());  // never exceeded, so that arguments_ may point into it
  std::size_t i = 0;
  while (true) {
    while (i < line.size() && is_space(line[i])) ++i;
    if (i == line.size() || arguments_.size() > kRespArgumentsMax) return true;
    const std::size_t start = words_.size();
    char quote = 0;
    while (i < line.size() && (quote != 0 || !is_space(line[i]))) {
      const char c = line[i++];
      if (quote == 0 && (c == '"' || c == '\'')) {
        quote = c;
      } else if (quote != 0 && c == quote) {
        quote = 0;
        if (i < line.size() && !is_space(line[i])) return false;
        break;
      } else if (quote == '"' && c == '\\' && i < line.size()) {
        words_ += unescape(line, i);
      } else if (quote == '\'' && c == '\\' && i < line.size() && line[i] == '\'') {
        words_ += line[i++];
      } else {
        words_ += c;
      }
    }
    if (quote != 0) return false;
    arguments_.emplace_back(words_.data() + start, words_.size() - start);
  }
}

}  // namespace ratel
