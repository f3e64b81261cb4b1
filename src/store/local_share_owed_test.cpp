// What was handed out to be charged, until it is known what became of that.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "store/local_share_testing.h"

namespace ratel {
namespace {

TEST_F(LocalShareTest, WhatIsChargedIsOwedNoMoreAndWhatIsNotAgain) {
  struct Case {
    std::int64_t done;
    std::uint64_t owed;
  };
  const Algorithm algorithms[] = {Algorithm::kGcra, Algorithm::kFixedWindow, Algorithm::kSlidingWindow,
                                  Algorithm::kSlidingLog};
  std::uint64_t key = 0;
  for (const Algorithm algorithm : algorithms) {
    for (const Case& c : {Case{10, 5}, Case{0, 15}, Case{4, 11}}) {
      SCOPED_TRACE(std::string(name_of(algorithm)) + " " + std::to_string(c.done));
      const BoundLimit limit = bound({.algorithm = algorithm, .count = 100, .period_us = kDay_us}, "test");
      EXPECT_EQ(admitted(limit, ++key, 10), 10);
      const auto owed = hand_out();
      ASSERT_EQ(owed.size(), 1U);
      EXPECT_EQ(owed[0].cost, 10);
      EXPECT_EQ(admitted(limit, key, 5), 5);
      EXPECT_TRUE(hand_out().empty()) << "one charge of a counter at a time";
      EXPECT_EQ(share_.owed(at(now_us_)), 5U);
      share_.settle(owed[0], c.done, at(now_us_));
      EXPECT_EQ(share_.owed(at(now_us_)), c.owed);
      const auto rest = hand_out();
      ASSERT_EQ(rest.size(), 1U);
      EXPECT_EQ(rest[0].cost, static_cast<std::int64_t>(c.owed));
      share_.settle(rest[0], rest[0].cost, at(now_us_));
      EXPECT_EQ(share_.owed(at(now_us_)), 0U);
    }
  }
}

// As of a limit of which one question cannot charge all.
TEST_F(LocalShareTest, WhatIsChargedInPartIsNotOwedTwiceWhateverHappensMeanwhile) {
  const BoundLimit limit =
      bound({.algorithm = Algorithm::kSlidingWindow, .count = 100, .period_us = kHour_us}, "test");
  now_us_ = (now_us_ / kHour_us + 1) * kHour_us;
  EXPECT_EQ(admitted(limit, 1, 60), 60);
  now_us_ += kHour_us;  // into the window before
  for (const std::int64_t left : {60, 40, 20}) {
    const auto owed = hand_out();
    ASSERT_EQ(owed.size(), 1U);
    EXPECT_EQ(owed[0].cost, left);
    share_.settle(owed[0], 20, at(now_us_));
  }
  EXPECT_TRUE(hand_out().empty());

  EXPECT_EQ(admitted(limit, 2, 60), 60);
  const auto owed = hand_out();
  ask(limit, 2, 1, Verb::kReset);
  EXPECT_EQ(admitted(limit, 2, 5), 5);
  share_.settle(owed.at(0), 20, at(now_us_));
  EXPECT_EQ(share_.owed(at(now_us_)), 5U);
}

TEST_F(LocalShareTest, WhatIsHandedOutIsForgottenByNobody) {
  const BoundLimit limit = gcra(10, kDay_us), quick = gcra(10, kSecond_us, "quick");
  ask(quick, 1000);
  const auto owed = hand_out();
  ASSERT_EQ(owed.size(), 1U);
  now_us_ += kHour_us;
  share_.tidy(at(now_us_));
  for (std::uint64_t key = 0; key < 100; ++key) ask(limit, key);
  share_.settle(owed[0], 0, at(now_us_));
  EXPECT_EQ(share_.stats().counters, 32U);
}

TEST_F(LocalShareTest, AResetForgivesWhatIsHandedOutWhereThatIsNotCharged) {
  const BoundLimit limit = gcra(100, kDay_us);
  EXPECT_EQ(admitted(limit, 1, 10), 10);
  const auto owed = hand_out();
  now_us_ += kSecond_us;
  ask(limit, 1, 1, Verb::kReset);
  now_us_ += kMinute_us;
  share_.tidy(at(now_us_));
  share_.settle(owed.at(0), 0, at(now_us_));
  EXPECT_TRUE(hand_out().empty());
}

TEST_F(LocalShareTest, NothingIsTooMuchToBeOwedByMoreProcesses) {
  const auto reserve_all = [&](std::uint64_t key, const BoundLimit& limit) {
    const std::string text = "key" + std::to_string(key);
    Charge charge{.limit = &limit, .key = text, .hash = hash_of(key)};
    const Question question{.verb = Verb::kReserve, .charges = {&charge, 1}, .max_wait_us = limit.limit.max_wait_us};
    while (share_.ask(question, at(now_us_)).decision.allowed) continue;
    return share_.owed(at(now_us_));
  };
  const BoundLimit ahead{*make_limit({.count = 10, .period_us = kDay_us}, kMaxWaitMax_us), "ahead", "ahead"};
  EXPECT_EQ(reserve_all(1, ahead), 3'670U);
  share_.set_processes(1'000);
  ask(ahead, 1, 1, Verb::kPeek);
  EXPECT_EQ(hand_out().at(0).cost, 3'670);

  // Of which a share would be one in ten years.
  share_.set_processes(1);
  const BoundLimit narrow{
      *make_limit({.count = 30'000, .period_us = 30 * kDay_us, .burst = 1}, 30 * kDay_us), "narrow", "narrow"};
  EXPECT_EQ(reserve_all(2, narrow), 30'001U);
  share_.set_processes(1'000);
  ask(narrow, 2, 1, Verb::kPeek);
  EXPECT_EQ(hand_out().at(0).cost, 30'001);
}

TEST_F(LocalShareTest, WhatTheStoreDoesNotTakeKeepsNothingElseWaiting) {
  const BoundLimit limit = gcra(10, kDay_us);
  for (std::uint64_t key = 1; key <= 20; ++key) ask(limit, key);
  std::vector<std::string> charged;
  for (int i = 0; i < 40 && charged.size() < 15; ++i) {
    for (const LocalShare::Owed& owed : hand_out(2)) {
      const bool takes = owed.hash[0] <= 16;
      share_.settle(owed, takes ? owed.cost : 0, at(now_us_));
      if (takes) charged.push_back(owed.key);
    }
  }
  EXPECT_EQ(charged.size(), 15U);
  EXPECT_EQ(share_.stats().owing, 5U);
}

// However often it was handed out in vain, and whatever happened meanwhile.
RC_GTEST_FIXTURE_PROP(LocalShareTest, WhatIsNotChargedIsOwedAsIfItHadStayed, ()) {
  const auto algorithm =
      *rc::gen::element(Algorithm::kGcra, Algorithm::kFixedWindow, Algorithm::kSlidingWindow, Algorithm::kSlidingLog);
  const bool ahead = algorithm == Algorithm::kGcra && *rc::gen::arbitrary<bool>();
  const LimitSpec spec{.algorithm = algorithm, .count = 28, .period_us = 10 * kSecond_us};
  const BoundLimit limit{*make_limit(spec, ahead ? kMinute_us : 0), "test", "test"};
  LocalShare twin({.counters_max = 32, .start = at(kStart_us)}, debts_);
  std::vector<LocalShare::Owed> away;
  Micros now_us = kStart_us;
  for (int i = 0; i < 100; ++i) {
    now_us += *rc::gen::element<Micros>(0, 1, 50'000, kSecond_us, 7 * kSecond_us, 11 * kSecond_us);
    const int what = *rc::gen::inRange(0, 12);
    Charge charge{.limit = &limit, .key = "k", .hash = hash_of(1)};
    Question question{.charges = {&charge, 1}, .cost = *rc::gen::inRange<std::int64_t>(1, 20)};
    if (ahead) question.max_wait_us = kMinute_us;
    question.verb = what < 4 ? (ahead ? Verb::kReserve : Verb::kAllow) : what < 6 ? Verb::kRefund : Verb::kReset;
    if (what < 7) {
      RC_ASSERT(share_.ask(question, at(now_us)).decision.granted == twin.ask(question, at(now_us)).decision.granted);
    } else if (what == 7) {
      const int processes = *rc::gen::inRange(1, 5);
      share_.set_processes(processes);
      twin.set_processes(processes);
    } else if (away.empty()) {
      share_.take_owed(at(now_us), 1, away);
    } else {
      share_.settle(away.front(), 0, at(now_us));
      away.clear();
    }
    share_.tidy(at(now_us));
    if (away.empty()) RC_ASSERT(share_.owed(at(now_us)) == twin.owed(at(now_us)));
  }
}

}  // namespace
}  // namespace ratel
