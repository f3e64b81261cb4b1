#include "base/size.h"

#include <array>
#include <charconv>

namespace ratel {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t bytes;
};

constexpr std::array kUnits{Unit{"TiB", std::uint64_t{1} << 40}, Unit{"GiB", std::uint64_t{1} << 30},
                            Unit{"MiB", std::uint64_t{1} << 20}, Unit{"KiB", std::uint64_t{1} << 10}, Unit{"B", 1}};

Error malformed() {
  return {ErrorCode::kBadArgument, "a size is a whole number and a unit (B, KiB, MiB, GiB or TiB), as in `512MiB`"};
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const bool too_large = error == std::errc::result_out_of_range;
  if (error != std::errc{} && !too_large) return malformed();
  const std::string_view unit_name(rest, static_cast<std::size_t>(end - rest));
  for (const Unit& unit : kUnits) {
    if (unit.name != unit_name) continue;
    if (too_large || number > kSizeMax / unit.bytes) {
      return Error{ErrorCode::kBadArgument, "the largest size is " + format_size(kSizeMax)};
    }
    return number * unit.bytes;
  }
  return malformed();
}

std::string format_size(std::uint64_t bytes) {
  for (const Unit& unit : kUnits) {
    if (bytes >= unit.bytes && bytes % unit.bytes == 0) return std::to_string(bytes / unit.bytes).append(unit.name);
  }
  return "0B";
}

}  // namespace ratel
