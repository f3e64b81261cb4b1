#include "store/handshake_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace ratel {
namespace {

TEST(HandshakeBudget, AllowsABurstAndThenARate) {
  HandshakeBudget budget;
  Micros now_us = 5 * kSecond_us;
  for (int i = 0; i < HandshakeBudget::kBurst; ++i) EXPECT_TRUE(budget.take(now_us)) << i;
  EXPECT_FALSE(budget.take(now_us));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(budget.next_us(), now_us + HandshakeBudget::kInterval_us);
    EXPECT_FALSE(budget.take(budget.next_us() - 1));
    now_us = budget.next_us();
    EXPECT_TRUE(budget.take(now_us));
  }
}

TEST(HandshakeBudget, IsOneForAllThreads) {
  HandshakeBudget budget;
  std::atomic<int> taken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int take = 0; take < HandshakeBudget::kBurst; ++take) taken += budget.take(kSecond_us) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, HandshakeBudget::kBurst);
  EXPECT_EQ(budget.taken(), static_cast<std::uint64_t>(HandshakeBudget::kBurst));
}

}  // namespace
}  // namespace ratel
