// Limits exports to five a day, in a process of its own.

#include <ratel/limiter.h>

#include <chrono>
#include <cstdio>

int main() {
  const ratel::Limiter limiter = ratel::Limiter::in_memory();
  const auto exports = limiter.limit("5/day");
  if (!exports.ok()) return std::puts(exports.error().message.c_str()), 1;

  int passed = 0;
  std::chrono::microseconds wait{0};
  for (int attempt = 0; attempt < 8; ++attempt) {
    const auto decision = exports->allow("user:42");
    if (!decision.ok()) return std::puts(decision.error().message.c_str()), 1;
    if (decision->allowed) ++passed;
    wait = decision->retry_after;
  }
  std::printf("%d of 8 exports pass, the next in %lld hours\n", passed,
              static_cast<long long>(std::chrono::ceil<std::chrono::hours>(wait).count()));
}
