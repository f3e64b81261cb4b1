#include "store/reserved_memory.h"

#include <gtest/gtest.h>

#include <fstream>

namespace ratel {
namespace {

std::size_t pages_of_addresses() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages;
}

TEST(ReservedMemory, GivesBackAllItsAddresses) {
  const std::size_t before = pages_of_addresses();
  for (int i = 0; i < 100; ++i) ReservedMemory memory(std::size_t{1} << 20);
  EXPECT_LT(pages_of_addresses(), before + 10'000) << "of 51,200 if 2 MiB were left each time";
}

}  // namespace
}  // namespace ratel
