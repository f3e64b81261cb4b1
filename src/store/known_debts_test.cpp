#include "store/known_debts.h"

#include <gtest/gtest.h>

namespace ratel {
namespace {

constexpr KnownDebts::Hash kKey{1, 2};

TEST(KnownDebtsTest, KnowsWhatItWasToldUntilThatIsOver) {
  KnownDebts debts(8);
  EXPECT_EQ(debts.find(kKey, 0).used, 0);
  debts.told(kKey, 7, 100, 10, 10);
  EXPECT_EQ(debts.find(kKey, 99).used, 7);
  EXPECT_EQ(debts.find(kKey, 99).told_us, 10);
  EXPECT_EQ(debts.find(kKey, 99).until_us, 100);
  EXPECT_EQ(debts.find(kKey, 100).used, 0);
  EXPECT_EQ(debts.find({1, 3}, 50).used, 0);
}

TEST(KnownDebtsTest, TheLastWordCounts) {
  KnownDebts debts(8);
  debts.told(kKey, 7, 100, 10, 10);
  debts.told(kKey, 3, 50, 11, 11);  // a refund
  EXPECT_EQ(debts.find(kKey, 20).used, 3);
  debts.told(kKey, 0, 0, 12, 12);  // a reset
  EXPECT_EQ(debts.find(kKey, 20).used, 0);
}

TEST(KnownDebtsTest, FullItForgetsWhatIsNearestToBeingOver) {
  KnownDebts debts(8);
  for (std::uint64_t i = 0; i < 8; ++i) debts.told({8, i + 1}, 1, static_cast<Micros>(100 + i), 0, 0);
  debts.told({8, 100}, 1, 500, 1, 1);
  EXPECT_EQ(debts.find({8, 1}, 1).used, 0);
  EXPECT_EQ(debts.find({8, 2}, 1).used, 1);
  EXPECT_EQ(debts.find({8, 100}, 1).used, 1);
  debts.told({8, 101}, 1, 50, 1, 1);  // nearer than any there
  EXPECT_EQ(debts.find({8, 101}, 1).used, 0);
  debts.told({8, 102}, 1, 150, 110, 110);  // what is over makes room
  EXPECT_EQ(debts.find({8, 102}, 110).used, 1);
}

TEST(KnownDebtsTest, AnAnswerThatWasOvertakenChangesNothing) {
  KnownDebts debts(8);
  const Micros until_us = kMinute_us;
  debts.told(kKey, 7, until_us, 1'007, 10);
  debts.told(kKey, 6, until_us, 1'006, 11);
  EXPECT_EQ(debts.find(kKey, 20).used, 7);
  EXPECT_EQ(debts.find(kKey, 20).told_us, 10);
  debts.told(kKey, 5, until_us, 1'007, 12);  // in the same microsecond
  EXPECT_EQ(debts.find(kKey, 20).used, 5);
  debts.told(kKey, 0, 0, 1'010, 13);  // a reset
  debts.told(kKey, 6, until_us, 1'009, 14);
  EXPECT_EQ(debts.find(kKey, 20).used, 0);
  // Another server has taken over, whose clock is behind.
  debts.told(kKey, 4, until_us, 500, 13 + KnownDebts::kDisorder_us);
  EXPECT_EQ(debts.find(kKey, kSecond_us + 20).used, 4);
}

}  // namespace
}  // namespace ratel
