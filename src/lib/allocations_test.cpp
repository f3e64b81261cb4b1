// Counts allocations, in a file of its own: where the compiler sees both a use and the malloc behind it, it warns.

#include <atomic>
#include <cstdlib>
#include <new>

#include "lib/allocations_testing.h"

namespace {
std::atomic<std::uint64_t> allocations{0};
}  // namespace

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const at = std::malloc(bytes)) return at;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
void operator delete(void* at) noexcept {
  std::free(at);
}
void operator delete(void* at, std::size_t) noexcept {
  std::free(at);
}

namespace ratel {
std::uint64_t allocations_so_far() {
  return allocations;
}
}  // namespace ratel
