#pragma once
// Durations as people write them in files and flags: `50ms`, `30s`, `5m`. Pure; any thread.

#include <string>
#include <string_view>

#include "base/micros.h"
#include "ratel/result.h"

namespace ratel {

/// A whole number directly followed by us, ms, s, m, h or d; or `0`. The error says what would be right; the caller,
/// who knows the field, adds its name and the value. Anything above kDurationMax_us is an error.
Result<Micros> parse_duration(std::string_view text);

/// The shortest text that parse_duration reads back as the same: `90s`, `2m`, `1500ms`. REQUIRES: us >= 0.
std::string format_duration(Micros us);

inline constexpr Micros kDurationMax_us = 36'500 * kDay_us;  // a century: more is a typing error

}  // namespace ratel
