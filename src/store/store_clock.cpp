#include "store/store_clock.h"

#include "limit/calendar.h"

namespace ratel {
namespace {

/// No window of this unit lasts longer. A zone has now and then made a day of two, by changing sides of the date line.
Micros window_max_us(CalendarUnit unit) {
  const Micros nominal_us = nominal_length_us(unit);
  return nominal_us <= kHour_us ? nominal_us : nominal_us + 2 * kDay_us;
}

}  // namespace

bool StateClocks::is_window_over(const Cell& cell, CalendarUnit unit, Micros ago_us) const {
  const auto now_s = static_cast<std::uint32_t>(calendar_us / kSecond_us);
  const auto start_s = static_cast<std::uint32_t>(cell.word >> 32);
  const Micros age_us = static_cast<std::int32_t>(now_s - start_s) * kSecond_us;
  return age_us - ago_us > window_max_us(unit) + kClockSlack_us;
}

Micros StoreClock::anchor(Instant now, Micros now_us) {
  MutexLock lock(mutex_);
  if (now.monotonic_us > anchored_us_) {
    anchored_us_ = now.monotonic_us;
    const Micros offset_us = now.wall_us - now_us;
    if (offset_us > calendar_offset_max_us_.load(std::memory_order_relaxed)) {
      calendar_offset_max_us_.store(offset_us, std::memory_order_relaxed);
    }
    calendar_offset_us_.store(offset_us, std::memory_order_relaxed);
  }
  return now_us + calendar_offset_us_.load(std::memory_order_relaxed);
}

}  // namespace ratel
