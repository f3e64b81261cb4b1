// Limits logins in a process of its own: five at once, then one in twelve seconds.

#include <ratel/limiter.h>

#include <chrono>
#include <cstdio>

int main() {
  const ratel::Limiter limiter = ratel::Limiter::in_memory();
  const auto logins = limiter.limit("5/min");
  if (!logins.ok()) return std::puts(logins.error().message.c_str()), 1;

  int passed = 0;
  std::chrono::microseconds wait{0};
  for (int attempt = 0; attempt < 8; ++attempt) {
    const auto decision = logins->allow("user:42");
    if (!decision.ok()) return std::puts(decision.error().message.c_str()), 1;
    if (decision->allowed) ++passed;
    wait = decision->retry_after;
  }
  std::printf("%d of 8 logins pass, the next in %lld seconds\n", passed,
              static_cast<long long>(std::chrono::ceil<std::chrono::seconds>(wait).count()));
}
