#include "store/store_clock.h"

namespace ratel {

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
