#pragma once
// How often this test program has allocated, on any thread.

#include <cstdint>

namespace ratel {
std::uint64_t allocations_so_far();
}  // namespace ratel
