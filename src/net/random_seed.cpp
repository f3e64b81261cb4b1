#include "net/random_seed.h"

#include <sys/random.h>

#include <utility>

#include "base/check.h"

namespace ratel {

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  CHECK(getrandom(&seed, sizeof seed, 0) == sizeof seed);
  return seed;
}

std::uint64_t SystemRandomness::next() {
  if (left_ == 0) {
    CHECK(getrandom(drawn_.data(), sizeof drawn_, 0) == sizeof drawn_);
    left_ = drawn_.size();
  }
  return std::exchange(drawn_[--left_], 0);
}

}  // namespace ratel
