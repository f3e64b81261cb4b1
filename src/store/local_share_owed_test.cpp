// What was handed out to be charged, and comes back because it could not be.

#include <gtest/gtest.h>

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
                        Case{Algorithm::kSlidingLog, 10, 10}}) {
    SCOPED_TRACE(name_of(c.algorithm));
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

}  // namespace
}  // namespace ratel
