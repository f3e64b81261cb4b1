#include "net/system_clock.h"

#include <time.h>

#include "base/check.h"

namespace ratel {
namespace {

std::int64_t read_ns(clockid_t id) {
  timespec time{};
  CHECK(clock_gettime(id, &time) == 0);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Instant SystemClock::now() const { return {read_ns(CLOCK_MONOTONIC) / 1'000, read_ns(CLOCK_REALTIME) / 1'000}; }

std::int64_t monotonic_ns() { return read_ns(CLOCK_MONOTONIC); }

}  // namespace ratel
