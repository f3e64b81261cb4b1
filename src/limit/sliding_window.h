#pragma once
// Sliding window of two counters: one counter at one instant.
//
// Windows are aligned to multiples of the period W; the window before counts with the share of it that still lies
// within the last W: admit iff prev * (W - e) + (cur + cost) * W <= limit * W, where e has elapsed of the current one.
// Counts admissions only. The cell holds both counts and the end of their influence, from which the window's place
// follows.
//
// A value on the stack of decide(); borrows the limit and the cell.

#include "limit/cell.h"
#include "limit/limit.h"

namespace ratel {

class SlidingWindow {
 public:
  SlidingWindow(const Limit& limit, Cell& cell, Micros now_us);

  Micros wait_us(std::int64_t cost) const;
  std::int64_t remaining() const;
  Micros reset_after_us() const;
  /// REQUIRES: wait_us(cost) == 0.
  void charge(std::int64_t cost);
  /// Lowers the current window only.
  void refund(std::int64_t cost);
  void reset();

 private:
  void store();

  const Limit& limit_;
  Cell& cell_;
  Micros now_us_;
  Micros start_us_ = 0;    // of the current window; later than now where the clock has run back
  Micros elapsed_us_ = 0;  // of the current window
  std::int64_t previous_ = 0;
  std::int64_t current_ = 0;
};

}  // namespace ratel
