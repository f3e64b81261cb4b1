#pragma once
// Time inside ratel: whole microseconds, as in Redis. Names end in _us.

#include <cstdint>

namespace ratel {

/// A point in time (since the Unix epoch, or since an arbitrary start for monotonic clocks) or a duration.
using Micros = std::int64_t;

inline constexpr Micros kMillisecond_us = 1'000;
inline constexpr Micros kSecond_us = 1'000'000;
inline constexpr Micros kMinute_us = 60 * kSecond_us;
inline constexpr Micros kHour_us = 60 * kMinute_us;
inline constexpr Micros kDay_us = 24 * kHour_us;

/// A duration that never ends: retry_after of a cost above the capacity.
inline constexpr Micros kNever_us = -1;

/// Rounds a wait up, as every wait that leaves ratel is. REQUIRES: us >= 0.
constexpr std::int64_t ceil_div(Micros us, Micros unit_us) { return us / unit_us + (us % unit_us != 0 ? 1 : 0); }

}  // namespace ratel
