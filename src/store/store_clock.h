#pragma once
// The time by which a memory store decides: the wall time at its start plus monotonic progress, so that a step of the
// wall clock neither locks a key out nor hands out tokens. Only calendar windows follow the wall clock when it steps.
//
// Thread-safe. Reads no clock: it is told.

#include <algorithm>
#include <atomic>

#include "base/clock.h"
#include "limit/decide.h"
#include "store/mutex.h"

namespace ratel {

class StoreClock {
 public:
  /// How far the wall clock must be off before calendars are set by it anew. Adjusting (NTP's slewing) moves both
  /// clocks alike; what differs by less than this is a thread that was interrupted between its two readings.
  static constexpr Micros kStep_us = 100'000;

  explicit StoreClock(Instant start) : offset_us_(start.wall_us - start.monotonic_us) {}

  /// How much less the wall clock is ahead than it once was: a calendar window that was stored then may by the wall
  /// clock end so much later than its cell says, and is to be kept. No more than a window can last, because a clock
  /// that was set back further stands before all that it had begun.
  Micros set_back_us() const {
    return std::min(
        calendar_offset_max_us_.load(std::memory_order_relaxed) - calendar_offset_us_.load(std::memory_order_relaxed),
        kPeriodMax_us);
  }

  /// What the wall clock shows at this time of at().
  Micros calendar_us(Micros now_us) const { return now_us + calendar_offset_us_.load(std::memory_order_relaxed); }

  StoreTime at(Instant now) {
    const Micros now_us = now.monotonic_us + offset_us_;
    const Micros calendar_us = this->calendar_us(now_us);
    const Micros off_us = now.wall_us - calendar_us;
    if (off_us > kStep_us || off_us < -kStep_us) return {now_us, anchor(now, now_us)};
    return {now_us, calendar_us};
  }

 private:
  /// An instant older than the last anchor is of a turn that began before the step, and must not undo it.
  Micros anchor(Instant now, Micros now_us) RATEL_EXCLUDES(mutex_);

  const Micros offset_us_;
  std::atomic<Micros> calendar_offset_us_{0};      // written under mutex_
  std::atomic<Micros> calendar_offset_max_us_{0};  // of all times; the same
  Mutex mutex_;
  Micros anchored_us_ RATEL_GUARDED_BY(mutex_) = std::numeric_limits<Micros>::min();  // monotonic
};

}  // namespace ratel
