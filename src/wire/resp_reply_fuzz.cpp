// Any bytes: no crash, no bound exceeded, and the same replies however the bytes are split. The first byte of the input
// seeds where.

#include <cstdint>
#include <cstring>
#include <string>

#include "base/check.h"
#include "base/prng.h"
#include "wire/resp_reply.h"

namespace ratel {
namespace {

using Kind = RespReply::Kind;

void describe(RespReply reply, std::string& result) {
  result += static_cast<char>('A' + static_cast<int>(reply.kind()));
  result += std::to_string(reply.integer()) + ',' + std::to_string(reply.text().size()) + ':';
  result += reply.text();
  result += '*' + std::to_string(reply.size());
  std::size_t items = 0;
  for (const RespReply item : reply) {
    describe(item, result);
    ++items;
  }
  CHECK(items == reply.size());
}

/// Every reply and the end, in an unambiguous transcript. `piece_bytes_max` 0: all in one piece.
std::string transcript(std::string_view input, std::size_t piece_bytes_max, Prng& prng) {
  RespReplyReader reader;
  std::string result;
  while (!input.empty()) {
    const std::size_t size = piece_bytes_max == 0 ? input.size() : 1 + prng.next() % piece_bytes_max;
    std::string_view piece = input.substr(0, size);
    input.remove_prefix(piece.size());
    RespReplyReader::Outcome outcome;
    do {
      outcome = reader.read(piece);
      if (outcome != RespReplyReader::Outcome::kReply) continue;
      result += '\n';
      describe(reader.reply(), result);
    } while (outcome == RespReplyReader::Outcome::kReply);
    if (outcome == RespReplyReader::Outcome::kMalformed) return result + '!';
    CHECK(piece.empty());
  }
  return result + '?';
}

}  // namespace
}  // namespace ratel

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  ratel::Prng prng(data[0]);
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = ratel::transcript(input, 0, prng);
  CHECK(ratel::transcript(input, 1, prng) == whole);
  CHECK(ratel::transcript(input, 16, prng) == whole);
  return 0;
}
