// How what was admitted alone is charged when the store is back.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "gate/safe_store_testing.h"

namespace ratel {
namespace {

TEST_F(SafeStoreTest, ChargesWhatItAdmittedAloneBeforeItAsksAgain) {
  open();
  for (int i = 0; i < 7; ++i) ask(FailureMode::kLocal);
  remote_.fault = StoreFault::kNone;
  remote_.late = true;
  tick_when_due();
  remote_.answer_next(StoreFault::kNone);  // the probe
  EXPECT_EQ(safe_.state(), SafeStore::State::kWarming);
  EXPECT_EQ(ask(FailureMode::kDeny).decision.source, Source::kFailedClosed);
  ASSERT_EQ(remote_.waiting.size(), 1U);
  EXPECT_EQ(remote_.waiting.front().question->verb, Verb::kAtMost);
  remote_.answer_next(StoreFault::kNone);
  EXPECT_EQ(safe_.state(), SafeStore::State::kUp);
  EXPECT_EQ(remote_.spent["k"], 7);
  EXPECT_EQ(safe_.stats().charged, 7U);
}

TEST_F(SafeStoreTest, ChargesWhatWasReservedAheadAsFarAhead) {
  const BoundLimit ahead{*make_limit({.count = 10, .period_us = kHour_us}, kHour_us), "ahead", "ahead"};
  open();
  std::array<Charge, 1> charges{Charge{.limit = &ahead, .key = "a"}};
  const Question reserve{.verb = Verb::kReserve, .charges = charges, .cost = 5, .max_wait_us = kHour_us};
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ratel::ask(safe_, reserve, clock_.now()).decision.allowed);
  EXPECT_FALSE(ratel::ask(safe_, reserve, clock_.now()).decision.allowed);
  remote_.late = true;
  tick_when_due();
  remote_.answer_next(StoreFault::kNone);  // the probe
  ASSERT_EQ(remote_.waiting.size(), 1U);
  EXPECT_EQ(remote_.waiting.front().question->verb, Verb::kAtMost);
  EXPECT_EQ(remote_.waiting.front().question->cost, 20);
  EXPECT_EQ(remote_.waiting.front().question->max_wait_us, kHour_us);
  remote_.answer_next(StoreFault::kNone);
  EXPECT_EQ(safe_.stats().charged, 20U);
}

TEST_F(SafeStoreTest, AChargeThatMayHaveBeenDoneIsNotRepeated) {
  struct Case {
    StoreFault fault;
    std::int64_t spent;
    std::uint64_t lost;
  };
  for (const Case& c : {Case{StoreFault::kTimeout, 0, 7}, Case{StoreFault::kLost, 0, 7},
                        Case{StoreFault::kUnreachable, 7, 0}, Case{StoreFault::kRefused, 7, 0}}) {
    SafeStore safe(remote_, local_, clock_, prng_);
    remote_.spent.clear();
    remote_.late = false;
    remote_.fault = StoreFault::kUnreachable;
    std::array<Charge, 1> charges{Charge{.limit = &limit_, .key = "k", .on_failure = FailureMode::kLocal}};
    Question question{.charges = charges};
    for (int i = 0; i < 7; ++i) {
      Answer answer;
      safe.prepare(question);
      safe.ask(question, clock_.now(), {keep_answer, &answer, 0});
    }
    remote_.late = true;
    clock_.advance_us(Breaker::kFirstProbe_us);
    safe.tick(clock_.now());
    remote_.answer_next(StoreFault::kNone);  // the probe
    remote_.answer_next(c.fault);
    EXPECT_TRUE(remote_.waiting.empty()) << "not at once";
    while (safe.state() != SafeStore::State::kUp) {
      clock_.advance_us(StorePart::kRechargeAgain_us);
      safe.tick(clock_.now());
      while (!remote_.waiting.empty()) remote_.answer_next(StoreFault::kNone);
    }
    EXPECT_EQ(safe.state(), SafeStore::State::kUp);
    EXPECT_EQ(remote_.spent["k"], c.spent) << static_cast<int>(c.fault);
    EXPECT_EQ(safe.stats().lost, c.lost);
  }
}

TEST_F(SafeStoreTest, CountsAsChargedWhatWasGranted) {
  open();
  for (int i = 0; i < 7; ++i) ask(FailureMode::kLocal);
  remote_.fault = StoreFault::kNone;
  remote_.room = 3;
  tick_when_due();
  EXPECT_EQ(safe_.state(), SafeStore::State::kUp);
  EXPECT_EQ(remote_.spent["k"], 3);
  EXPECT_EQ(safe_.stats().charged, 3U);
  EXPECT_EQ(safe_.stats().lost, 4U);
}

TEST_F(SafeStoreTest, ChargesMoreThanOneQuestionCanInSeveral) {
  const BoundLimit vast =
      bound({.algorithm = Algorithm::kFixedWindow, .count = kCountMax, .period_us = kDay_us}, "vast");
  open();
  std::array<Charge, 1> charges{Charge{.limit = &vast, .key = "vast"}};
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(ask(charges, kCostMax - 5).decision.allowed);
  remote_.fault = StoreFault::kNone;
  tick_when_due();
  EXPECT_EQ(safe_.state(), SafeStore::State::kUp);
  EXPECT_EQ(remote_.spent["vast"], 2 * (kCostMax - 5));
  EXPECT_EQ(safe_.stats().charged, static_cast<std::uint64_t>(2 * (kCostMax - 5)));
  EXPECT_EQ(safe_.stats().lost, 0U);
}

TEST_F(SafeStoreTest, ManyChargesGoAFewAtATime) {
  open();
  constexpr int kKeys = 100;
  for (int i = 0; i < kKeys; ++i) {
    ask_key("key" + std::to_string(i));
  }
  remote_.late = true;
  tick_when_due();
  remote_.answer_next(StoreFault::kNone);
  std::size_t most = 0;
  while (!remote_.waiting.empty()) {
    most = std::max(most, remote_.waiting.size());
    remote_.answer_next(StoreFault::kNone);
  }
  EXPECT_EQ(most, StorePart::kRecharges);
  EXPECT_EQ(safe_.stats().charged, static_cast<std::uint64_t>(kKeys));
  EXPECT_EQ(safe_.state(), SafeStore::State::kUp);
}

TEST_F(SafeStoreTest, GoesOnLookingForWhatIsOwedTurnByTurn) {
  const BoundLimit fast = gcra(100, kSecond_us, "fast");
  open();
  ask(FailureMode::kLocal);
  constexpr std::size_t kKeys = 3 * LocalShare::kLooksMax;
  for (std::size_t i = 0; i < kKeys; ++i) {
    const std::string key = "key" + std::to_string(i);
    std::array<Charge, 1> charges{Charge{.limit = &fast, .key = key}};
    ask(charges);
  }
  clock_.advance_us(kSecond_us);  // all of `fast` has come back
  remote_.fault = StoreFault::kNone;
  tick_when_due();
  std::size_t owing = kKeys + 1;
  for (; safe_.state() == SafeStore::State::kWarming; safe_.tick(clock_.now())) {
    // As many again in the turn that finds the one of which something is left.
    EXPECT_LE(owing - local_.stats().owing, 2 * LocalShare::kLooksMax);
    owing = local_.stats().owing;
    EXPECT_EQ(safe_.due_us(), clock_.now().monotonic_us);
  }
  EXPECT_LT(owing, kKeys);
  EXPECT_EQ(safe_.state(), SafeStore::State::kUp);
  EXPECT_EQ(remote_.spent["k"], 1);
  EXPECT_EQ(safe_.due_us(), SafeStore::kNone_us);
}

TEST_F(SafeStoreTest, ASingleFailureIsChargedAfterwards) {
  remote_.fault = StoreFault::kUnreachable;
  ask(FailureMode::kLocal);
  remote_.fault = StoreFault::kNone;
  EXPECT_EQ(safe_.state(), SafeStore::State::kUp);
  EXPECT_EQ(safe_.due_us(), clock_.now().monotonic_us + StorePart::kOwed_us);
  tick_when_due();
  EXPECT_EQ(remote_.spent["k"], 1);
  EXPECT_EQ(safe_.due_us(), SafeStore::kNone_us);
}

TEST_F(SafeStoreTest, ChargesForWhichThereIsNoRoomWaitForIt) {
  remote_.fault = StoreFault::kCrowded;
  EXPECT_EQ(ask(FailureMode::kLocal).decision.source, Source::kLocal);
  remote_.asked = 0;
  for (int i = 0; i < 20; ++i) tick_when_due();
  EXPECT_LE(remote_.asked, 20) << "tried at once, for ever";
  EXPECT_EQ(safe_.state(), SafeStore::State::kUp);
  remote_.fault = StoreFault::kNone;
  while (safe_.due_us() != SafeStore::kNone_us) tick_when_due();
  EXPECT_EQ(remote_.spent["k"], 1);
}

TEST_F(SafeStoreTest, WhatWaitsToBeChargedCanStillBeRefunded) {
  open();
  for (int i = 0; i < 7; ++i) ask(FailureMode::kLocal);
  remote_.late = true;
  tick_when_due();
  remote_.answer_next(StoreFault::kNone);  // the probe
  remote_.answer_next(StoreFault::kUnreachable);
  ASSERT_EQ(safe_.state(), SafeStore::State::kWarming);
  EXPECT_EQ(safe_.unsettled(), 0U);
  ask(FailureMode::kLocal, 3, Verb::kRefund);
  remote_.late = false;
  remote_.fault = StoreFault::kNone;
  tick_when_due();
  EXPECT_EQ(remote_.spent["k"], 4);
}

TEST_F(SafeStoreTest, WarmingEndsThoughChargesAreSlow) {
  open();
  ask(FailureMode::kLocal);
  remote_.late = true;
  tick_when_due();
  remote_.answer_next(StoreFault::kNone);
  ASSERT_EQ(safe_.state(), SafeStore::State::kWarming);
  tick_when_due();
  EXPECT_EQ(safe_.state(), SafeStore::State::kUp);
  remote_.answer_next(StoreFault::kNone);
  EXPECT_EQ(remote_.spent["k"], 1);
}

TEST_F(SafeStoreTest, AStoreThatFallsSilentWhileWarmingIsLeft) {
  open();
  for (int i = 0; i < 50; ++i) {
    ask_key("key" + std::to_string(i));
  }
  remote_.late = true;
  tick_when_due();
  remote_.answer_next(StoreFault::kNone);
  while (!remote_.waiting.empty() && safe_.state() != SafeStore::State::kDown) {
    remote_.answer_next(StoreFault::kTimeout);
  }
  EXPECT_EQ(safe_.state(), SafeStore::State::kDown);
  while (!remote_.waiting.empty()) remote_.answer_next(StoreFault::kTimeout);
  // Of what was under way nothing is known; all else is charged when it is back for good.
  const std::uint64_t lost = safe_.stats().lost;
  EXPECT_LE(lost, StorePart::kRecharges + Breaker::kFailuresInARow);
  remote_.late = false;
  remote_.fault = StoreFault::kNone;
  tick_when_due();
  EXPECT_EQ(safe_.state(), SafeStore::State::kUp);
  EXPECT_EQ(safe_.stats().charged, 50U - lost);
}

// Of a part of a cluster, say, of which some slots have lost their node.
TEST_F(SafeStoreTest, WhatTheStoreDoesNotTakeKeepsNothingElseWaiting) {
  open();
  constexpr std::uint64_t kKeys = 60;
  for (std::uint64_t i = 0; i < kKeys; ++i) ask_key(i % 2 == 0 ? "bad" : "key" + std::to_string(i));
  remote_.fault = StoreFault::kNone;
  remote_.down_key = "bad";
  tick_when_due();
  for (int i = 0; i < 20; ++i) tick_when_due();
  EXPECT_EQ(safe_.stats().charged, kKeys / 2);
  EXPECT_EQ(safe_.state(), SafeStore::State::kUp);
  EXPECT_EQ(ask_key("well", FailureMode::kDeny).decision.source, Source::kExact);
  remote_.asked = 0;
  const Micros began_us = clock_.now().monotonic_us;
  for (int i = 0; i < 100; ++i) tick_when_due();
  EXPECT_LE(remote_.asked, 100) << "tried without a pause";
  EXPECT_GE(clock_.now().monotonic_us - began_us, 90 * StorePart::kRechargeAgain_us);
  EXPECT_EQ(safe_.stats().opened, 1U);
  remote_.down_key.clear();
  tick_when_due();
  EXPECT_EQ(remote_.spent["bad"], static_cast<std::int64_t>(kKeys / 2));
  EXPECT_FALSE(safe_.owes());
}

TEST_F(SafeStoreTest, ChargesWaitAsLongAsTheStoreTakes) {
  remote_.late = true;
  std::array<Charge, 1> charges{Charge{.limit = &limit_, .key = "k", .on_failure = FailureMode::kLocal}};
  const Question patient{.charges = charges, .deadline_us = 5 * kSecond_us};
  Answer answer;
  safe_.ask(patient, clock_.now(), {keep_answer, &answer, 0});
  clock_.advance_us(600 * kMillisecond_us);
  remote_.answer_next(StoreFault::kNone);
  safe_.ask(patient, clock_.now(), {keep_answer, &answer, 0});
  remote_.answer_next(StoreFault::kUnreachable);
  tick_when_due();
  ASSERT_EQ(remote_.waiting.size(), 1U);
  EXPECT_EQ(remote_.waiting.front().question->deadline_us, 1'200 * kMillisecond_us);
  remote_.answer_next(StoreFault::kNone);
  EXPECT_EQ(safe_.stats().charged, 1U);
}

}  // namespace
}  // namespace ratel
