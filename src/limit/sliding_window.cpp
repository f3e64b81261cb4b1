#include "limit/sliding_window.h"

#include <algorithm>

#include "limit/fraction.h"

namespace ratel {

SlidingWindow::SlidingWindow(const Limit& limit, Cell& cell, Micros now_us)
    : limit_(limit), cell_(cell), now_us_(now_us) {
  const Micros period_us = limit.period_us;
  start_us_ = now_us - now_us % period_us;
  if (cell.until_us > now_us) {
    const auto previous = static_cast<std::int64_t>(cell.word >> 32);
    const auto current = static_cast<std::int64_t>(cell.word & 0xffff'ffff);
    const Micros cell_start_us = cell.until_us - (current > 0 ? 2 : 1) * period_us;
    if (cell_start_us >= start_us_) {
      start_us_ = cell_start_us;
      previous_ = previous;
      current_ = current;
    } else {
      previous_ = current;  // until_us > now leaves no other: the window after the stored one
    }
  }
  elapsed_us_ = std::max<Micros>(0, now_us - start_us_);
}

std::int64_t SlidingWindow::remaining() const {
  const std::int64_t weighted = mul_div_up(previous_, limit_.period_us - elapsed_us_, limit_.period_us);
  return std::max<std::int64_t>(0, limit_.capacity - current_ - weighted);
}

Micros SlidingWindow::wait_us(std::int64_t cost) const {
  if (cost == 0) return 0;
  if (cost > limit_.capacity) return kNever_us;
  const std::int64_t left = remaining();
  if (cost <= left) return 0;
  const Micros period_us = limit_.period_us;
  const std::int64_t free = limit_.capacity - cost;
  // How far a window must have elapsed until `count` of the window before weighs no more than `room`.
  const auto elapsed_when = [period_us](std::int64_t room, std::int64_t count) {
    return period_us - std::min(period_us, mul_div(room, period_us, count));
  };
  Micros at_us = start_us_ + period_us;
  if (current_ > free) {
    at_us += elapsed_when(free, current_);
  } else if (const Micros elapsed_us = elapsed_when(free - current_, previous_); elapsed_us < period_us) {
    at_us = start_us_ + elapsed_us;
  }
  return at_us - now_us_;
}

Micros SlidingWindow::reset_after_us() const {
  if (current_ > 0) return start_us_ + 2 * limit_.period_us - now_us_;
  return previous_ > 0 ? start_us_ + limit_.period_us - now_us_ : 0;
}

void SlidingWindow::charge(std::int64_t cost) {
  if (cost == 0) return;
  current_ += cost;
  store();
}

void SlidingWindow::refund(std::int64_t cost) {
  if (cost == 0 || current_ == 0) return;
  current_ -= std::min(cost, current_);
  store();
}

void SlidingWindow::store() {
  // A window refunded to nothing is kept too: a clock behind it stands at its start all the same.
  cell_ = {.until_us = start_us_ + (current_ > 0 ? 2 : 1) * limit_.period_us,
           .word = static_cast<std::uint64_t>(previous_) << 32 | static_cast<std::uint64_t>(current_)};
}

void SlidingWindow::reset() {
  previous_ = 0;
  current_ = 0;
  cell_ = Cell{};
}

}  // namespace ratel
