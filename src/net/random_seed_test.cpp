#include "net/random_seed.h"

#include <gtest/gtest.h>

#include <set>

namespace ratel {
namespace {

TEST(RandomSeed, IsNotTheSameTwice) {
  EXPECT_NE(random_seed(), random_seed());
}

TEST(SystemRandomness, GivesNoWordTwice) {
  SystemRandomness one;
  SystemRandomness other;
  std::set<std::uint64_t> words{0};
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(words.insert(one.next()).second);
    EXPECT_TRUE(words.insert(other.next()).second);
  }
}

}  // namespace
}  // namespace ratel
