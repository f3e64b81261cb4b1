#pragma once
// What was counted lately, without keeping each of it: in this window of time and in the one before, so of one to two
// windows. Told what time it is. Belongs to one event loop.

#include "base/micros.h"

namespace ratel {

template <typename Counts>
class OfLate {
 public:
  explicit OfLate(Micros window_us) : window_us_(window_us) {}

  /// To count in.
  Counts& now(Micros now_us) {
    turn(now_us);
    return now_;
  }
  /// Of the last whole window.
  const Counts& before(Micros now_us) {
    turn(now_us);
    return before_;
  }
  void forget() { now_ = before_ = {}; }

 private:
  void turn(Micros now_us) {
    const Micros age_us = now_us - began_us_;
    if (age_us < window_us_) return;
    before_ = age_us < 2 * window_us_ ? now_ : Counts{};
    now_ = {};
    began_us_ = now_us;
  }

  Micros window_us_;
  Micros began_us_ = 0;
  Counts now_{}, before_{};
};

}  // namespace ratel
