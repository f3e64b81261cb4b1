// Any bytes: no crash, no bound exceeded, and the same commands however the bytes are split. The first byte of the
// input seeds where.

#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/prng.h"
#include "wire/resp_parser.h"

namespace ratel {
namespace {

/// Every command and the error, in an unambiguous transcript. `piece_bytes_max` 0: all in one piece.
std::string transcript(std::string_view input, std::size_t piece_bytes_max, Prng& prng) {
  RespParser parser;
  std::string result;
  std::string kept;
  while (!input.empty()) {
    const std::size_t size = piece_bytes_max == 0 ? input.size() : 1 + prng.next() % piece_bytes_max;
    kept += input.substr(0, size);
    input.remove_prefix(std::min(size, input.size()));
    RespParser::Parsed parsed;
    do {
      parsed = parser.parse(kept);
      CHECK(parsed.consumed <= kept.size());
      if (parsed.outcome == RespParser::Outcome::kCommand) {
        CHECK(parsed.consumed > 0);
        CHECK(!parser.arguments().empty() && parser.arguments().size() <= kRespArgumentsMax);
        result += '*';
        for (std::string_view argument : parser.arguments()) {
          CHECK(argument.size() <= kRespBulkBytesMax);
          result += std::to_string(argument.size()) + ':' + std::string(argument);
        }
      }
      kept.erase(0, parsed.consumed);
    } while (parsed.outcome == RespParser::Outcome::kCommand);
    if (parsed.outcome == RespParser::Outcome::kError) return result + '!' + std::string(parser.error());
    CHECK(kept.size() <= kRespCommandBytesMax + kRespLengthLineBytesMax);
  }
  return result + '?' + kept;
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
