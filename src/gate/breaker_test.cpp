#include "gate/breaker.h"

#include <gtest/gtest.h>

#include "base/prng.h"

namespace ratel {
namespace {

class BreakerTest : public testing::Test {
 protected:
  void fail(int times, Micros now_us) {
    for (int i = 0; i < times; ++i) breaker_.failed(now_us);
  }
  void succeed(int times, Micros now_us) {
    for (int i = 0; i < times; ++i) breaker_.succeeded(now_us);
  }

  Prng prng_{1};
  Breaker breaker_{prng_};
};

TEST_F(BreakerTest, OpensOnFailuresInARow) {
  fail(Breaker::kFailuresInARow - 1, 0);
  EXPECT_FALSE(breaker_.open());
  succeed(1, 0);
  fail(Breaker::kFailuresInARow - 1, 0);
  EXPECT_FALSE(breaker_.open());
  fail(1, 0);
  EXPECT_TRUE(breaker_.open());
}

TEST_F(BreakerTest, OpensOnHalfOfEnough) {
  for (std::uint32_t i = 0; i < Breaker::kOutcomesMin / 2; ++i) {
    EXPECT_FALSE(breaker_.open()) << i;
    succeed(1, 1000);
    fail(1, 1000);
  }
  EXPECT_TRUE(breaker_.open());
}

TEST_F(BreakerTest, StaysClosedOnFewerThanHalf) {
  for (int i = 0; i < 1'000; ++i) {
    succeed(2, i * 1'000);
    fail(1, i * 1'000);
  }
  EXPECT_FALSE(breaker_.open());
}

TEST_F(BreakerTest, ForgetsWhatIsLongAgo) {
  for (int i = 0; i < 9; ++i) {
    fail(1, 0);
    succeed(1, 0);
  }
  // Two windows later these are neither of this one nor of the one before.
  const Micros later_us = 2 * Breaker::kWindow_us;
  fail(1, later_us);
  succeed(1, later_us);
  EXPECT_FALSE(breaker_.open());
}

TEST_F(BreakerTest, RemembersTheWindowBefore) {
  for (int i = 0; i < 9; ++i) {
    succeed(1, 0);
    fail(1, 0);
  }
  succeed(1, Breaker::kWindow_us);
  EXPECT_FALSE(breaker_.open());
  fail(1, Breaker::kWindow_us);
  EXPECT_TRUE(breaker_.open());
}

TEST_F(BreakerTest, ProbesOneAtATime) {
  breaker_.trip(0);
  EXPECT_EQ(breaker_.probe_due_us(), Breaker::kFirstProbe_us);
  EXPECT_FALSE(breaker_.begin_probe(Breaker::kFirstProbe_us - 1));
  EXPECT_TRUE(breaker_.begin_probe(Breaker::kFirstProbe_us));
  EXPECT_EQ(breaker_.probe_due_us(), Breaker::kNone_us);
  EXPECT_FALSE(breaker_.begin_probe(10 * kSecond_us));
  breaker_.probe_succeeded(kSecond_us);
  EXPECT_FALSE(breaker_.open());
}

TEST_F(BreakerTest, ProbesAtOnceWhenThereIsReasonTo) {
  breaker_.trip(0);
  breaker_.probe_soon(10);
  EXPECT_TRUE(breaker_.begin_probe(10));
  breaker_.probe_soon(20);
  EXPECT_FALSE(breaker_.begin_probe(20)) << "one is under way";
  breaker_.probe_failed(30);
  EXPECT_GE(breaker_.probe_due_us(), 30 + Breaker::kFirstProbe_us);
}

TEST_F(BreakerTest, ProbesAreSpreadAndNeverRare) {
  breaker_.trip(0);
  Micros now_us = 0, least_us = kSecond_us, most_us = 0;
  for (int i = 0; i < 200; ++i) {
    const Micros pause_us = breaker_.probe_due_us() - now_us;
    now_us = breaker_.probe_due_us();
    ASSERT_TRUE(breaker_.begin_probe(now_us));
    breaker_.probe_failed(now_us);
    if (i < 5) continue;
    least_us = std::min(least_us, pause_us);
    most_us = std::max(most_us, pause_us);
  }
  EXPECT_GE(least_us, Breaker::kLastProbe_us / 2);
  EXPECT_LE(most_us, Breaker::kLastProbe_us);
  EXPECT_GT(most_us - least_us, Breaker::kLastProbe_us / 4);
}

TEST_F(BreakerTest, PausesGrowWhenItOpensSoonAfterClosing) {
  Micros now_us = 0, pause_us = 0;
  for (int i = 0; i < 20; ++i) {
    fail(Breaker::kFailuresInARow, now_us);
    ASSERT_TRUE(breaker_.open());
    pause_us = breaker_.probe_due_us() - now_us;
    EXPECT_LE(pause_us, Breaker::kLastProbe_us);
    now_us = breaker_.probe_due_us();
    ASSERT_TRUE(breaker_.begin_probe(now_us));
    breaker_.probe_succeeded(now_us);
    now_us += Breaker::kWindow_us - 1;
  }
  EXPECT_GE(pause_us, Breaker::kLastProbe_us / 2);
  now_us += 1;
  fail(Breaker::kFailuresInARow, now_us);
  EXPECT_EQ(breaker_.probe_due_us() - now_us, Breaker::kFirstProbe_us) << "long ago";
}

TEST_F(BreakerTest, StartsAfreshOnceClosed) {
  fail(Breaker::kFailuresInARow, 0);
  ASSERT_TRUE(breaker_.begin_probe(kSecond_us));
  breaker_.probe_succeeded(kSecond_us);
  succeed(1, kSecond_us);
  fail(Breaker::kFailuresInARow - 1, kSecond_us);
  EXPECT_FALSE(breaker_.open());
}

TEST_F(BreakerTest, AnswersFromBeforeItOpenedDoNotPutTheProbeOff) {
  breaker_.trip(0);
  fail(10, 40'000);
  EXPECT_EQ(breaker_.probe_due_us(), Breaker::kFirstProbe_us);
}

}  // namespace
}  // namespace ratel
