#pragma once
// How many connections to a store elsewhere a process may begin. Any thread.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/micros.h"

namespace ratel {

/// Each costs the server a handshake, and with TLS a millisecond of its one thread.
class HandshakeBudget {
 public:
  static constexpr int kBurst = 32;                             // a small cluster at once
  static constexpr Micros kInterval_us = 20 * kMillisecond_us;  // then 50 a second

  /// True, and one is spent. Otherwise it is worth asking again at next_us().
  bool take(Micros now_us) {
    Micros full_us = full_us_.load(std::memory_order_relaxed);
    for (;;) {
      const Micros then_us = std::max(full_us, now_us) + kInterval_us;
      if (then_us > now_us + kBurst * kInterval_us) return false;
      if (full_us_.compare_exchange_weak(full_us, then_us, std::memory_order_relaxed)) break;
    }
    taken_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  std::uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }
  Micros next_us() const { return full_us_.load(std::memory_order_relaxed) - (kBurst - 1) * kInterval_us; }

 private:
  std::atomic<Micros> full_us_{0};  // when it will be full again
  std::atomic<std::uint64_t> taken_{0};
};

}  // namespace ratel
