#include "limit/gcra.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "limit/model_test.h"

namespace ratel::model {
namespace {

constexpr Micros kStart_us = kStarts_us[2];

Limit gcra(const std::string& text, Micros max_wait_us = 0) {
  return *make_limit(*parse_limit(text), max_wait_us);
}

Answer reserve(Subject& subject, std::int64_t cost, Micros now_us, Micros max_wait_us) {
  Charge charge{.limit = &subject.bound()};
  return decide({.verb = Verb::kReserve, .charges = {&charge, 1}, .cost = cost, .max_wait_us = max_wait_us},
                {&subject.slot(), 1}, {.now_us = now_us, .calendar_us = now_us});
}

struct Admitted {
  Micros t;
  std::int64_t cost;
};

/// Asks for `steps` times at gaps around the interval, and says what was admitted.
std::vector<Admitted> any_traffic(Subject& subject, Micros t, int steps) {
  std::vector<Admitted> admitted;
  for (int i = 0; i < steps; ++i) {
    const std::int64_t cost = any_cost(subject.limit());
    if (subject.allow(cost, t).decision.allowed) admitted.push_back({.t = t, .cost = cost});
    t += any_gap_us(subject.limit()) % (2 * subject.limit().period_us);
  }
  return admitted;
}

// 1
RC_GTEST_PROP(Gcra, EveryIntervalHoldsAtMostTheBurstAndTheRate, ()) {
  Subject subject(any_limit(Algorithm::kGcra));
  const std::vector<Admitted> admitted = any_traffic(subject, kStart_us, 60);
  for (std::size_t first = 0; first < admitted.size(); ++first) {
    Big sum = 0;
    for (std::size_t last = first; last < admitted.size(); ++last) {
      sum += admitted[last].cost;
      const Big interval_us = admitted[last].t - admitted[first].t;
      const Limit& limit = subject.limit();
      RC_ASSERT(sum * limit.period_us <= Big{limit.capacity} * limit.period_us + interval_us * limit.count);
    }
  }
}

// 1, the other way: a client that comes exactly in time is never denied, at rates that do not divide.
TEST(Gcra, AdmitsExactlyTheRateForEver) {
  // Of a burst of 1, a client that can only come at whole microseconds has to waste a fraction; 2 hold it.
  for (const char* text :
       {"7/s burst 2", "3/s burst 2", "6000/s burst 2", "1000003/month burst 2", "2000000/s burst 4"}) {
    SCOPED_TRACE(text);
    const Limit limit = gcra(text);
    Subject subject(limit);
    std::int64_t admitted = 0;
    const Micros end_us = time_of(3'000, limit.period_us, limit.count).q_us;
    for (Micros t = 0; t <= end_us;) {
      const Answer answer = subject.allow(1, kStart_us + t);
      admitted += answer.decision.granted;
      t += answer.decision.allowed ? 0 : answer.decision.retry_after.count();
    }
    EXPECT_EQ(admitted, limit.capacity + mul_div(end_us, limit.count, limit.period_us));
  }
}

// 19
RC_GTEST_PROP(Gcra, IsTheTokenBucketAndTheLeakyMeter, ()) {
  const Limit limit = any_limit(Algorithm::kGcra);
  const Big period = limit.period_us;
  const Big full = period * limit.capacity;
  Subject subject(limit);
  Big level = full;  // tokens, in 1/P units
  Big meter = 0;     // water, in 1/P units
  Micros last = kStart_us;
  Micros t = kStart_us;
  for (int i = 0; i < 50; ++i, t += any_gap_us(limit)) {
    const Big flow = Big{t - last} * limit.count;
    last = t;
    level = std::min(full, level + flow);
    meter = std::max<Big>(0, meter - flow);
    const std::int64_t cost = any_cost(limit);
    const bool has_tokens = level >= cost * period;
    const bool has_room = meter + cost * period <= full;
    if (has_tokens) level -= cost * period;
    if (has_room) meter += cost * period;
    const Answer answer = subject.allow(cost, t);
    RC_ASSERT(answer.decision.allowed == has_tokens);
    RC_ASSERT(answer.decision.allowed == has_room);
    RC_ASSERT(Big{answer.decision.remaining} == level / period);
    RC_ASSERT(Big{answer.decision.reset_after.count()} == (full - level + limit.count - 1) / limit.count);
  }
}

// 21
RC_GTEST_PROP(Gcra, ScalingCountAndPeriodChangesNothing, ()) {
  const Limit limit = any_limit(Algorithm::kGcra);
  const std::int64_t factor = any_of<std::int64_t>({2, 3, 60, 1'000});
  RC_PRE(limit.count <= kCountMax / factor && limit.period_us <= kPeriodMax_us / factor);
  const LimitSpec spec{.count = limit.count * factor, .period_us = limit.period_us * factor, .burst = limit.capacity};
  Subject one(limit);
  Subject other(*make_limit(spec, limit.max_wait_us));
  for (const Step& step : any_history(limit)) RC_ASSERT(same(one.ask(step), other.ask(step)));
}

/// The same questions under a clock that runs back, and under one that stays at the latest time at which the counter
/// was charged: that time is all that the counter knows of its clock.
struct Race {
  explicit Race(const Limit& limit) : real(limit), monotone(limit) { ask(kStart_us); }

  /// Whether the clock that runs back has admitted no more so far.
  bool ask(Micros t) {
    const std::int64_t granted = real.allow(1, t).decision.granted;
    if (granted > 0) latest_us = std::max(latest_us, t);
    admitted_real += granted;
    admitted_monotone += monotone.allow(1, std::max(t, latest_us)).decision.granted;
    return admitted_real <= admitted_monotone;
  }

  Subject real;
  Subject monotone;
  Micros latest_us = 0;
  Big admitted_real = 0;
  Big admitted_monotone = 0;
};

// 10
RC_GTEST_PROP(Gcra, AClockThatRunsBackMintsNothing, ()) {
  const Limit limit = any_limit(Algorithm::kGcra);
  Race race(limit);
  Micros t = kStart_us;
  for (int i = 0; i < 60; ++i) {
    t += any_gap_us(limit) % (2 * limit.period_us);
    const Micros back_us = any_of<Micros>({0, 0, 1, 1'000, kSecond_us, kClockSlack_us});
    t = std::max(t - back_us, race.latest_us - kClockSlack_us);
    RC_ASSERT(race.ask(t));
  }
}

// 11
RC_GTEST_PROP(Gcra, AlternatingTimestampsAdmitNoMore, ()) {
  const Limit limit = any_limit(Algorithm::kGcra);
  const Micros behind_us = any_of<Micros>({1, 1'000, kSecond_us, kClockSlack_us});
  Race race(limit);
  Micros t = kStart_us;
  for (int i = 0; i < 100; ++i) {
    t += limit.period_us / limit.count / 3;
    RC_ASSERT(race.ask(i % 2 == 0 ? t : t - behind_us));
  }
}

// 12
RC_GTEST_PROP(Gcra, AGlitchForwardAndBackLocksOutNoLongerThanACapacity, ()) {
  const Limit limit = any_limit(Algorithm::kGcra);
  Subject subject(limit);
  subject.allow(limit.capacity, kStart_us);
  const Micros jump_us = any_of<Micros>({kSecond_us, kClockSlack_us, kHour_us, kDay_us, kPeriodMax_us});
  subject.allow(limit.capacity, kStart_us + jump_us);
  const Answer answer = subject.allow(1, kStart_us + 1);
  const Micros longest_us = round_up(limit.capacity_time) + std::min(jump_us, limit.max_wait_us + kClockSlack_us);
  RC_ASSERT(answer.decision.retry_after.count() <= longest_us);
  RC_ASSERT(answer.decision.reset_after.count() <= longest_us);
}

// 12
RC_GTEST_PROP(Gcra, ARegressionBeyondTheSlackGrantsOneCapacityMore, ()) {
  const Limit limit = any_limit(Algorithm::kGcra);
  Subject subject(limit);
  const Micros back_us = any_of<Micros>({kHour_us, kDay_us, 100 * kDay_us});
  Big admitted = 0;
  const auto drain = [&](Micros t) {
    admitted += subject.ask({.verb = Verb::kAtMost, .cost = limit.capacity, .t = t}).decision.granted;
  };
  drain(kStart_us);
  const Micros tenth_us = limit.period_us / 10;
  for (Micros i = 0; i < 3; ++i) drain(kStart_us - back_us + i * tenth_us);
  drain(kStart_us + 1);
  const Big earned = Big{2 * tenth_us} * limit.count / limit.period_us + 1;  // while the clock was behind
  RC_ASSERT(admitted <= 2 * Big{limit.capacity} + earned);
}

// The repair of a faulty time is stored by whatever call comes next, but for a peek.
TEST(Gcra, AFaultyTimeIsRepairedByTheNextCallOtherThanAPeek) {
  const Limit limit = gcra("10/s burst 12");
  const Micros capacity_us = limit.capacity_time.q_us;
  const Cell faulty{.until_us = kStart_us + capacity_us + kClockSlack_us + 1, .word = 0};
  const Cell repaired{.until_us = kStart_us + capacity_us, .word = std::uint64_t{10} << 32};
  struct Case {
    Verb verb;
    std::int64_t cost;
    Cell after;
  };
  for (const Case& c :
       {Case{Verb::kPeek, 1, faulty}, Case{Verb::kAllow, 1, repaired}, Case{Verb::kAllow, 0, repaired},
        Case{Verb::kAllow, 99, repaired}, Case{Verb::kAtMost, 1, repaired}, Case{Verb::kRefund, 0, repaired}}) {
    Subject subject(limit);
    subject.cell() = faulty;
    const Answer answer = subject.ask({.verb = c.verb, .cost = c.cost, .t = kStart_us});
    EXPECT_EQ(answer.decision.reset_after.count(), capacity_us);
    EXPECT_EQ(subject.cell(), c.after) << static_cast<int>(c.verb) << " " << c.cost;
  }
  Subject subject(limit);
  subject.cell() = {.until_us = faulty.until_us - 1, .word = 0};  // as far ahead as is believed
  EXPECT_EQ(subject.allow(1, kStart_us).decision.reset_after.count(), capacity_us + kClockSlack_us);
}

// 31: the debt keeps its time when the numbers change.
RC_GTEST_PROP(Gcra, ChangedNumbersGiveNothingAndTakeNothing, ()) {
  const Limit before = any_limit(Algorithm::kGcra);
  const Limit after = any_limit(Algorithm::kGcra);
  Subject subject(before);
  Subject changed(after);
  for (int i = 0; i < 5; ++i) subject.allow(any_cost(before), kStart_us);
  const Micros debt_us = subject.peek(0, kStart_us).decision.reset_after.count();
  changed.cell() = subject.cell();
  const Decision decision = changed.peek(1, kStart_us).decision;
  RC_ASSERT(decision.remaining >= 0 && decision.remaining <= after.capacity);
  const Micros capacity_us = round_up(after.capacity_time);
  if (debt_us <= capacity_us + after.max_wait_us + kClockSlack_us) {
    RC_ASSERT(decision.reset_after.count() == debt_us);
  } else {
    RC_ASSERT(decision.reset_after.count() == capacity_us);
  }
}

// 31: not the fraction of a microsecond either, which is worth thousands of units to a large limit.
TEST(Gcra, AChangedCountGivesBackNoFraction) {
  for (const char* before : {"3/s", "7/s", "999983/s burst 1000000"}) {
    for (const char* after : {"4294967295/s", "4000000000/s", "1000003/s", "3/s", "2/s"}) {
      SCOPED_TRACE(std::string(before) + ", then " + after);
      const Limit of_before = gcra(before);
      const Limit of_after = gcra(after);
      Subject subject(of_before);
      subject.allow(1, kStart_us);
      Subject changed(of_after);
      changed.cell() = subject.cell();
      // As the debt of one is to the other, exactly.
      const Big units = (Big{of_before.period_us} * of_after.count + Big{of_before.count} * of_after.period_us - 1) /
                        (Big{of_before.count} * of_after.period_us);
      const std::int64_t remaining = changed.peek(1, kStart_us).decision.remaining;
      EXPECT_LE(remaining, of_after.capacity - static_cast<std::int64_t>(units));
      EXPECT_GE(remaining, of_after.capacity - static_cast<std::int64_t>(units) - of_after.count / kSecond_us - 1);
    }
  }
}

// 31
RC_GTEST_PROP(Gcra, RaisingTheBurstTurnsNoAdmissionIntoADenial, ()) {
  auto [subject, now_us] = any_scene(any_limit(Algorithm::kGcra));
  const Limit& limit = subject.limit();
  const LimitSpec spec{.count = limit.count, .period_us = limit.period_us, .burst = limit.capacity + 1};
  const Result<Limit> raised = make_limit(spec, limit.max_wait_us);
  RC_PRE(raised.ok());
  Subject higher(*raised);
  higher.cell() = subject.cell();
  const std::int64_t cost = any_cost(limit);
  RC_ASSERT(!subject.peek(cost, now_us).decision.allowed || higher.peek(cost, now_us).decision.allowed);
}

// 49
RC_GTEST_PROP(Gcra, ReservationsDepartInOrderAndInTheRate, ()) {
  const Micros max_wait_us = any_of<Micros>({kSecond_us, kHour_us});
  const Limit limit = gcra(any_of<std::string>({"7 per 3s burst 3", "3000/s burst 1", "5/min", "1/h"}), max_wait_us);
  Subject subject(limit);
  Micros t = kStart_us;
  Micros last_departure = 0;
  Big departed = 0;
  Micros first_departure = 0;
  for (int i = 0; i < 60; ++i) {
    const std::int64_t cost = *rc::gen::inRange<std::int64_t>(1, limit.capacity + 1);
    const Answer answer = reserve(subject, cost, t, max_wait_us);
    if (answer.decision.allowed) {
      const Micros departure = t + answer.decision.delay.count();
      RC_ASSERT(answer.decision.delay.count() <= max_wait_us);
      RC_ASSERT(departure >= last_departure);  // nobody overtakes, so small ones starve no large one
      if (departed == 0) first_departure = departure;
      departed += cost;
      // The burst, and from the first departure on the rate; a wait is rounded up, so a departure is never early.
      RC_ASSERT(departed * limit.period_us <=
                Big{limit.capacity} * limit.period_us + Big{departure - first_departure} * limit.count);
      last_departure = departure;
    } else {
      RC_ASSERT(answer.decision.retry_after.count() > 0);
      Subject copy = subject;
      copy.cell() = subject.cell();
      const Micros retry_us = answer.decision.retry_after.count();
      RC_ASSERT(!reserve(copy, cost, t + retry_us - 1, max_wait_us).decision.allowed);
      RC_ASSERT(reserve(copy, cost, t + retry_us, max_wait_us).decision.allowed);
    }
    t += any_gap_us(limit) % limit.period_us;
  }
}

RC_GTEST_PROP(Gcra, AtMostWithPatienceGrantsAsMuchAsReservationsOfOneUnitWould, ()) {
  const Micros max_wait_us = any_of<Micros>({0, 1, kSecond_us, kMinute_us});
  const Limit limit = gcra(any_of<std::string>({"7 per 3s burst 3", "50/s burst 1", "5/min", "1/h"}), max_wait_us);
  auto [subject, now_us] = any_scene(limit);
  Subject copy(limit);
  copy.cell() = subject.cell();
  std::int64_t singly = 0;
  while (reserve(copy, 1, now_us, max_wait_us).decision.allowed) ++singly;
  Charge charge{.limit = &subject.bound()};
  const auto at_most = [&] {
    return decide({.verb = Verb::kAtMost, .charges = {&charge, 1}, .cost = kCostMax, .max_wait_us = max_wait_us},
                  {&subject.slot(), 1}, {.now_us = now_us, .calendar_us = now_us})
        .decision;
  };
  RC_ASSERT(at_most().granted == singly);
  RC_ASSERT(singly == 0 || subject.cell() == copy.cell());
  const Decision denied = at_most();
  RC_ASSERT(!denied.allowed && denied.retry_after.count() > 0);
}

// Above the capacity, too: what is booked ahead is spent.
RC_GTEST_PROP(Gcra, UsedIsWhatWouldHaveToComeBack, ()) {
  const Limit limit = gcra(any_of<std::string>({"7 per 3s burst 3", "5/min", "1/h", "1000003/month"}), kPeriodMax_us);
  auto [subject, now_us] = any_scene(limit);
  const auto ahead = *rc::gen::inRange<std::int64_t>(0, 20);
  for (std::int64_t i = 0; i < ahead; ++i) reserve(subject, 1, now_us, kPeriodMax_us);
  Charge charge{.limit = &subject.bound()};
  const std::int64_t used = use_of(charge, subject.slot(), {.now_us = now_us, .calendar_us = now_us}).used;
  const Decision peeked = subject.peek(0, now_us).decision;
  RC_ASSERT(std::max<std::int64_t>(0, limit.capacity - used) == peeked.remaining);
  // Each takes an interval to come back, the first perhaps a part of one.
  const Big reset = Big{peeked.reset_after.count()} * limit.count, period = limit.period_us;
  RC_ASSERT(reset <= used * period + limit.count && reset > (used - 1) * period);
}

TEST(Gcra, UsedAndRoomAreBoundedWhereTimeIsWorthMoreThanANumberHolds) {
  const Limit limit = *make_limit({.count = kCountMax, .period_us = 1}, kMaxWaitMax_us);
  Cell cell;
  const Micros ahead_us = kMaxWaitMax_us;
  EXPECT_EQ(Gcra(limit, cell, kStart_us).used(), 0);
  EXPECT_EQ(Gcra(limit, cell, kStart_us).remaining_within(0), kCountMax);
  EXPECT_EQ(Gcra(limit, cell, kStart_us).remaining_within(1), 2 * kCountMax);
  EXPECT_EQ(Gcra(limit, cell, kStart_us).remaining_within(ahead_us), kUnitsMost);
  cell = {.until_us = kStart_us + ahead_us, .word = static_cast<std::uint64_t>(kCountMax) << 32};
  EXPECT_EQ(Gcra(limit, cell, kStart_us).used(), kUnitsMost);
  EXPECT_EQ(Gcra(limit, cell, kStart_us).remaining_within(ahead_us - 2), 0);
}

// 49
RC_GTEST_PROP(Gcra, AReservationDepartsWhenTheSameCostWouldBeAdmitted, ()) {
  const Limit limit = gcra("7 per 3s burst 3", kHour_us);
  auto [subject, now_us] = any_scene(limit);
  const std::int64_t cost = *rc::gen::inRange<std::int64_t>(0, limit.capacity + 2);
  const Decision peeked = subject.peek(cost, now_us).decision;
  const Decision booked = reserve(subject, cost, now_us, kHour_us).decision;
  if (cost > limit.capacity) {
    RC_ASSERT(booked.retry_after == kNever);
  } else {
    RC_ASSERT(booked.allowed);
    RC_ASSERT(booked.delay == peeked.retry_after);
    RC_ASSERT(booked.granted == cost);
  }
}

TEST(Gcra, RefundsOfCostsThatFitNoTimeEmptyTheDebt) {
  Subject subject(gcra("1 per 366 days burst 9"));
  subject.allow(9, kStart_us);
  const Answer answer = subject.ask({.verb = Verb::kRefund, .cost = kCostMax, .t = kStart_us});
  EXPECT_EQ(answer.decision.remaining, 9);
  EXPECT_EQ(answer.decision.reset_after.count(), 0);
}

}  // namespace
}  // namespace ratel::model
