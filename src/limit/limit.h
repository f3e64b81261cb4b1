#pragma once
// What a limit is: the numbers a person wrote, checked once, with all that deciding needs computed beforehand.
//
// Immutable after make_limit; any thread may read. Nothing here overflows at run time: make_limit refuses what the
// arithmetic cannot hold exactly.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/micros.h"
#include "ratel/result.h"

namespace ratel {

enum class Algorithm : std::uint8_t { kGcra, kFixedWindow, kSlidingWindow, kSlidingLog, kConcurrency };

/// `gcra`, `fixed_window`, `sliding_window`, `sliding_log`, `concurrency`.
std::string_view name_of(Algorithm algorithm);
/// Also knows `token_bucket` and `leaky_bucket`, which are gcra under other names.
Result<Algorithm> parse_algorithm(std::string_view text);

/// A calendar window's unit. Minutes and hours are aligned to UTC; day, week (from Monday), month and year begin at
/// local midnight of the zone.
enum class CalendarUnit : std::uint8_t { kNone, kMinute, kHour, kDay, kWeek, kMonth, kYear };

/// The unit whose nominal length (a month is 30 days, a year 365) this is, or kNone.
CalendarUnit calendar_unit(Micros period_us);

inline constexpr std::int64_t kCountMax = (std::int64_t{1} << 32) - 1;  // count and burst
inline constexpr std::int64_t kCostMax = (std::int64_t{1} << 31) - 1;
inline constexpr Micros kPeriodMax_us = 366 * kDay_us;
inline constexpr Micros kCapacityTimeMax_us = 3650 * kDay_us;  // how long a full gcra bucket takes to refill
inline constexpr Micros kMaxWaitMax_us = kPeriodMax_us;        // of a reservation
inline constexpr Micros kLeaseMax_us = kDay_us;                // of a concurrency lease
inline constexpr Micros kClockSlack_us = 60 * kSecond_us;  // how far a stored time may lie ahead before it is a fault

/// A time with a fraction: q + r/L microseconds, 0 <= r < L, where L is the limit's count (facts: no rounding, ever).
struct Fraction {
  Micros q_us = 0;
  std::int64_t r = 0;

  friend constexpr auto operator<=>(const Fraction&, const Fraction&) = default;  // lexicographic is by value
};

/// What was written. Fields that do not apply to the algorithm stay as they are here.
struct LimitSpec {
  Algorithm algorithm = Algorithm::kGcra;
  bool unlimited = false;
  std::int64_t count = 0;  // 0: deny all
  Micros period_us = 0;    // 0 for concurrency
  std::int64_t burst = 0;  // 0: not given
  CalendarUnit calendar = CalendarUnit::kNone;
  std::string zone;  // IANA name; only with a calendar; empty is UTC

  friend bool operator==(const LimitSpec&, const LimitSpec&) = default;
};

struct Limit {
  Algorithm algorithm = Algorithm::kGcra;
  CalendarUnit calendar = CalendarUnit::kNone;
  bool unlimited = false;
  std::int64_t count = 0;      // L: units a period; 0 denies all
  Micros period_us = 0;        // P; of a calendar window the nominal length
  std::int64_t capacity = 0;   // B: the burst of gcra, else the count
  Fraction interval;           // gcra: P/L, the emission interval
  Fraction capacity_time;      // gcra: B*P/L, from empty to full
  Micros max_wait_us = 0;      // gcra: how far ahead RESERVE may book; part of what counts as a clock fault
  const void* zone = nullptr;  // of a calendar window; a date::time_zone, owned by the time zone database for ever
  std::string zone_name;
};

/// Checks the bounds above and precomputes. The error names the field, its value and the bound.
/// `max_wait_us` belongs to the rule and is only for gcra.
Result<Limit> make_limit(const LimitSpec& spec, Micros max_wait_us = 0);

/// The hot path of CL.THROTTLE: a gcra limit from three numbers, without text and without allocation.
/// REQUIRES: 1 <= count <= kCountMax, 1 <= burst <= kCountMax, 1 <= period_us <= kPeriodMax_us.
/// Returns false, leaving `limit` unspecified, when the capacity time exceeds kCapacityTimeMax_us.
bool make_gcra_limit(std::int64_t count, Micros period_us, std::int64_t burst, Limit& limit);

/// `5/min`, `100/s burst 200`, `7 per 3s`, `10000/day`, `20 concurrent`, `unlimited`. An error gives the position
/// (from 1) and what was expected there. The algorithm is the caller's to set unless the text says `concurrent`.
Result<LimitSpec> parse_limit(std::string_view text);

/// The canonical text: parse_limit(to_text(spec)) == spec, and equal limits have equal texts.
std::string to_text(const LimitSpec& spec);

}  // namespace ratel
