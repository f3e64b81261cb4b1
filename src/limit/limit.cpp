#include "limit/limit.h"

#include <array>

#include "limit/calendar.h"
#include "limit/fraction.h"

namespace ratel {
namespace {

constexpr std::array<std::string_view, 5> kAlgorithmNames{"gcra", "fixed_window", "sliding_window", "sliding_log",
                                                          "concurrency"};

Error bad(std::string message) {
  return {ErrorCode::kBadArgument, std::move(message)};
}

Error out_of_range(std::string_view field, std::int64_t value, std::int64_t min, std::int64_t max,
                   std::string_view unit = "") {
  return bad(std::string(field) + ": expected " + std::to_string(min) + " to " + std::to_string(max) +
             std::string(unit) + ", got " + std::to_string(value));
}

/// What a field is not for.
Error only_for(std::string_view field, Algorithm right, Algorithm wrong) {
  return bad(std::string(field) + ": belongs to " + std::string(name_of(right)) + " only, not to " +
             std::string(name_of(wrong)));
}

Status check_calendar(const LimitSpec& spec, Limit& limit) {
  if (spec.calendar == CalendarUnit::kNone) {
    if (!spec.zone.empty()) return bad("zone: needs a calendar window, got '" + spec.zone + "' without one");
    return Done{};
  }
  if (spec.algorithm != Algorithm::kFixedWindow) {
    return only_for("calendar", Algorithm::kFixedWindow, spec.algorithm);
  }
  limit.period_us = nominal_length_us(spec.calendar);
  if (spec.period_us != limit.period_us) {
    return out_of_range("period", spec.period_us, limit.period_us, limit.period_us, " us for this calendar unit");
  }
  limit.calendar = spec.calendar;
  limit.zone_name = spec.zone.empty() ? "UTC" : spec.zone;
  limit.zone = find_zone(limit.zone_name);
  if (limit.zone == nullptr) {
    return bad("zone: expected an IANA time zone such as Europe/Berlin, got '" + spec.zone + "'");
  }
  return Done{};
}

}  // namespace

std::string_view name_of(Algorithm algorithm) {
  return kAlgorithmNames[static_cast<std::size_t>(algorithm)];
}

Result<Algorithm> parse_algorithm(std::string_view text) {
  for (std::size_t i = 0; i < kAlgorithmNames.size(); ++i) {
    if (text == kAlgorithmNames[i]) return static_cast<Algorithm>(i);
  }
  if (text == "token_bucket" || text == "leaky_bucket") return Algorithm::kGcra;
  return bad(
      "algorithm: expected gcra (token_bucket, leaky_bucket), fixed_window, sliding_window, sliding_log or "
      "concurrency, got '" +
      std::string(text) + "'");
}

CalendarUnit calendar_unit(Micros period_us) {
  for (const CalendarUnit unit : {CalendarUnit::kMinute, CalendarUnit::kHour, CalendarUnit::kDay, CalendarUnit::kWeek,
                                  CalendarUnit::kMonth, CalendarUnit::kYear}) {
    if (nominal_length_us(unit) == period_us) return unit;
  }
  return CalendarUnit::kNone;
}

Result<Limit> make_limit(const LimitSpec& spec, Micros max_wait_us) {
  Limit limit;
  limit.algorithm = spec.algorithm;
  if (spec.unlimited) {
    limit.unlimited = true;
    return limit;
  }
  const bool is_gcra = spec.algorithm == Algorithm::kGcra;
  if (spec.count < 0 || spec.count > kCountMax) return out_of_range("count", spec.count, 0, kCountMax);
  if (spec.algorithm == Algorithm::kConcurrency) {
    if (spec.period_us != 0) return bad("period: a concurrency limit has none, as in `20 concurrent`");
  } else if (spec.period_us < 1 || spec.period_us > kPeriodMax_us) {
    return out_of_range("period", spec.period_us, 1, kPeriodMax_us, " us (366 days)");
  }
  if (spec.burst != 0) {
    if (!is_gcra) return only_for("burst", Algorithm::kGcra, spec.algorithm);
    if (spec.burst < 0 || spec.burst > kCountMax) return out_of_range("burst", spec.burst, 1, kCountMax);
    if (spec.count == 0)
      return bad("burst: a limit of 0 denies all and has no burst, got " + std::to_string(spec.burst));
  }
  if (max_wait_us < 0 || max_wait_us > kMaxWaitMax_us) {
    return out_of_range("max_wait", max_wait_us, 0, kMaxWaitMax_us, " us (366 days)");
  }
  if (max_wait_us != 0 && !is_gcra) return only_for("max_wait", Algorithm::kGcra, spec.algorithm);

  limit.count = spec.count;
  limit.period_us = spec.period_us;
  limit.capacity = spec.count;
  if (Status status = check_calendar(spec, limit); !status.ok()) return status.error();
  if (is_gcra && spec.count > 0) {
    const std::int64_t burst = spec.burst != 0 ? spec.burst : spec.count;
    if (!make_gcra_limit(spec.count, spec.period_us, burst, limit)) {
      const auto days = static_cast<std::int64_t>(product(burst, spec.period_us) / product(kDay_us, spec.count));
      return bad("burst: " + to_text(spec) + " takes " + std::to_string(days) + " days to refill; expected at most " +
                 std::to_string(kCapacityTimeMax_us / kDay_us));
    }
    limit.max_wait_us = max_wait_us;
  }
  return limit;
}

bool make_gcra_limit(std::int64_t count, Micros period_us, std::int64_t burst, Limit& limit) {
  // As products: the capacity time itself fits 64 bits only after this.
  if (product(burst, period_us) > product(kCapacityTimeMax_us, count)) return false;
  limit.algorithm = Algorithm::kGcra;
  limit.calendar = CalendarUnit::kNone;
  limit.unlimited = false;
  limit.count = count;
  limit.period_us = period_us;
  limit.capacity = burst;
  limit.interval = time_of(1, period_us, count);
  limit.capacity_time = burst == 1 ? limit.interval : time_of(burst, period_us, count);
  limit.max_wait_us = 0;
  return true;
}

}  // namespace ratel
