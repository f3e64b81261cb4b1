#pragma once
// A counter that was read, and changed, where it lies: a log or a set of leases in a store that does not hand them out.
// What the store found and made of it is repeated here, so that a question is answered by the same code everywhere.
//
// A value on the stack of decide(); borrows the limit and the reading.

#include <algorithm>

#include "limit/limit.h"

namespace ratel {

/// What the store did for one question, at `now`.
struct Reading {
  std::int64_t used = 0;  // before
  Micros wait_us = 0;     // of the cost asked for (of one unit, where up to that many were); 0 if it had room for it
  bool held = false;      // concurrency: whether the question's id held a lease
  std::int64_t used_after = 0;
  Micros until_us = 0;  // when it is as good as new, after the question; of no meaning where nothing is used
};

class Told {
 public:
  Told(const Limit& limit, const Reading& reading, Micros now_us)
      : limit_(limit), reading_(reading), now_us_(now_us), used_(reading.used) {}

  Micros wait_us(std::int64_t cost) const {
    if (cost == 0 || held()) return 0;
    return cost > limit_.capacity ? kNever_us : reading_.wait_us;
  }
  std::int64_t remaining() const { return std::max<std::int64_t>(0, limit_.capacity - used_); }
  Micros reset_after_us() const { return used_ > 0 ? reading_.until_us - now_us_ : 0; }
  bool held() const { return reading_.held; }

  void charge(std::int64_t) { used_ = reading_.used_after; }
  void refund(std::int64_t) { used_ = reading_.used_after; }
  void renew() { used_ = reading_.used_after; }
  void release() { used_ = reading_.used_after; }
  void reset() { used_ = reading_.used_after; }

 private:
  const Limit& limit_;
  const Reading& reading_;
  Micros now_us_;
  std::int64_t used_;
};

}  // namespace ratel
