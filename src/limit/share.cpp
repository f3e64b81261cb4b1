#include "limit/share.h"

#include <algorithm>

#include "base/check.h"

namespace ratel {

Limit share_of(const Limit& whole, int processes) {
  CHECK(processes >= 1 && !whole.unlimited && whole.algorithm != Algorithm::kConcurrency);
  if (whole.count == 0 || processes == 1) return whole;
  Limit share = whole;
  if (whole.algorithm != Algorithm::kGcra) {
    share.count = share.capacity = std::max<std::int64_t>(1, whole.count / processes);
    return share;
  }
  // The rate is kept exact by stretching the period; a share so small that one unit takes longer than any bucket may
  // take to refill is one unit in that time.
  const std::int64_t capacity = std::max<std::int64_t>(1, whole.capacity / processes);
  if (processes > kCapacityTimeMax_us / whole.period_us ||
      !make_gcra_limit(whole.count, whole.period_us * processes, capacity, share)) {
    CHECK(make_gcra_limit(1, kCapacityTimeMax_us, 1, share));
  }
  share.max_wait_us = whole.max_wait_us;
  return share;
}

}  // namespace ratel
