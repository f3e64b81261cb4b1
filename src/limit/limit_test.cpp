#include "limit/limit.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "limit/fraction.h"

namespace ratel {
namespace {

TEST(Algorithm, HasNames) {
  for (const Algorithm algorithm : {Algorithm::kGcra, Algorithm::kFixedWindow, Algorithm::kSlidingWindow,
                                    Algorithm::kSlidingLog, Algorithm::kConcurrency}) {
    EXPECT_EQ(*parse_algorithm(name_of(algorithm)), algorithm);
  }
  EXPECT_EQ(*parse_algorithm("token_bucket"), Algorithm::kGcra);
  EXPECT_EQ(*parse_algorithm("leaky_bucket"), Algorithm::kGcra);
  EXPECT_EQ(parse_algorithm("GCRA").error().message,
            "algorithm: expected gcra (token_bucket, leaky_bucket), fixed_window, sliding_window, sliding_log or "
            "concurrency, got 'GCRA'");
}

struct Case {
  const char* name;
  LimitSpec spec;
  Micros max_wait_us;
  const char* error;  // empty: a good limit
};

TEST(MakeLimit, NamesFieldValueAndBound) {
  constexpr Algorithm kFixed = Algorithm::kFixedWindow;
  constexpr Algorithm kSlots = Algorithm::kConcurrency;
  const std::vector<Case> cases{
      {"plain", {.count = 5, .period_us = kMinute_us}, 0, ""},
      {"the largest of all", {.count = kCountMax, .period_us = kPeriodMax_us, .burst = kCountMax}, kMaxWaitMax_us, ""},
      {"the longest refill", {.count = 1, .period_us = kDay_us, .burst = 3'650}, 0, ""},
      {"a longer refill",
       {.count = 1, .period_us = kDay_us, .burst = 3'651},
       0,
       "burst: 1/day burst 3651 takes 3651 days to refill; expected at most 3650"},
      {"a refill of no end",
       {.count = 1, .period_us = kPeriodMax_us, .burst = kCountMax},
       0,
       "burst: 1 per 366 days burst 4294967295 takes 1571958029970 days to refill; expected at most 3650"},
      {"negative count", {.count = -1, .period_us = 1}, 0, "count: expected 0 to 4294967295, got -1"},
      {"too high a count",
       {.count = kCountMax + 1, .period_us = 1},
       0,
       "count: expected 0 to 4294967295, got 4294967296"},
      {"no period", {.count = 1}, 0, "period: expected 1 to 31622400000000 us (366 days), got 0"},
      {"too long a period",
       {.count = 1, .period_us = kPeriodMax_us + 1},
       0,
       "period: expected 1 to 31622400000000 us (366 days), got 31622400000001"},
      {"negative burst", {.count = 1, .period_us = 1, .burst = -1}, 0, "burst: expected 1 to 4294967295, got -1"},
      {"too high a burst",
       {.count = 1, .period_us = 1, .burst = kCountMax + 1},
       0,
       "burst: expected 1 to 4294967295, got 4294967296"},
      {"deny all", {.count = 0, .period_us = kMinute_us}, 0, ""},
      {"deny all with a burst",
       {.count = 0, .period_us = kMinute_us, .burst = 3},
       0,
       "burst: a limit of 0 denies all and has no burst, got 3"},
      {"a window", {.algorithm = kFixed, .count = 5, .period_us = kMinute_us}, 0, ""},
      {"a window with burst",
       {.algorithm = kFixed, .count = 5, .period_us = kMinute_us, .burst = 7},
       0,
       "burst: belongs to gcra only, not to fixed_window"},
      {"a window with a wait",
       {.algorithm = kFixed, .count = 5, .period_us = kMinute_us},
       1,
       "max_wait: belongs to gcra only, not to fixed_window"},
      {"too long a wait",
       {.count = 5, .period_us = kMinute_us},
       kMaxWaitMax_us + 1,
       "max_wait: expected 0 to 31622400000000 us (366 days), got 31622400000001"},
      {"slots", {.algorithm = kSlots, .count = 5}, 0, ""},
      {"slots a minute",
       {.algorithm = kSlots, .count = 5, .period_us = kMinute_us},
       0,
       "period: a concurrency limit has none, as in `20 concurrent`"},
      {"a calendar day",
       {.algorithm = kFixed, .count = 5, .period_us = kDay_us, .calendar = CalendarUnit::kDay, .zone = "Asia/Tokyo"},
       0,
       ""},
      {"a calendar of gcra",
       {.count = 5, .period_us = kDay_us, .calendar = CalendarUnit::kDay},
       0,
       "calendar: belongs to fixed_window only, not to gcra"},
      {"two calendar days",
       {.algorithm = kFixed, .count = 5, .period_us = 2 * kDay_us, .calendar = CalendarUnit::kDay},
       0,
       "period: expected 86400000000 to 86400000000 us for this calendar unit, got 172800000000"},
      {"a zone without a calendar",
       {.count = 5, .period_us = kDay_us, .zone = "Asia/Tokyo"},
       0,
       "zone: needs a calendar window, got 'Asia/Tokyo' without one"},
      {"no such zone",
       {.algorithm = kFixed, .count = 5, .period_us = kDay_us, .calendar = CalendarUnit::kDay, .zone = "Tokyo"},
       0,
       "zone: expected an IANA time zone such as Europe/Berlin, got 'Tokyo'"},
  };
  for (const Case& c : cases) {
    const Result<Limit> limit = make_limit(c.spec, c.max_wait_us);
    EXPECT_EQ(limit.ok() ? "" : limit.error().message, c.error) << c.name;
  }
}

TEST(MakeLimit, KeepsTheIntervalAsAFraction) {
  const Limit limit = *make_limit({.count = 7, .period_us = kSecond_us, .burst = 3}, 5);
  EXPECT_EQ(limit.capacity, 3);
  EXPECT_EQ(limit.interval, (Fraction{142'857, 1}));
  EXPECT_EQ(limit.capacity_time, (Fraction{428'571, 3}));
  EXPECT_EQ(limit.max_wait_us, 5);
  EXPECT_EQ(make_limit({.count = 7, .period_us = kSecond_us})->capacity, 7);
}

TEST(MakeLimit, UnlimitedNeedsNothingElse) {
  const Limit limit = *make_limit({.unlimited = true});
  EXPECT_TRUE(limit.unlimited);
}

TEST(CalendarUnit, IsNamedByItsLength) {
  EXPECT_EQ(calendar_unit(kMinute_us), CalendarUnit::kMinute);
  EXPECT_EQ(calendar_unit(kHour_us), CalendarUnit::kHour);
  EXPECT_EQ(calendar_unit(kDay_us), CalendarUnit::kDay);
  EXPECT_EQ(calendar_unit(7 * kDay_us), CalendarUnit::kWeek);
  EXPECT_EQ(calendar_unit(30 * kDay_us), CalendarUnit::kMonth);
  EXPECT_EQ(calendar_unit(365 * kDay_us), CalendarUnit::kYear);
  EXPECT_EQ(calendar_unit(kSecond_us), CalendarUnit::kNone);
  EXPECT_EQ(calendar_unit(0), CalendarUnit::kNone);
}

RC_GTEST_PROP(MakeGcraLimit, AgreesWithMakeLimit, ()) {
  const auto number = rc::gen::oneOf(rc::gen::inRange<std::int64_t>(1, 100),
                                     rc::gen::inRange<std::int64_t>(1, kCountMax + 1), rc::gen::just(kCountMax));
  const std::int64_t count = *number;
  const std::int64_t burst = *number;
  const Micros period_us = *rc::gen::oneOf(rc::gen::inRange<Micros>(1, kMinute_us),
                                           rc::gen::inRange<Micros>(1, kPeriodMax_us), rc::gen::just(kPeriodMax_us));
  Limit made = *make_limit({.algorithm = Algorithm::kFixedWindow,
                            .count = 3,
                            .period_us = kDay_us,
                            .calendar = CalendarUnit::kDay});  // what an earlier command left there
  const bool fits = make_gcra_limit(count, period_us, burst, made);
  const Result<Limit> limit = make_limit({.count = count, .period_us = period_us, .burst = burst});
  RC_ASSERT(fits == limit.ok());
  if (!fits) return;
  RC_ASSERT(made.algorithm == Algorithm::kGcra && made.calendar == CalendarUnit::kNone && !made.unlimited);
  RC_ASSERT(made.count == limit->count && made.period_us == limit->period_us && made.capacity == limit->capacity);
  RC_ASSERT(made.interval == limit->interval && made.capacity_time == limit->capacity_time);
  RC_ASSERT(made.max_wait_us == 0);
}

// 25: quotients of products beyond 64 bits are those of the whole numbers, rounded the way their names say.
RC_GTEST_PROP(Fractions, RoundAsTheyShould, ()) {
  const std::int64_t a = *rc::gen::inRange<std::int64_t>(0, kCountMax + 1);
  const std::int64_t b = *rc::gen::inRange<std::int64_t>(0, kPeriodMax_us + 1);
  const std::int64_t c = *rc::gen::inRange<std::int64_t>(kCountMax / 2, kPeriodMax_us + 1);
  const Wide product = static_cast<Wide>(a) * static_cast<Wide>(b);
  const auto down = static_cast<Wide>(mul_div(a, b, c));
  const auto up = static_cast<Wide>(mul_div_up(a, b, c));
  const auto divisor = static_cast<Wide>(c);
  RC_ASSERT(down * divisor <= product && product < (down + 1) * divisor);
  RC_ASSERT(up * divisor >= product && (up == 0 || (up - 1) * divisor < product));
  const Fraction time = time_of(a, b, c);
  RC_ASSERT(static_cast<Wide>(time.q_us) * divisor + static_cast<Wide>(time.r) == product);
  RC_ASSERT(time.r >= 0 && time.r < c);
  RC_ASSERT(round_up(time) == mul_div_up(a, b, c));
}

TEST(Fractions, CarryAndBorrowOnce) {
  EXPECT_EQ(plus({5, 3}, {1, 4}, 7), (Fraction{7, 0}));
  EXPECT_EQ(plus({5, 3}, {1, 3}, 7), (Fraction{6, 6}));
  EXPECT_EQ(minus({5, 3}, {1, 4}, 7), (Fraction{3, 6}));
  EXPECT_EQ(minus({5, 3}, {5, 3}, 7), (Fraction{0, 0}));
  EXPECT_EQ(round_up({5, 0}), 5);
  EXPECT_EQ(round_up({5, 1}), 6);
}

}  // namespace
}  // namespace ratel
