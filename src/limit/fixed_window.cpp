#include "limit/fixed_window.h"

#include <algorithm>

namespace ratel {

FixedWindow::FixedWindow(const Limit& limit, Cell& cell, StoreTime time)
    : limit_(limit), cell_(cell), now_us_(time.now_us) {
  if (limit.calendar != CalendarUnit::kNone) {
    read_calendar(time);
  } else if (cell.until_us > now_us_) {
    count_ = static_cast<std::int64_t>(cell.word);
    left_us_ = cell.until_us - now_us_;
  } else {
    left_us_ = limit.period_us;
  }
}

void FixedWindow::read_calendar(StoreTime time) {
  CalendarWindow window = calendar_window(limit_, time.calendar_us);
  if (cell_.until_us != Cell::kFresh_us) {  // whatever it says: a clock that was set back has made the window longer
    const auto now_start_s = static_cast<std::uint32_t>(window.start_us / kSecond_us);
    const auto cell_start_s = static_cast<std::uint32_t>(cell_.word >> 32);
    const Micros later_us = static_cast<std::int32_t>(cell_start_s - now_start_s) * kSecond_us;
    // A clock slightly behind the one that opened the next window stands in that window, or its few microseconds would
    // give a second count. Further behind is a step of the clock, and the window is another.
    const Micros ahead_us = window.start_us + later_us - time.calendar_us;
    if (later_us > 0 && ahead_us <= kClockSlack_us) window = calendar_window(limit_, window.start_us + later_us);
    if (later_us == 0 || (later_us > 0 && ahead_us <= kClockSlack_us)) {
      count_ = static_cast<std::int64_t>(cell_.word & 0xffff'ffff);
    }
  }
  start_s_ = static_cast<std::uint32_t>(window.start_us / kSecond_us);
  left_us_ = window.end_us - time.calendar_us;
}

Micros FixedWindow::wait_us(std::int64_t cost) const {
  if (cost > limit_.capacity) return kNever_us;
  return cost == 0 || cost <= remaining() ? 0 : left_us_;
}

std::int64_t FixedWindow::remaining() const {
  return std::max<std::int64_t>(0, limit_.capacity - count_);
}

void FixedWindow::charge(std::int64_t cost) {
  if (cost == 0) return;
  count_ += cost;
  store();
}

void FixedWindow::refund(std::int64_t cost) {
  if (cost == 0 || count_ == 0) return;
  count_ -= std::min(cost, count_);
  if (count_ == 0) {
    reset();
  } else {
    store();
  }
}

void FixedWindow::reset() {
  count_ = 0;
  cell_ = Cell{};
}

void FixedWindow::repair() {
  if (limit_.calendar != CalendarUnit::kNone && count_ > 0 && cell_.until_us != until_us()) store();
}

Micros FixedWindow::until_us() const {
  return now_us_ + left_us_ + (limit_.calendar != CalendarUnit::kNone ? kClockSlack_us : 0);
}

void FixedWindow::store() {
  cell_ = {.until_us = until_us(), .word = std::uint64_t{start_s_} << 32 | static_cast<std::uint64_t>(count_)};
}

}  // namespace ratel
