#pragma once
// When to connect again after a connection has failed or been lost. Pure.

#include <algorithm>

#include "base/micros.h"
#include "base/randomness.h"

namespace ratel {

/// Full jitter: a uniform pause of nothing to a ceiling that doubles, so that a crowd that lost its server together
/// does not come back together. Whoever had a connection that proved good begins anew with another Backoff; a server
/// that accepts and then fails is not called at full speed. Belongs to one endpoint.
class Backoff {
 public:
  static constexpr Micros kFirst_us = 50 * kMillisecond_us;
  /// A server that is well again is used again within a second.
  static constexpr Micros kCeiling_us = 800 * kMillisecond_us;
  static constexpr Micros kCrowdedCeiling_us = 5 * kSecond_us;

  /// The pause before the next attempt.
  Micros next_us(Randomness& randomness) {
    const auto pause_us = static_cast<Micros>(randomness.next() % static_cast<std::uint64_t>(ceiling_us_ + 1));
    ceiling_us_ = std::min(2 * ceiling_us_, kCeiling_us);
    return pause_us;
  }

  bool is_fresh() const { return ceiling_us_ == kFirst_us; }

  /// The server has too many clients; each attempt takes the place of another.
  void crowded() { ceiling_us_ = kCrowdedCeiling_us; }

 private:
  Micros ceiling_us_ = kFirst_us;
};

}  // namespace ratel
