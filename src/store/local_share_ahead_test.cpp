// What is booked ahead, by a process that decides alone.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "limit/fraction.h"
#include "store/local_share_testing.h"

namespace ratel {
namespace {

class LocalShareAheadTest : public LocalShareTest {
 protected:
  Answer reserve(std::uint64_t key, std::int64_t cost, const BoundLimit& limit) {
    const std::string text = "key" + std::to_string(key);
    Charge charge{.limit = &limit, .key = text, .hash = hash_of(key)};
    return share_.ask({.verb = Verb::kReserve,
                       .charges = {&charge, 1},
                       .cost = cost,
                       .max_wait_us = limit.limit.max_wait_us},
                      at(now_us_));
  }
  std::int64_t reserved(std::uint64_t key, const BoundLimit& limit) {
    std::int64_t count = 0;
    while (reserve(key, 1, limit).decision.allowed) ++count;
    return count;
  }

  /// 10 an hour, and 10 of the hour after.
  const BoundLimit ahead_{*make_limit({.count = 10, .period_us = kHour_us}, kHour_us), "ahead", "ahead"};
};

TEST_F(LocalShareAheadTest, WhatTheStoreToldOfReservationsIsNotGivenTwice) {
  struct Case {
    int processes;
    std::int64_t known, left;
  };
  std::uint64_t key = 0;
  for (const Case& c : {Case{1, 20, 0}, Case{1, 13, 7}, Case{2, 20, 0}, Case{2, 16, 2}, Case{4, 20, 0}}) {
    SCOPED_TRACE(std::to_string(c.processes) + " " + std::to_string(c.known));
    share_.set_processes(c.processes);
    debts_.told(hash_of(++key), c.known, now_us_ + c.known * kHour_us / 10, now_us_, now_us_);
    EXPECT_EQ(reserved(key, ahead_), c.left);
    EXPECT_EQ(take_owed().size(), c.left > 0 ? 1U : 0U);
  }
}

TEST_F(LocalShareAheadTest, OwesWhatItReservedAhead) {
  for (const int processes : {1, 2}) {
    share_.set_processes(processes);
    const auto key = static_cast<std::uint64_t>(processes);
    EXPECT_EQ(reserved(key, ahead_), 20 / processes);
    EXPECT_EQ(share_.owed(at(now_us_)), 20U / key);
    const auto owed = take_owed();
    ASSERT_EQ(owed.size(), 1U);
    EXPECT_EQ(owed[0].cost, 20 / processes);
  }
}

TEST_F(LocalShareAheadTest, OwesNoLessForANewNumberOfProcesses) {
  EXPECT_EQ(reserved(1, ahead_), 20);
  for (const int processes : {5, 1, 3}) {
    share_.set_processes(processes);
    EXPECT_EQ(reserved(1, ahead_), 0) << processes;
  }
  EXPECT_EQ(take_owed()[0].cost, 20);
}

TEST_F(LocalShareAheadTest, ARuleMayAllowMoreAheadThanBefore) {
  EXPECT_EQ(reserved(1, ahead_), 20);
  const BoundLimit further{*make_limit({.count = 10, .period_us = kHour_us}, 2 * kHour_us), "ahead", "ahead"};
  EXPECT_EQ(reserved(1, further), 10);
  EXPECT_EQ(take_owed()[0].cost, 30);
}

TEST_F(LocalShareAheadTest, NothingIsTooFarAheadToBeOwed) {
  // As much time is worth more units than 64 bits hold.
  const BoundLimit vast{*make_limit({.count = kCountMax, .period_us = 1}, kMaxWaitMax_us), "vast", "vast"};
  debts_.told(hash_of(1), kUnitsMost, now_us_ + kDay_us, now_us_, now_us_);
  EXPECT_TRUE(reserve(1, kCostMax, vast).decision.allowed);
  EXPECT_EQ(take_owed()[0].cost, kCostMax);
}

RC_GTEST_FIXTURE_PROP(LocalShareAheadTest, ProcessesTogetherReserveAtMostWhatOneCould, ()) {
  const auto count = *rc::gen::inRange<std::int64_t>(1, 50);
  const int processes = *rc::gen::inRange(1, 10);
  const auto periods = *rc::gen::inRange<std::int64_t>(0, 4);
  const BoundLimit limit{*make_limit({.count = count, .period_us = kDay_us}, periods * kDay_us), "test", "test"};
  const std::int64_t most = count * (1 + periods);
  const auto known = *rc::gen::inRange<std::int64_t>(0, most + 1);
  std::int64_t total = known;
  for (int i = 0; i < processes; ++i) {
    KnownDebts debts(8);
    debts.told(hash_of(1), known, kStart_us + mul_div_up(known, kDay_us, count), kStart_us, kStart_us);
    LocalShare share({.start = at(kStart_us)}, debts);
    share.set_processes(processes);
    Charge charge{.limit = &limit, .key = "k", .hash = hash_of(1)};
    Question question{.verb = Verb::kReserve, .charges = {&charge, 1}, .max_wait_us = periods * kDay_us};
    while (share.ask(question, at(kStart_us)).decision.allowed) ++total;
  }
  // At once no less than one a process, and what comes back meanwhile.
  RC_ASSERT(total <= std::max<std::int64_t>(std::max<std::int64_t>(count, processes) + periods * count, known));
}

}  // namespace
}  // namespace ratel
