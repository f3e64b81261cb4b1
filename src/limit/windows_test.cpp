// The three kinds of windows: what each promises of the windows it counts in, and what it keeps.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "base/prng.h"
#include "limit/fixed_window.h"
#include "limit/model_test.h"
#include "limit/sliding_log.h"
#include "limit/sliding_window.h"

namespace ratel::model {
namespace {

constexpr Micros kStart_us = kStarts_us[2];

Limit window(Algorithm algorithm, std::int64_t count, Micros period_us) {
  return *make_limit({.algorithm = algorithm, .count = count, .period_us = period_us});
}

struct Admitted {
  Micros t;
  std::int64_t cost;
};

/// The most that any half-open interval of `length_us` holds.
std::int64_t busiest(const std::vector<Admitted>& admitted, Micros length_us) {
  std::int64_t most = 0;
  for (const Admitted& first : admitted) {
    std::int64_t sum = 0;
    for (const Admitted& a : admitted) sum += a.t >= first.t && a.t < first.t + length_us ? a.cost : 0;
    most = std::max(most, sum);
  }
  return most;
}

std::vector<Admitted> any_traffic(const Limit& limit) {
  Subject subject(limit);
  std::vector<Admitted> admitted;
  Micros t = kStart_us;
  for (int i = 0; i < 80; ++i) {
    const std::int64_t cost = any_cost(limit);
    if (subject.allow(cost, t).decision.allowed) admitted.push_back({.t = t, .cost = cost});
    t += any_of<Micros>({0, 0, 0, 1, any_gap_us(limit) % (2 * limit.period_us), limit.period_us / 7});
  }
  return admitted;
}

// 2
RC_GTEST_PROP(Windows, ALogHoldsNoMoreThanTheLimitInAnyWindow, ()) {
  const Limit limit = any_limit(Algorithm::kSlidingLog);
  RC_ASSERT(busiest(any_traffic(limit), limit.period_us) <= limit.count);
}

// 2
RC_GTEST_PROP(Windows, AFixedWindowHoldsNoMoreThanTwiceTheLimit, ()) {
  const Limit limit = any_limit(Algorithm::kFixedWindow);
  RC_PRE(limit.calendar == CalendarUnit::kNone);
  RC_ASSERT(busiest(any_traffic(limit), limit.period_us) <= 2 * limit.count);
}

// 2
RC_GTEST_PROP(Windows, ASlidingWindowHoldsNoMoreThanItsShare, ()) {
  const Limit limit = any_limit(Algorithm::kSlidingWindow);
  const std::vector<Admitted> admitted = any_traffic(limit);
  for (const Micros part : {1, 2, 3, 10}) {
    const Micros length_us = std::max<Micros>(1, limit.period_us / part);
    const Big bound = Big{limit.count} * (limit.period_us + length_us) / limit.period_us + 1;
    RC_ASSERT(busiest(admitted, length_us) <= bound);
  }
}

TEST(Windows, AFixedWindowBeginsWithItsFirstHitAndIsHalfOpen) {
  Subject subject(window(Algorithm::kFixedWindow, 3, kSecond_us));
  EXPECT_EQ(subject.allow(2, kStart_us + 7).decision.reset_after.count(), kSecond_us);
  EXPECT_EQ(subject.allow(2, kStart_us + 7 + kSecond_us - 1).decision.retry_after.count(), 1);
  EXPECT_EQ(subject.allow(2, kStart_us + 7 + kSecond_us).decision.remaining, 1);
}

TEST(Windows, AFixedWindowRefundedToNothingIsGone) {
  Subject subject(window(Algorithm::kFixedWindow, 3, kSecond_us));
  subject.allow(2, kStart_us);
  EXPECT_EQ(subject.ask({.verb = Verb::kRefund, .cost = 2, .t = kStart_us + 5}).decision.reset_after.count(), 0);
  EXPECT_EQ(subject.cell(), Cell{});
}

// Two event loops read the clock a little apart: the later of two decisions may see the earlier time.
TEST(Windows, AClockSlightlyBehindACalendarWindowStandsInIt) {
  const Limit limit = *make_limit(
      {.algorithm = Algorithm::kFixedWindow, .count = 3, .period_us = kMinute_us, .calendar = CalendarUnit::kMinute});
  const Micros boundary_us = kStart_us - kStart_us % kMinute_us + kMinute_us;
  Subject subject(limit);
  EXPECT_TRUE(subject.allow(3, boundary_us - 10).decision.allowed);
  EXPECT_EQ(subject.allow(2, boundary_us).decision.remaining, 1);
  const Answer behind = subject.allow(2, boundary_us - 1);
  EXPECT_FALSE(behind.decision.allowed);
  EXPECT_EQ(behind.decision.retry_after.count(), kMinute_us + 1);
  EXPECT_EQ(subject.allow(1, boundary_us - kClockSlack_us).decision.remaining, 0);
  EXPECT_TRUE(subject.allow(3, boundary_us - kClockSlack_us - 1).decision.allowed) << "a step, to another window";
}

// The wall clock may step while the clock that stores go by does not.
TEST(Windows, ACalendarWindowGoesByTheWallClockAndItsCellByTheOther) {
  const Limit limit = *make_limit(
      {.algorithm = Algorithm::kFixedWindow, .count = 3, .period_us = kDay_us, .calendar = CalendarUnit::kDay});
  const BoundLimit bound{.limit = limit, .identity = {}, .label = {}};
  Cell cell;
  const Slot slot{.cell = &cell, .record = nullptr};
  const auto remaining_after_one = [&](Micros now_us, Micros calendar_us) {
    Charge charge{.limit = &bound};
    return decide({.charges = {&charge, 1}}, {&slot, 1}, {.now_us = now_us, .calendar_us = calendar_us})
        .decision.remaining;
  };
  const Micros midnight_us = kStart_us - kStart_us % kDay_us;
  EXPECT_EQ(remaining_after_one(1'000, midnight_us), 2);
  EXPECT_EQ(cell.until_us, 1'000 + kDay_us + kClockSlack_us);
  EXPECT_EQ(remaining_after_one(2'000, midnight_us + kHour_us), 1) << "an hour forward: still the same day";
  EXPECT_EQ(cell.until_us, 2'000 + 23 * kHour_us + kClockSlack_us);
  EXPECT_EQ(remaining_after_one(3'000, midnight_us + 2 * kDay_us), 2) << "a step into another day";
  EXPECT_EQ(remaining_after_one(4'000, midnight_us + kHour_us), 2) << "and back";
}

TEST(Windows, ACalendarWindowOutlastsAWallClockThatIsSetBack) {
  const Limit limit = *make_limit(
      {.algorithm = Algorithm::kFixedWindow, .count = 100, .period_us = kDay_us, .calendar = CalendarUnit::kDay});
  const BoundLimit bound{.limit = limit, .identity = {}, .label = {}};
  const Micros midnight_us = kStart_us - kStart_us % kDay_us;
  struct Step {
    Micros passed_us;  // on the clock that never steps
    Micros wall_us;    // of the day
    std::int64_t cost;
    bool allowed;
  };
  const Step steps[] = {
      {0, 22 * kHour_us, 100, true},
      {kMinute_us, 21 * kHour_us + kMinute_us, 1, false},  // set back by an hour
      {2 * kHour_us, 23 * kHour_us, 1, false},
      {3 * kHour_us - kMinute_us, 24 * kHour_us - kMinute_us, 1, false},
      {3 * kHour_us, 24 * kHour_us, 100, true},
  };
  for (const bool is_dropped_when_over : {false, true}) {
    Cell cell;
    for (const Step& step : steps) {
      if (is_dropped_when_over && cell.until_us < step.passed_us) cell = {};
      Charge charge{.limit = &bound};
      const Slot slot{.cell = &cell, .record = nullptr};
      const Answer answer = decide({.charges = {&charge, 1}, .cost = step.cost}, {&slot, 1},
                                   {.now_us = step.passed_us, .calendar_us = midnight_us + step.wall_us});
      EXPECT_EQ(answer.decision.allowed, step.allowed) << step.wall_us / kMinute_us << is_dropped_when_over;
    }
  }
}

TEST(Windows, ASlidingWindowWeighsTheWindowBefore) {
  const Limit limit = window(Algorithm::kSlidingWindow, 50, kMinute_us);
  const Micros aligned_us = kStart_us - kStart_us % kMinute_us;
  Subject subject(limit);
  subject.allow(42, aligned_us + kSecond_us);
  // 42 * (60 - 15) / 60 = 31.5, and 18 of this window: 49.5
  EXPECT_EQ(subject.allow(18, aligned_us + kMinute_us + 15 * kSecond_us).decision.remaining, 0);
}

// The log's bound: an entry a microsecond, each of at least one unit.
TEST(Windows, ALogKeepsAtMostCountEntriesAndMergesAnInstant) {
  constexpr std::int64_t kCount = 1'000;
  const Limit limit = window(Algorithm::kSlidingLog, kCount, kSecond_us);
  Subject spread(limit);
  std::size_t most_bytes = 0;
  for (Micros i = 0; i < 10 * kCount; ++i) {
    spread.allow(1, kStart_us + i * (kSecond_us / kCount));
    most_bytes = std::max(most_bytes, spread.record_bytes());
  }
  EXPECT_EQ(spread.peek(1, kStart_us + 10 * kSecond_us - 1).decision.remaining, 0);
  EXPECT_GE(most_bytes, 16U * kCount);
  EXPECT_LE(most_bytes, 2U * 2U * 16U * kCount + 256) << "half may be forgotten entries, and blocks double";
  Subject at_once(limit);
  for (std::int64_t i = 0; i < kCount; ++i) at_once.allow(1, kStart_us);
  EXPECT_FALSE(at_once.allow(1, kStart_us).decision.allowed);
  EXPECT_LE(at_once.record_bytes(), 256U);
}

TEST(Windows, ALogWithNothingLeftNeedsNoRecord) {
  Subject subject(window(Algorithm::kSlidingLog, 5, kSecond_us));
  EXPECT_FALSE(subject.allow(6, kStart_us).decision.allowed);
  EXPECT_FALSE(subject.has_record());
  subject.allow(3, kStart_us);
  EXPECT_TRUE(subject.has_record());
  subject.ask({.verb = Verb::kRefund, .cost = 3, .t = kStart_us});
  EXPECT_EQ(subject.cell(), Cell{});
  EXPECT_EQ(subject.allow(1, kStart_us).decision.remaining, 4);
}

// Of many blocks: against a queue of costs.
TEST(Windows, ALongLogAgreesWithAQueue) {
  struct Spent {
    Micros at_us;
    std::int64_t cost;
  };
  constexpr std::int64_t kCount = 20'000;
  const Limit limit = window(Algorithm::kSlidingLog, kCount, kSecond_us);
  Subject subject(limit);
  std::deque<Spent> spent;
  std::int64_t used = 0;
  Micros now_us = kStart_us;
  Prng prng(11);
  for (int i = 0; i < 100'000; ++i) {
    now_us += prng.next() % 20'000 == 0 ? kMinute_us : static_cast<Micros>(prng.next() % 120);
    for (; !spent.empty() && spent.front().at_us <= now_us - kSecond_us; spent.pop_front()) used -= spent.front().cost;
    if (prng.next() % 5'000 == 0) {
      const auto back = static_cast<std::int64_t>(prng.next() % kCount);
      for (std::int64_t left = std::min(back, used); left > 0;) {
        const std::int64_t part = std::min(left, spent.back().cost);
        spent.back().cost -= part;
        used -= part;
        left -= part;
        if (spent.back().cost == 0) spent.pop_back();
      }
      subject.ask({.verb = Verb::kRefund, .cost = back, .t = now_us});
    }
    const auto cost = static_cast<std::int64_t>(1 + prng.next() % 3);
    Micros retry_us = 0;
    std::int64_t missing = used + cost - kCount;
    for (auto each = spent.begin(); missing > 0; ++each) {
      missing -= each->cost;
      retry_us = each->at_us + kSecond_us - now_us;
    }
    if (retry_us == 0) {
      if (spent.empty() || spent.back().at_us < now_us) spent.push_back({now_us, 0});
      spent.back().cost += cost;
      used += cost;
    }
    const Answer answer = subject.allow(cost, now_us);
    ASSERT_EQ(answer.decision.retry_after.count(), retry_us) << i;
    ASSERT_EQ(answer.decision.remaining, kCount - used) << i;
  }
}

// What a store sets aside beforehand is enough, and what it grants is kept to.
TEST(Windows, ALogGrowsByNoMoreThanItSaysAndStaysWithinItsRoom) {
  const BoundLimit limit{window(Algorithm::kSlidingLog, 1'000'000, kMinute_us), {}, {}};
  constexpr std::size_t kRoom_bytes = 200'000;
  for (const std::size_t room_bytes : {kRoom_bytes, kRoom_bytes * 1000}) {
    Cell cell;
    std::unique_ptr<Record> record;
    Charge charge{.limit = &limit};
    const Slot slot{&cell, &record, room_bytes};
    Prng prng(3);
    Micros now_us = kStart_us;
    std::size_t most_bytes = 0;
    int refused = 0;
    for (int i = 0; i < 100'000; ++i) {
      now_us += static_cast<Micros>(prng.next() % 5'000);
      const Verb verb = prng.next() % 1'000 == 0 ? Verb::kRefund : Verb::kAllow;
      const std::size_t before_bytes = record == nullptr ? 0 : record->bytes();
      const Answer answer = decide({.verb = verb, .charges = {&charge, 1}, .cost = verb == Verb::kAllow ? 1 : 500},
                                   {&slot, 1}, {now_us, now_us});
      ASSERT_LE(record->bytes(), before_bytes + record_growth_bytes(before_bytes));
      most_bytes = std::max(most_bytes, record->bytes());
      if (answer.decision.source == Source::kExact) continue;
      ++refused;
      ASSERT_FALSE(answer.decision.allowed);
      ASSERT_EQ(record->bytes(), before_bytes);
    }
    EXPECT_LE(most_bytes, room_bytes);
    EXPECT_EQ(refused > 0, room_bytes == kRoom_bytes);
    EXPECT_LT(refused, 20'000) << "what ages out makes room";
  }
}

TEST(Windows, ALongLogThatAgesOutOrIsRefundedIsFreedInSteps) {
  constexpr std::int64_t kCount = 100'000;
  constexpr std::size_t kTwoBlocks_bytes = 2 * 1024 * 16;
  const Limit limit = window(Algorithm::kSlidingLog, kCount, kSecond_us);
  struct Case {
    const char* what;
    Verb verb;
    std::int64_t cost;
    Micros later_us;
  };
  for (const Case& c :
       {Case{"aged out", Verb::kAllow, 1, 2 * kSecond_us}, Case{"refunded", Verb::kRefund, kCount - 1, 0}}) {
    SCOPED_TRACE(c.what);
    Subject subject(limit);
    for (Micros i = 0; i < kCount; ++i) subject.allow(1, kStart_us + i);
    const std::size_t full_bytes = subject.record_bytes();
    Micros now_us = kStart_us + kCount + c.later_us;
    EXPECT_EQ(subject.ask({.verb = c.verb, .cost = c.cost, .t = now_us}).decision.remaining, kCount - 1);
    for (std::size_t before = full_bytes; before > kTwoBlocks_bytes;) {
      ASSERT_LT(subject.record_bytes(), before);
      EXPECT_GE(subject.record_bytes() + kTwoBlocks_bytes, before) << "a step with no bound";
      before = subject.record_bytes();
      subject.allow(1, ++now_us);
    }
    EXPECT_LE(subject.record_bytes(), full_bytes / 10);
  }
}

}  // namespace
}  // namespace ratel::model
