#include "base/prng.h"

#include <gtest/gtest.h>

#include <set>

namespace ratel {
namespace {

TEST(Prng, TheSameSeedGivesTheSameRun) {
  Prng first(7);
  Prng second(7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(first.next(), second.next());
}

TEST(Prng, NeighbouringSeedsShareNothing) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Prng prng(seed);
    for (int i = 0; i < 100; ++i) seen.insert(prng.next());
  }
  EXPECT_EQ(seen.size(), 10'000U);
}

TEST(Prng, EveryBitIsSetHalfTheTime) {
  Prng prng(1);
  std::array<int, 64> set{};
  constexpr int kDraws = 10'000;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t word = prng.next();
    for (std::size_t bit = 0; bit < set.size(); ++bit) set[bit] += (word >> bit & 1) != 0 ? 1 : 0;
  }
  for (int count : set) EXPECT_NEAR(count, kDraws / 2, 300);  // six standard deviations
}

}  // namespace
}  // namespace ratel
