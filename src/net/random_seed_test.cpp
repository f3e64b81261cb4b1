#include "net/random_seed.h"

#include <gtest/gtest.h>

namespace ratel {
namespace {

TEST(RandomSeed, IsNotTheSameTwice) {
  EXPECT_NE(random_seed(), random_seed());
}

}  // namespace
}  // namespace ratel
