#pragma once
// How often a test program has allocated, on any thread.
//
// One file of the test program, which does nothing else, includes base/count_allocations_testing.h: where the compiler
// sees both a use and the malloc behind it, it warns.

#include <cstdint>

namespace ratel {
std::uint64_t allocations_so_far();
}  // namespace ratel
