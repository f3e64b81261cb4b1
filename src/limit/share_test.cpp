#include "limit/share.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "limit/fraction.h"

namespace ratel {
namespace {

TEST(ShareTest, DividesRateAndCapacity) {
  struct Case {
    LimitSpec whole;
    int processes;
    std::int64_t capacity;
    Micros unit_us;  // of gcra: a unit takes this long to come back
  };
  const Case cases[] = {
      {{.count = 100, .period_us = kSecond_us, .burst = 200}, 4, 50, 40'000},
      {{.count = 100, .period_us = kSecond_us}, 1, 100, 10'000},
      {{.count = 5, .period_us = 60 * kSecond_us}, 10, 1, 120 * kSecond_us},  // never below 1; the rate is a tenth
      {{.count = 1, .period_us = kPeriodMax_us}, 100, 1, kCapacityTimeMax_us},
      {{.algorithm = Algorithm::kFixedWindow, .count = 10, .period_us = kSecond_us}, 3, 3, 0},
      {{.algorithm = Algorithm::kSlidingLog, .count = 2, .period_us = kSecond_us}, 3, 1, 0},
      {{.algorithm = Algorithm::kSlidingWindow, .count = 0, .period_us = kSecond_us}, 3, 0, 0},
      {{.count = 0, .period_us = kSecond_us}, 3, 0, 0},
  };
  for (const Case& c : cases) {
    const Limit share = share_of(*make_limit(c.whole), c.processes);
    EXPECT_EQ(share.capacity, c.capacity) << to_text(c.whole);
    EXPECT_EQ(share.interval.q_us, c.unit_us) << to_text(c.whole);
  }
}

RC_GTEST_PROP(ShareTest, TogetherAtMostTheLimit, ()) {
  const auto count = *rc::gen::inRange<std::int64_t>(1, 100'000);
  const auto period_us = *rc::gen::inRange<Micros>(1, kDay_us);
  const auto burst = *rc::gen::inRange<std::int64_t>(1, 100'000);
  const Result<Limit> whole = make_limit({.count = count, .period_us = period_us, .burst = burst});
  RC_PRE(whole.ok());
  const int processes = *rc::gen::inRange(1, 1000);
  const Limit share = share_of(*whole, processes);
  RC_ASSERT(share.capacity * processes <= std::max<std::int64_t>(whole->capacity, processes));
  // Units a microsecond, as products: share.count / share.period_us * processes <= whole.count / whole.period_us.
  RC_ASSERT(product(share.count * processes, whole->period_us) <= product(whole->count, share.period_us));
}

}  // namespace
}  // namespace ratel
