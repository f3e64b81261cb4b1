#pragma once
// The time by which a memory store decides: the wall time at its start plus monotonic progress, so that a step of the
// wall clock neither locks a key out nor hands out tokens. Only calendar windows follow the wall clock when it steps.
//
// Thread-safe. Reads no clock: it is told.

#include <algorithm>
#include <atomic>
#include <limits>

#include "base/clock.h"
#include "limit/decide.h"
#include "store/mutex.h"

namespace ratel {

/// How much a stored time may lie behind another thread's: the threads' clocks are read once a turn, so a decision can
/// be as old as its turn, and must still find what an entry held at its time. Nothing is dropped for being spent
/// earlier than this. Longer turns than that lose at most the tokens of the excess.
inline constexpr Micros kStale_us = kSecond_us;

/// Now, by all clocks that a state may end by.
struct StateClocks {
  Micros now_us = 0;
  Micros set_back_us = 0;  // see StoreClock
  Micros calendar_us = 0;  // now, by the wall clock; used where that was set back

  /// Whether a state was over so long ago, by every clock that it goes by. `unit` is of a calendar window.
  bool is_over(const Cell& cell, CalendarUnit unit, Micros ago_us) const {
    if (cell.until_us >= now_us - ago_us) return false;
    return unit == CalendarUnit::kNone || cell.until_us < now_us - ago_us - set_back_us ||
           is_window_over(cell, unit, ago_us);
  }

 private:
  /// By the wall clock alone, for a window stored before that was set back, which then ends later than its cell says.
  bool is_window_over(const Cell& cell, CalendarUnit unit, Micros ago_us) const;
};

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

  /// The same for states, at this time of at().
  StateClocks clocks(Micros now_us) const { return {now_us, set_back_us(), calendar_us(now_us)}; }

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
