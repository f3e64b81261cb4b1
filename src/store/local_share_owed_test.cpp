// What was handed out to be charged, and comes back because it could not be.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "limit/fraction.h"
#include "store/local_share_testing.h"

namespace ratel {
namespace {

TEST_F(LocalShareTest, WhatIsGivenBackIsOwedLessWhatHasComeBack) {
  struct Case {
    Algorithm algorithm;
    std::int64_t after_20_s, after_40_s;
  };
  std::uint64_t key = 0;
  for (const Case& c : {Case{Algorithm::kGcra, 8, 6}, Case{Algorithm::kFixedWindow, 10, 10},
                        Case{Algorithm::kSlidingLog, 10, 10}, Case{Algorithm::kSlidingWindow, 10, 10}}) {
    SCOPED_TRACE(name_of(c.algorithm));
    now_us_ = (now_us_ / kHour_us + 1) * kHour_us;
    const BoundLimit limit = bound({.algorithm = c.algorithm, .count = 10, .period_us = 100 * kSecond_us}, "test");
    EXPECT_EQ(admitted(limit, ++key, 10), 10);
    LocalShare::Owed owed = take_owed().at(0);
    EXPECT_EQ(owed.cost, 10);
    now_us_ += 20 * kSecond_us;
    share_.give_back(owed, at(now_us_));
    EXPECT_EQ(share_.owed(at(now_us_)), static_cast<std::uint64_t>(c.after_20_s));
    // As often as it may be, it ends when it would have.
    const Micros until_us = owed.until_us;
    for (int i = 0; i < 20; ++i) {
      owed = take_owed().at(0);
      EXPECT_EQ(owed.until_us, until_us);
      now_us_ += kSecond_us;
      share_.give_back(owed, at(now_us_));
    }
    EXPECT_EQ(take_owed().at(0).cost, c.after_40_s);
    now_us_ = until_us;
    share_.give_back(owed, at(now_us_));
    EXPECT_TRUE(take_owed().empty());
  }
}

TEST_F(LocalShareTest, WhatIsGivenBackJoinsWhatWasAdmittedMeanwhileAndCanBeRefunded) {
  const Algorithm algorithms[] = {Algorithm::kGcra, Algorithm::kFixedWindow, Algorithm::kSlidingWindow,
                                  Algorithm::kSlidingLog};
  std::uint64_t key = 0;
  for (const Algorithm algorithm : algorithms) {
    SCOPED_TRACE(name_of(algorithm));
    const BoundLimit limit = bound({.algorithm = algorithm, .count = 100, .period_us = kDay_us}, "test");
    EXPECT_EQ(admitted(limit, ++key, 10), 10);
    const LocalShare::Owed owed = take_owed().at(0);
    EXPECT_EQ(admitted(limit, key, 5), 5);
    share_.give_back(owed, at(now_us_));
    ask(limit, key, 3, Verb::kRefund);
    EXPECT_EQ(take_owed().at(0).cost, 12);
    EXPECT_TRUE(take_owed().empty());
  }
}

TEST_F(LocalShareTest, WhatIsGivenBackIsOwedUnderAnyNumberOfProcesses) {
  const BoundLimit limit = gcra(10, 100 * kSecond_us);
  EXPECT_EQ(admitted(limit, 1, 10), 10);
  LocalShare::Owed owed = take_owed().at(0);
  share_.set_processes(10);
  share_.give_back(owed, at(now_us_));
  owed = take_owed().at(0);
  EXPECT_EQ(owed.cost, 10);
  share_.set_processes(1);
  share_.give_back(owed, at(now_us_));
  EXPECT_EQ(take_owed().at(0).cost, 10);
}

TEST_F(LocalShareTest, OfASlidingWindowWhatIsGivenBackGoesOnComingBack) {
  const BoundLimit limit =
      bound({.algorithm = Algorithm::kSlidingWindow, .count = 10, .period_us = 100 * kSecond_us}, "test");
  now_us_ = (now_us_ / kHour_us + 1) * kHour_us;
  EXPECT_EQ(admitted(limit, 1, 7), 7);
  const Micros until_us = now_us_ + 200 * kSecond_us;
  now_us_ += 100 * kSecond_us;
  while (true) {
    const auto owed = take_owed();
    if (owed.empty()) break;
    ASSERT_EQ(owed[0].until_us, until_us);
    // No less than is left of the seven; a little more for all the rounding.
    const std::int64_t left = mul_div_up(7, until_us - now_us_, 100 * kSecond_us);
    EXPECT_GE(owed[0].cost, left);
    EXPECT_LE(owed[0].cost, left + 2);
    now_us_ += kSecond_us;
    share_.give_back(owed[0], at(now_us_));
  }
  EXPECT_EQ(now_us_, until_us);
}

TEST_F(LocalShareTest, WhatAResetForgaveIsNotGivenBack) {
  const BoundLimit limit = gcra(100, kDay_us);
  EXPECT_EQ(admitted(limit, 1, 10), 10);
  const LocalShare::Owed owed = take_owed().at(0);
  now_us_ += kSecond_us;
  ask(limit, 1, 1, Verb::kReset);
  now_us_ += kSecond_us;
  share_.give_back(owed, at(now_us_));
  EXPECT_TRUE(take_owed().empty());
}

TEST_F(LocalShareTest, NothingIsTooMuchToBeOwedByMoreProcesses) {
  const BoundLimit ahead{*make_limit({.count = 10, .period_us = kDay_us}, kMaxWaitMax_us), "ahead", "ahead"};
  Charge charge{.limit = &ahead, .key = "key1", .hash = hash_of(1)};
  const Question question{.verb = Verb::kReserve, .charges = {&charge, 1}, .max_wait_us = kMaxWaitMax_us};
  while (share_.ask(question, at(now_us_)).decision.allowed) continue;
  const LocalShare::Owed owed = take_owed().at(0);
  EXPECT_EQ(owed.cost, 3'670);
  share_.set_processes(1'000);
  share_.give_back(owed, at(now_us_));
  EXPECT_EQ(take_owed().at(0).cost, 3'670);
}

TEST_F(LocalShareTest, WhatWasGivenBackKeepsNothingElseWaiting) {
  const BoundLimit limit = gcra(10, kDay_us);
  for (std::uint64_t key = 1; key <= 20; ++key) ask(limit, key);
  std::vector<std::string> charged;
  for (int i = 0; i < 40 && charged.size() < 15; ++i) {
    for (const LocalShare::Owed& owed : take_owed(2)) {
      if (owed.hash[0] > 16) {
        share_.give_back(owed, at(now_us_));  // of these the store takes none
      } else {
        charged.push_back(owed.key);
      }
    }
  }
  EXPECT_EQ(charged.size(), 15U);
  EXPECT_EQ(share_.stats().owing, 5U);
}

}  // namespace
}  // namespace ratel
