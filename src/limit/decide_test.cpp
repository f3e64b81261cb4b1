// What holds for every algorithm; the numbers are those of docs/invariants.md.

#include "limit/decide.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "limit/model_test.h"

namespace ratel::model {
namespace {

Micros retry_us(const Answer& answer) {
  return answer.decision.retry_after.count();
}
Micros reset_us(const Answer& answer) {
  return answer.decision.reset_after.count();
}

// 18
RC_GTEST_PROP(Decide, AgreesWithTheModel, (bool clock_runs_back)) {
  const Limit limit = any_limit();
  const std::unique_ptr<Model> model = model_of(limit);
  Subject subject(limit);
  for (const Step& step : any_history(limit, clock_runs_back)) {
    const Answer wanted = model->ask(step.verb, step.cost, step.t);
    const Answer answer = subject.ask(step);
    RC_LOG() << "t " << step.t << " verb " << static_cast<int>(step.verb) << " cost " << step.cost << "\n";
    RC_ASSERT(answer.decision.allowed == wanted.decision.allowed);
    RC_ASSERT(retry_us(answer) == retry_us(wanted));
    RC_ASSERT(answer.decision.remaining == wanted.decision.remaining);
    RC_ASSERT(reset_us(answer) == reset_us(wanted));
    RC_ASSERT(same(answer, wanted));
  }
}

// 3
RC_GTEST_PROP(Decide, DeniedLeavesTheStateAsItWas, ()) {
  auto [subject, now_us] = any_scene();
  Subject untouched = subject;
  const Cell before = subject.cell();
  const std::size_t bytes_before = subject.record_bytes();
  const std::int64_t cost = any_cost(subject.limit());
  RC_PRE(!subject.allow(cost, now_us).decision.allowed);
  RC_ASSERT(subject.cell() == before);
  RC_ASSERT(subject.record_bytes() == bytes_before);
  for (const Step& step : any_history(subject.limit())) {
    const Step later{.verb = step.verb, .cost = step.cost, .t = now_us + step.t};
    if (later.t > kStarts_us[3]) break;
    RC_ASSERT(same(subject.ask(later), untouched.ask(later)));
  }
}

// 4
RC_GTEST_PROP(Decide, PeekChangesNothingAndForetells, ()) {
  auto [subject, now_us] = any_scene();
  const Cell before = subject.cell();
  const std::int64_t cost = any_cost(subject.limit());
  const Answer peeked = subject.peek(cost, now_us);
  RC_ASSERT(subject.cell() == before);
  const Answer allowed = subject.allow(cost, now_us);
  RC_ASSERT(peeked.decision.allowed == allowed.decision.allowed);
  RC_ASSERT(retry_us(peeked) == retry_us(allowed));
  RC_ASSERT(peeked.decision.granted == allowed.decision.granted);
  const std::int64_t spent = allowed.decision.granted;
  RC_ASSERT(peeked.decision.remaining - spent == allowed.decision.remaining);
}

// 4
RC_GTEST_PROP(Decide, CostZeroIsAllowedAndChangesNothing, ()) {
  auto [subject, now_us] = any_scene();
  const Cell before = subject.cell();
  const Verb verb = any_of({Verb::kAllow, Verb::kAtMost, Verb::kPeek, Verb::kRefund});
  RC_ASSERT(subject.ask({.verb = verb, .cost = 0, .t = now_us}).decision.allowed);
  RC_ASSERT(subject.cell() == before);
}

// 5
RC_GTEST_PROP(Decide, RetryIsTight, ()) {
  auto [subject, now_us] = any_scene();
  const std::int64_t cost = any_cost(subject.limit());
  const Answer answer = subject.allow(cost, now_us);
  RC_ASSERT(answer.decision.allowed == (retry_us(answer) == 0));
  RC_PRE(retry_us(answer) > 0);
  RC_ASSERT(!subject.peek(cost, now_us + retry_us(answer) - 1).decision.allowed);
  RC_ASSERT(subject.peek(cost, now_us + retry_us(answer)).decision.allowed);
}

// 6
RC_GTEST_PROP(Decide, CostAboveCapacityIsNever, ()) {
  auto [subject, now_us] = any_scene();
  const Cell before = subject.cell();
  const std::int64_t cost = subject.limit().capacity + any_of<std::int64_t>({1, 2, kCostMax});
  const Answer answer = subject.allow(cost, now_us);
  RC_ASSERT(!answer.decision.allowed);
  RC_ASSERT(retry_us(answer) == kNever_us);
  RC_ASSERT(answer.decision.granted == 0);
  RC_ASSERT(subject.cell() == before);
}

// 7
RC_GTEST_PROP(Decide, LessIsAdmittedWhereMoreIs, ()) {
  auto [subject, now_us] = any_scene();
  const std::int64_t a = any_cost(subject.limit());
  const std::int64_t b = any_cost(subject.limit());
  const bool more = subject.peek(std::max(a, b), now_us).decision.allowed;
  const bool less = subject.peek(std::min(a, b), now_us).decision.allowed;
  RC_ASSERT(less || !more);
}

// 8
RC_GTEST_PROP(Decide, WhatIsAdmittedStaysAdmitted, ()) {
  auto [subject, now_us] = any_scene();
  const std::int64_t cost = any_cost(subject.limit());
  RC_PRE(subject.peek(cost, now_us).decision.allowed);
  RC_ASSERT(subject.peek(cost, now_us + any_gap_us(subject.limit())).decision.allowed);
}

// 13, as far as memory goes: no state lasts longer than its algorithm needs it.
RC_GTEST_PROP(Decide, AChargedCellEndsInBoundedTime, ()) {
  auto [subject, now_us] = any_scene();
  const Limit& limit = subject.limit();
  const Answer answer = subject.ask({.verb = Verb::kAtMost, .cost = any_cost(limit), .t = now_us});
  RC_PRE(answer.decision.granted > 0);
  Micros longest_us = 2 * limit.period_us;
  if (limit.algorithm == Algorithm::kGcra) longest_us = limit.capacity_time.q_us;
  if (limit.calendar != CalendarUnit::kNone) longest_us = limit.period_us + 2 * kDay_us;  // 31 days, or a long one
  RC_ASSERT(subject.cell().until_us >= now_us);
  RC_ASSERT(subject.cell().until_us <= now_us + longest_us);
  RC_ASSERT(subject.cell().until_us >= now_us + reset_us(answer) - 1);
}

// 14: what a store may forget is what nobody can tell from forgotten.
RC_GTEST_PROP(Decide, AnExpiredCellIsAnAbsentOne, ()) {
  auto [subject, now_us] = any_scene();
  now_us = std::max(now_us, subject.cell().until_us + any_of<Micros>({1, 2, kDay_us}));
  Subject fresh(subject.limit());
  for (int i = 0; i < 5; ++i, now_us += any_gap_us(subject.limit())) {
    const Step step{.cost = any_cost(subject.limit()), .t = now_us};
    RC_ASSERT(same(subject.ask(step), fresh.ask(step)));
  }
}

// 17, for one thread: the store makes the calls one after another.
RC_GTEST_PROP(Decide, AFrozenInstantAdmitsExactlyTheCapacity, ()) {
  const Limit limit = any_limit();
  RC_PRE(limit.capacity <= 1'000);
  Subject subject(limit);
  std::int64_t admitted = 0;
  for (std::int64_t i = 0; i < limit.capacity + 5; ++i) {
    admitted += subject.allow(1, kStarts_us[2]).decision.allowed ? 1 : 0;
  }
  RC_ASSERT(admitted == limit.capacity);
}

// 20
RC_GTEST_PROP(Decide, SplittingACostChangesNothing, ()) {
  auto [subject, now_us] = any_scene();
  Subject split = subject;
  const std::int64_t a = any_cost(subject.limit());
  const std::int64_t b = any_cost(subject.limit());
  const Answer whole = subject.allow(a + b, now_us);
  if (whole.decision.allowed) {
    RC_ASSERT(split.allow(a, now_us).decision.allowed);
    RC_ASSERT(split.allow(b, now_us).decision.allowed);
    RC_ASSERT(split.cell() == subject.cell());
  } else {
    RC_ASSERT(!(split.allow(a, now_us).decision.allowed && split.allow(b, now_us).decision.allowed));
  }
}

// 22: by whole periods, since some windows are aligned; not for calendars, whose days differ.
RC_GTEST_PROP(Decide, ShiftingTimeChangesNothing, ()) {
  const Limit limit = any_limit();
  RC_PRE(limit.calendar == CalendarUnit::kNone);
  const std::vector<Step> history = any_history(limit);
  RC_PRE(!history.empty());
  const Micros shift_us = (kStarts_us[2] / limit.period_us) * limit.period_us;
  Subject here(limit);
  Subject there(limit);
  for (const Step& step : history) {
    RC_ASSERT(same(here.ask(step), there.ask({.verb = step.verb, .cost = step.cost, .t = step.t + shift_us})));
  }
}

// 23
RC_GTEST_PROP(Decide, RemainingCanBeSpentAndNoMore, ()) {
  auto [subject, now_us] = any_scene();
  const std::int64_t remaining = subject.peek(1, now_us).decision.remaining;
  RC_ASSERT(remaining >= 0 && remaining <= subject.limit().capacity);
  Subject at_once = subject;
  RC_ASSERT(!at_once.allow(remaining + 1, now_us).decision.allowed);
  RC_ASSERT(at_once.allow(remaining, now_us).decision.allowed);
  RC_ASSERT(at_once.peek(1, now_us).decision.remaining == 0);
  if (remaining > 1'000) return;
  for (std::int64_t i = 0; i < remaining; ++i) RC_ASSERT(subject.allow(1, now_us).decision.allowed);
  RC_ASSERT(!subject.allow(1, now_us).decision.allowed);
}

// 24
RC_GTEST_PROP(Decide, ResetIsWhenAllIsNewAgain, ()) {
  auto [subject, now_us] = any_scene();
  const Micros reset = reset_us(subject.peek(1, now_us));
  const Answer then = subject.peek(1, now_us + reset);
  RC_ASSERT(then.decision.remaining == subject.limit().capacity);
  RC_ASSERT(reset_us(then) == 0);
  if (reset > 0) RC_ASSERT(reset_us(subject.peek(1, now_us + reset - 1)) == 1);
}

/// Several counters asked as one.
struct Group {
  std::vector<Subject> members;

  Answer ask(const Step& step, const std::vector<std::size_t>& order) {
    std::vector<Charge> charges;
    std::vector<Slot> slots;
    for (const std::size_t i : order) {
      charges.push_back({.limit = &members[i].bound()});
      slots.push_back(members[i].slot());
    }
    return decide({.verb = step.verb, .charges = charges, .cost = step.cost}, slots,
                  {.now_us = step.t, .calendar_us = step.t});
  }
};

struct GroupScene {
  Group group;
  Micros now_us = kStarts_us[2];
  std::vector<std::size_t> order;
};

GroupScene any_group() {
  GroupScene scene;
  const std::size_t size = *rc::gen::inRange<std::size_t>(1, 5);
  scene.group.members.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    scene.group.members.emplace_back(any_limit());
    scene.order.push_back(i);
  }
  for (Subject& member : scene.group.members) {
    for (int i = *rc::gen::inRange(0, 3); i > 0; --i) member.allow(any_cost(member.limit()), scene.now_us);
  }
  scene.now_us += any_gap_us(scene.group.members.front().limit());
  return scene;
}

// 27, 28 and the choice of the limit that binds.
RC_GTEST_PROP(Decide, SeveralLimitsAreChargedAllOrNone, ()) {
  auto [group, now_us, order] = any_group();
  const Step step{
      .verb = any_of({Verb::kAllow, Verb::kPeek}), .cost = any_cost(group.members.front().limit()), .t = now_us};
  std::vector<Cell> before;
  std::vector<Answer> alone;
  std::vector<Subject> charged = group.members;
  for (std::size_t i = 0; i < order.size(); ++i) {
    before.push_back(group.members[i].cell());
    alone.push_back(charged[i].ask(step));
  }
  const Answer answer = group.ask(step, order);

  std::uint16_t violated = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!alone[i].decision.allowed) violated = static_cast<std::uint16_t>(violated | 1U << i);
  }
  RC_ASSERT(answer.violated == violated);
  RC_ASSERT(answer.decision.allowed == (violated == 0));
  RC_ASSERT(answer.decision.granted == (violated == 0 ? step.cost : 0));
  for (std::size_t i = 0; i < order.size(); ++i) {
    RC_ASSERT(group.members[i].cell() == (violated == 0 ? charged[i].cell() : before[i]));
  }

  const auto wait = [&](std::size_t i) {
    return retry_us(alone[i]) == kNever_us ? std::numeric_limits<Micros>::max() : retry_us(alone[i]);
  };
  std::size_t binding = order.size();
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (violated != 0 && alone[i].decision.allowed) continue;
    if (binding == order.size() ||
        (violated != 0 ? wait(i) > wait(binding) : alone[i].decision.remaining < alone[binding].decision.remaining)) {
      binding = i;
    }
  }
  RC_ASSERT(answer.binding == binding);
  RC_ASSERT(answer.decision.limit == group.members[binding].limit().capacity);
  RC_ASSERT(answer.decision.remaining == alone[binding].decision.remaining);
  RC_ASSERT(retry_us(answer) == retry_us(alone[binding]));
  RC_ASSERT(reset_us(answer) == reset_us(alone[binding]));
}

// 28
RC_GTEST_PROP(Decide, RetryOfSeveralLimitsIsTight, ()) {
  auto [group, now_us, order] = any_group();
  Subject& drained = *any_of({&group.members.front(), &group.members.back()});
  drained.allow(drained.peek(0, now_us).decision.remaining, now_us);
  const Answer answer = group.ask({.cost = 1, .t = now_us}, order);
  const Micros retry = retry_us(answer);
  RC_ASSERT(retry > 0);
  RC_ASSERT(!group.ask({.verb = Verb::kPeek, .t = now_us + retry - 1}, order).decision.allowed);
  RC_ASSERT(group.ask({.verb = Verb::kPeek, .t = now_us + retry}, order).decision.allowed);
}

// 27
RC_GTEST_PROP(Decide, TheOrderOfLimitsDoesNotMatter, ()) {
  auto [group, now_us, order] = any_group();
  std::vector<Subject> copies = group.members;
  Group other{.members = copies};
  std::vector<std::size_t> reversed(order.rbegin(), order.rend());
  const Step step{
      .verb = any_of({Verb::kAllow, Verb::kAtMost}), .cost = any_cost(group.members.front().limit()), .t = now_us};
  const Answer a = group.ask(step, order);
  const Answer b = other.ask(step, reversed);
  RC_ASSERT(a.decision.allowed == b.decision.allowed);
  RC_ASSERT(a.decision.granted == b.decision.granted);
  RC_ASSERT(retry_us(a) == retry_us(b));
  for (std::size_t i = 0; i < order.size(); ++i) RC_ASSERT(group.members[i].cell() == other.members[i].cell());
}

RC_GTEST_PROP(Decide, AtMostGrantsWhatAllCanGive, ()) {
  auto [group, now_us, order] = any_group();
  const std::int64_t cost = any_cost(group.members.front().limit());
  std::int64_t least = cost;
  std::uint16_t violated = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t remaining = group.members[i].peek(0, now_us).decision.remaining;
    least = std::min(least, remaining);
    if (remaining == 0) violated = static_cast<std::uint16_t>(violated | 1U << i);
  }
  const Answer answer = group.ask({.verb = Verb::kAtMost, .cost = cost, .t = now_us}, order);
  RC_ASSERT(answer.decision.granted == least);
  RC_ASSERT(answer.decision.allowed == (least > 0 || cost == 0));
  RC_ASSERT(answer.violated == (answer.decision.allowed ? 0 : violated));
  RC_ASSERT(answer.decision.allowed == (retry_us(answer) == 0));
}

// 29
RC_GTEST_PROP(Decide, RefundUndoesAChargeAndNeverLiftsAboveFull, ()) {
  auto [subject, now_us] = any_scene();
  const Answer before = subject.peek(0, now_us);
  const std::int64_t cost = any_cost(subject.limit());
  if (subject.allow(cost, now_us).decision.allowed) {
    const Answer back = subject.ask({.verb = Verb::kRefund, .cost = cost, .t = now_us});
    RC_ASSERT(back.decision.allowed && back.decision.granted == 0);
    RC_ASSERT(back.decision.remaining == before.decision.remaining);
    RC_ASSERT(reset_us(back) == reset_us(before));
  }
  for (const std::int64_t more : {subject.limit().capacity, kCostMax, std::int64_t{1}}) {
    const Answer full = subject.ask({.verb = Verb::kRefund, .cost = more, .t = now_us});
    RC_ASSERT(full.decision.remaining <= subject.limit().capacity);
  }
}

RC_GTEST_PROP(Decide, ResetForgetsEverything, ()) {
  auto [subject, now_us] = any_scene();
  const Answer answer = subject.ask({.verb = Verb::kReset, .t = now_us});
  RC_ASSERT(answer.decision.allowed);
  RC_ASSERT(answer.decision.remaining == subject.limit().capacity);
  RC_ASSERT(reset_us(answer) == 0);
  RC_ASSERT(subject.cell() == Cell{});
  RC_ASSERT(subject.peek(1, now_us).decision.remaining == subject.limit().capacity);
}

// 32
TEST(Decide, ALimitOfZeroDeniesAll) {
  for (const Algorithm algorithm : {Algorithm::kGcra, Algorithm::kFixedWindow, Algorithm::kSlidingWindow,
                                    Algorithm::kSlidingLog, Algorithm::kConcurrency}) {
    SCOPED_TRACE(name_of(algorithm));
    LimitSpec spec{.algorithm = algorithm, .count = 0, .period_us = kMinute_us};
    if (algorithm == Algorithm::kConcurrency) spec.period_us = 0;
    Subject subject(*make_limit(spec));
    const Verb verb = algorithm == Algorithm::kConcurrency ? Verb::kAcquire : Verb::kAllow;
    for (const std::int64_t cost : {std::int64_t{1}, kCostMax}) {
      const Answer answer = subject.ask({.verb = verb, .cost = cost, .t = kStarts_us[2]});
      EXPECT_FALSE(answer.decision.allowed);
      EXPECT_EQ(retry_us(answer), kNever_us);
      EXPECT_EQ(answer.decision.limit, 0);
      EXPECT_EQ(answer.decision.remaining, 0);
      EXPECT_EQ(reset_us(answer), 0);
    }
    EXPECT_TRUE(subject.ask({.verb = verb, .cost = 0, .t = kStarts_us[2]}).decision.allowed);
    EXPECT_FALSE(subject.ask({.verb = Verb::kAtMost, .cost = 3, .t = kStarts_us[2]}).decision.allowed);
    EXPECT_TRUE(subject.ask({.verb = Verb::kRefund, .cost = 3, .t = kStarts_us[2]}).decision.allowed);
    EXPECT_EQ(subject.cell(), Cell{});
  }
}

// 33
RC_GTEST_PROP(Decide, AThousandYearsOfIdlenessFillTheBucket, ()) {
  auto [subject, now_us] = any_scene();
  const Micros idle_us = any_of<Micros>({Micros{1'000} * 366 * kDay_us, Micros{200'000} * 366 * kDay_us});
  RC_PRE(subject.limit().calendar == CalendarUnit::kNone);
  const Answer answer = subject.allow(0, now_us + idle_us);
  RC_ASSERT(answer.decision.remaining == subject.limit().capacity);
  RC_ASSERT(reset_us(answer) == 0);
}

TEST(Decide, TakesAsManyLimitsAsAQuestionMayName) {
  const Limit limit = *make_limit(*parse_limit("3/min"));
  Group group;
  std::vector<std::size_t> order(kChargesMax);
  std::iota(order.begin(), order.end(), 0);
  group.members.reserve(kChargesMax);
  for (std::size_t i = 0; i < kChargesMax; ++i) group.members.emplace_back(limit);
  group.members.back().allow(2, kStarts_us[2]);
  EXPECT_EQ(group.ask({.t = kStarts_us[2]}, order).binding, kChargesMax - 1);
  const Answer denied = group.ask({.t = kStarts_us[2]}, order);
  EXPECT_EQ(denied.violated, 1U << (kChargesMax - 1));
  EXPECT_EQ(group.ask({.cost = 9, .t = kStarts_us[2]}, order).violated, 0xffff);
}

TEST(Decide, TheFirstOfEqualsBinds) {
  const Limit limit = *make_limit(*parse_limit("3/min"));
  Group group;
  group.members.reserve(3);
  group.members.emplace_back(*make_limit(*parse_limit("9/min")));
  group.members.emplace_back(limit);
  group.members.emplace_back(limit);
  const std::vector<std::size_t> order{0, 1, 2};
  EXPECT_EQ(group.ask({.cost = 3, .t = kStarts_us[2]}, order).binding, 1) << "the least remaining";
  EXPECT_EQ(group.ask({.t = kStarts_us[2]}, order).binding, 1) << "the longest retry";
  EXPECT_EQ(group.ask({.cost = 4, .t = kStarts_us[2]}, order).binding, 1) << "never";
}

TEST(DecideDeathTest, RefusesSlotsThatAreNotTheCharges) {
  const BoundLimit limit{.limit = *make_limit(*parse_limit("3/min")), .identity = {}, .label = {}};
  Charge charge{.limit = &limit};
  EXPECT_DEATH(decide({.charges = {&charge, 1}}, {}, {}), "CHECK failed");
}

}  // namespace
}  // namespace ratel::model
