// What becomes of what was admitted alone when the process ends.

#include <gtest/gtest.h>

#include "gate/safe_store_testing.h"

namespace ratel {
namespace {

TEST_F(SafeStoreTest, InAHurryWhatIsOwedIsDueAtOnce) {
  remote_.fault = StoreFault::kTimeout;
  ask(FailureMode::kLocal, 7);
  remote_.fault = StoreFault::kNone;
  EXPECT_GT(safe_.due_us(), clock_.now().monotonic_us) << "there may be more";
  EXPECT_TRUE(safe_.owes());
  safe_.hurry();
  EXPECT_LE(safe_.due_us(), clock_.now().monotonic_us);
  safe_.tick(clock_.now());
  EXPECT_FALSE(safe_.owes());
  EXPECT_EQ(remote_.spent["k"], 7);
  EXPECT_EQ(safe_.due_us(), SafeStore::kNone_us);
}

TEST_F(SafeStoreTest, InAHurryAPartThatIsAskedOnlyThenHurriesToo) {
  safe_.hurry();
  remote_.fault = StoreFault::kTimeout;
  ask(FailureMode::kLocal, 7);
  remote_.fault = StoreFault::kNone;
  safe_.tick(clock_.now());
  EXPECT_EQ(remote_.spent["k"], 7);
}

TEST_F(SafeStoreTest, InAHurryAStoreThatIsAwayIsStillProbed) {
  open();
  ask(FailureMode::kLocal, 7);
  safe_.hurry();
  EXPECT_TRUE(safe_.owes());
  remote_.fault = StoreFault::kNone;
  tick_when_due();
  EXPECT_FALSE(safe_.owes());
  EXPECT_EQ(remote_.spent["k"], 7);
}

TEST_F(SafeStoreTest, SaysWhatIsNotKnownToBeCharged) {
  remote_.fault = StoreFault::kTimeout;
  ask(FailureMode::kLocal, 7);
  std::array<Charge, 1> charges{Charge{.limit = &limit_, .key = "l"}};
  ask(charges, 5);
  EXPECT_EQ(local_.owed(clock_.now()), 12U);
  EXPECT_EQ(safe_.unsettled(), 0U);
  remote_.late = true;
  safe_.hurry();
  safe_.tick(clock_.now());
  EXPECT_EQ(local_.owed(clock_.now()), 0U);
  EXPECT_EQ(safe_.unsettled(), 12U) << "under way";
  EXPECT_TRUE(safe_.owes());
  remote_.answer_next(StoreFault::kNone);
  EXPECT_TRUE(safe_.unsettled() == 7 || safe_.unsettled() == 5) << safe_.unsettled();
  EXPECT_TRUE(safe_.owes());
  remote_.answer_next(StoreFault::kUnreachable);  // and is asked again
  EXPECT_EQ(safe_.unsettled(), 0U);
  EXPECT_TRUE(local_.owed(clock_.now()) == 7 || local_.owed(clock_.now()) == 5) << local_.owed(clock_.now());
  EXPECT_TRUE(safe_.owes());
  tick_when_due();
  remote_.answer_next(StoreFault::kNone);
  EXPECT_EQ(safe_.unsettled(), 0U);
  EXPECT_FALSE(safe_.owes());
}

TEST_F(SafeStoreTest, WhatWaitsForTheStoreUntilItHasComeBackIsNotCharged) {
  const BoundLimit quick = gcra(10, 10 * kSecond_us, "quick");
  std::array<Charge, 1> charges{Charge{.limit = &quick, .key = "q"}};
  remote_.fault = StoreFault::kTimeout;
  ask(charges, 5);
  ask(FailureMode::kLocal, 7);
  remote_.fault = StoreFault::kUnreachable;
  tick_when_due();  // takes it, and finds the store gone
  EXPECT_TRUE(safe_.owes());
  EXPECT_EQ(safe_.unsettled() + local_.owed(clock_.now()), 4U + 7U);
  clock_.advance_us(kMinute_us);
  remote_.fault = StoreFault::kNone;
  tick_when_due();
  EXPECT_EQ(remote_.spent["q"], 0);
  EXPECT_EQ(remote_.spent["k"], 7);
  EXPECT_FALSE(safe_.owes());
}

}  // namespace
}  // namespace ratel
