#include "net/random_seed.h"

#include <sys/random.h>

#include "base/check.h"

namespace ratel {

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  CHECK(getrandom(&seed, sizeof seed, 0) == sizeof seed);
  return seed;
}

}  // namespace ratel
