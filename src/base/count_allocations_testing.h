#pragma once
// The counting behind base/allocations_testing.h. Defines the operators of the whole program: include it in one file.

#include <atomic>
#include <cstdlib>
#include <new>

#include "base/allocations_testing.h"

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
