#pragma once
// When to connect again after a connection has failed or been lost. Pure; belongs to one endpoint.

#include <algorithm>

#include "base/micros.h"
#include "base/randomness.h"

namespace ratel {

/// Full jitter: a uniform pause of nothing to a ceiling that doubles, so that a crowd that lost its server together
/// does not come back together. The ceiling falls back only after health has lasted, so that a server which accepts and
/// then fails is not called at full speed.
class Backoff {
 public:
  static constexpr Micros kFirst_us = 50 * kMillisecond_us;
  static constexpr Micros kCeiling_us = 5 * kSecond_us;
  static constexpr Micros kHealthy_us = 10 * kSecond_us;

  /// The pause before the next attempt.
  Micros next_us(Randomness& randomness) {
    const auto pause_us = static_cast<Micros>(randomness.next() % static_cast<std::uint64_t>(ceiling_us_ + 1));
    ceiling_us_ = std::min(2 * ceiling_us_, kCeiling_us);
    return pause_us;
  }

  /// The server does not want us: password, rights, too many clients. That takes a while to change.
  void refused() { ceiling_us_ = kCeiling_us; }
  /// A connection has ended that had been good for this long.
  void ended(Micros healthy_us) {
    if (healthy_us >= kHealthy_us) ceiling_us_ = kFirst_us;
  }

 private:
  Micros ceiling_us_ = kFirst_us;
};

/// How many connections a process may begin: each costs the server a handshake, and with TLS a millisecond of its one
/// thread.
class HandshakeBudget {
 public:
  static constexpr int kBurst = 32;                             // a small cluster at once
  static constexpr Micros kInterval_us = 20 * kMillisecond_us;  // then 50 a second

  /// True, and one is spent. Otherwise it is worth asking again at next_us().
  bool take(Micros now_us) {
    const Micros start_us = std::max(full_us_, now_us);
    if (start_us + kInterval_us > now_us + kBurst * kInterval_us) return false;
    full_us_ = start_us + kInterval_us;
    return true;
  }
  Micros next_us() const { return full_us_ - (kBurst - 1) * kInterval_us; }

 private:
  Micros full_us_ = 0;  // when it will be full again
};

}  // namespace ratel
