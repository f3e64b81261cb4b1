#pragma once
// How far a store's clock is ahead of this process's monotonic clock, from below. Pure; belongs to one connection.

#include <algorithm>
#include <limits>

#include "base/micros.h"

namespace ratel {

/// A reply that carries the store's time was received after that time, so each sample lies below the true offset, by as
/// long as the reply was under way; the highest of the recent ones is the best. Never above the truth, so that what a
/// caller's deadline becomes in the store's time is never late: a script that runs after its caller has gone charges
/// nobody.
class ClockOffset {
 public:
  /// Samples count for one to two of these: the two clocks drift apart by 500 us in each, and a store's clock that was
  /// set back is believed after two.
  static constexpr Micros kWindow_us = kSecond_us;

  /// REQUIRES: `received_us` was read after the reply.
  void sample(Micros store_us, Micros received_us) {
    if (received_us - window_us_ >= kWindow_us) {
      // A whole window without samples: what is older is not recent.
      older_us_ = received_us - window_us_ < 2 * kWindow_us ? newer_us_ : kNone_us;
      newer_us_ = kNone_us;
      window_us_ = received_us;
    }
    newer_us_ = std::max(newer_us_, store_us - received_us);
  }

  bool known() const { return lowest_us() != kNone_us; }
  /// REQUIRES: known()
  Micros lowest_us() const { return std::max(older_us_, newer_us_); }

 private:
  static constexpr Micros kNone_us = std::numeric_limits<Micros>::min() / 2;

  Micros window_us_ = kNone_us;  // when the newer window began
  Micros newer_us_ = kNone_us;
  Micros older_us_ = kNone_us;
};

}  // namespace ratel
