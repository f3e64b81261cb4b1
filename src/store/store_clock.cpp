#include "store/store_clock.h"

namespace ratel {

Micros StoreClock::anchor(Instant now, Micros now_us) {
  MutexLock lock(mutex_);
  if (now.monotonic_us > anchored_us_) {
    anchored_us_ = now.monotonic_us;
    calendar_offset_us_.store(now.wall_us - now_us, std::memory_order_relaxed);
  }
  return now_us + calendar_offset_us_.load(std::memory_order_relaxed);
}

}  // namespace ratel
