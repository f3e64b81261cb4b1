#pragma once
// CHECK: a programmer's error, on in release too. Bad input is never a CHECK; it is a Result.

#include <cstdio>
#include <cstdlib>

namespace ratel::internal {
[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", file, line, condition);
  std::abort();
}
}  // namespace ratel::internal

#define CHECK(condition) \
  (__builtin_expect(!(condition), 0) ? ::ratel::internal::check_failed(#condition, __FILE__, __LINE__) : void(0))
