#pragma once
// The machine's clocks. The only place that reads them.

#include "base/clock.h"

namespace ratel {

/// Thread-safe.
class SystemClock final : public Clock {
 public:
  Instant now() const override;
};

/// Nanoseconds of the monotonic clock, for measuring how long something took.
std::int64_t monotonic_ns();

}  // namespace ratel
