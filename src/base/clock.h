#pragma once
// What time it is. Everything with logic is handed an Instant or a Clock; only net/ reads the machine's.

#include "base/micros.h"

namespace ratel {

/// One reading of both clocks. An event loop reads once a turn and everything in the turn happens at that instant.
struct Instant {
  Micros monotonic_us = 0;  // for waiting; never runs back
  Micros wall_us = 0;       // since the Unix epoch; for calendars and for what the outside world sees; may step
};

/// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() const = 0;
};

/// For tests: moves when told.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Instant start = {}) : now_(start) {}
  Instant now() const override { return now_; }
  void advance_us(Micros us) {
    now_.monotonic_us += us;
    now_.wall_us += us;
  }
  void step_wall_us(Micros us) { now_.wall_us += us; }

 private:
  Instant now_;
};

}  // namespace ratel
