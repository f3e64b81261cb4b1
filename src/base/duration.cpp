#include "base/duration.h"

#include <array>
#include <charconv>

#include "base/check.h"

namespace ratel {
namespace {

struct Unit {
  std::string_view name;
  Micros us;
};

constexpr std::array kUnits{Unit{"d", kDay_us},    Unit{"h", kHour_us}, Unit{"m", kMinute_us},
                            Unit{"s", kSecond_us}, Unit{"ms", 1'000},   Unit{"us", 1}};

Error malformed() {
  return {ErrorCode::kBadArgument, "a duration is a whole number and a unit (us, ms, s, m, h or d), as in `50ms`"};
}

}  // namespace

Result<Micros> parse_duration(std::string_view text) {
  if (text == "0") return Micros{0};
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const bool too_large = error == std::errc::result_out_of_range;
  if ((error != std::errc{} && !too_large) || text.front() == '-') return malformed();
  const std::string_view unit_name(rest, static_cast<std::size_t>(end - rest));
  for (const Unit& unit : kUnits) {
    if (unit.name != unit_name) continue;
    if (too_large || number > kDurationMax_us / unit.us) {
      return Error{ErrorCode::kBadArgument, "the longest duration is " + format_duration(kDurationMax_us)};
    }
    return number * unit.us;
  }
  return malformed();
}

std::string format_duration(Micros us) {
  CHECK(us >= 0);
  if (us == 0) return "0";
  for (const Unit& unit : kUnits) {
    if (us % unit.us == 0) return std::to_string(us / unit.us).append(unit.name);
  }
  return {};
}

}  // namespace ratel
