#include "redis/backoff.h"

#include <gtest/gtest.h>

#include "base/prng.h"

namespace ratel {
namespace {

TEST(Backoff, IsUniformBelowACeilingThatDoublesToItsBound) {
  constexpr int kRuns = 2000;
  const Micros ceilings_us[] = {50'000, 100'000, 200'000, 400'000, 800'000, 800'000};
  Prng prng(1);
  std::vector<Micros> least_us(std::size(ceilings_us), kDay_us), most_us(std::size(ceilings_us)),
      sum_us(std::size(ceilings_us));
  for (int run = 0; run < kRuns; ++run) {
    Backoff backoff;
    for (std::size_t i = 0; i < std::size(ceilings_us); ++i) {
      const Micros pause_us = backoff.next_us(prng);
      least_us[i] = std::min(least_us[i], pause_us);
      most_us[i] = std::max(most_us[i], pause_us);
      sum_us[i] += pause_us;
    }
  }
  for (std::size_t i = 0; i < std::size(ceilings_us); ++i) {
    EXPECT_GE(least_us[i], 0);
    EXPECT_LT(least_us[i], ceilings_us[i] / 50);
    EXPECT_LE(most_us[i], ceilings_us[i]);
    EXPECT_GT(most_us[i], ceilings_us[i] - ceilings_us[i] / 50);
    EXPECT_NEAR(static_cast<double>(sum_us[i]) / kRuns, static_cast<double>(ceilings_us[i]) / 2,
                static_cast<double>(ceilings_us[i]) / 20);
  }
}

TEST(Backoff, LeavesACrowdedServerAloneForLong) {
  Prng prng(7);
  Micros most_us = 0;
  for (int run = 0; run < 200; ++run) {
    Backoff backoff;
    backoff.crowded();
    most_us = std::max(most_us, backoff.next_us(prng));
  }
  EXPECT_GT(most_us, Backoff::kCrowdedCeiling_us * 9 / 10);
}

}  // namespace
}  // namespace ratel
