#pragma once
// Fixed window, from the first hit or on the calendar: one counter at one instant.
//
// The cell holds the end of the window, in the clock that never steps, and the count. A calendar window also keeps,
// above the count, the second of the Unix epoch with which it began (modulo 2^32: it is only ever compared with one
// nearby), since after a step of the wall clock only that tells whether the window is still the same. Its cell lives a
// slack longer than the window, so that a clock that is set back a little does not find it dropped.
//
// A value on the stack of decide(); borrows the limit and the cell.

#include "limit/calendar.h"
#include "limit/cell.h"
#include "limit/decide.h"
#include "limit/limit.h"

namespace ratel {

class FixedWindow {
 public:
  FixedWindow(const Limit& limit, Cell& cell, StoreTime time);

  Micros wait_us(std::int64_t cost) const;
  std::int64_t remaining() const;
  Micros reset_after_us() const { return count_ > 0 ? left_us_ : 0; }
  /// REQUIRES: wait_us(cost) == 0.
  void charge(std::int64_t cost);
  /// A window refunded to 0 is gone.
  void refund(std::int64_t cost);
  void reset();
  /// Stores when the window now ends, where a step of the wall clock has moved that, even if nothing is ever admitted.
  void repair();

 private:
  void read_calendar(StoreTime time);
  Micros until_us() const;
  void store();

  const Limit& limit_;
  Cell& cell_;
  Micros now_us_;
  Micros left_us_ = 0;         // until the window ends
  std::int64_t count_ = 0;     // 0: no window, the next hit opens one
  std::uint32_t start_s_ = 0;  // of a calendar window
};

}  // namespace ratel
