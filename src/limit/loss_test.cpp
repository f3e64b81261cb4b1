// 35: a store that falls back to an older state, as by a failover, admits again what it has forgotten and no more.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "limit/model_test.h"

namespace ratel::model {
namespace {

constexpr Micros kStart_us = kStarts_us[2];

struct Admitted {
  Micros t;
  std::int64_t cost;
};

/// The most that may be admitted within `interval_us`, ends included, times the period, where nothing is lost.
Big most(const Limit& limit, Micros interval_us) {
  const Big period = limit.period_us;
  switch (limit.algorithm) {
    case Algorithm::kFixedWindow:
      return 2 * limit.count * period;
    case Algorithm::kSlidingWindow:
      return Big{limit.count} * (period + interval_us + 1) + period;
    case Algorithm::kSlidingLog:
      return limit.count * period;
    default:
      return limit.capacity * period + Big{limit.count} * interval_us;
  }
}

RC_GTEST_PROP(Loss, ReadmitsNoMoreThanWasLostNorMoreThanOneCapacity, ()) {
  const Algorithm algorithm =
      any_of({Algorithm::kGcra, Algorithm::kFixedWindow, Algorithm::kSlidingWindow, Algorithm::kSlidingLog});
  const Limit limit = any_limit(algorithm);
  RC_PRE(limit.calendar == CalendarUnit::kNone);
  const int steps = 60;
  const int kept = *rc::gen::inRange(0, steps);
  const int lost = *rc::gen::inRange(kept, steps);
  auto subject = std::make_unique<Subject>(limit);
  std::unique_ptr<Subject> older;
  std::vector<Admitted> admitted;
  Big forgotten = 0;
  Micros t = kStart_us;
  for (int i = 0; i < steps; ++i) {
    if (i == kept) older = std::make_unique<Subject>(*subject);
    if (i == lost) subject = std::move(older);
    const std::int64_t cost = any_cost(limit);
    if (subject->allow(cost, t).decision.allowed) {
      admitted.push_back({.t = t, .cost = cost});
      if (i >= kept && i < lost) forgotten += cost;
    }
    t += any_of<Micros>({0, 0, 0, 1, any_gap_us(limit) % (2 * limit.period_us), limit.period_us / 7});
  }
  const Big rounding = algorithm == Algorithm::kSlidingWindow ? 1 : 0;
  const Big excess = std::min<Big>(forgotten, limit.capacity + rounding) * limit.period_us;
  for (std::size_t first = 0; first < admitted.size(); ++first) {
    Big sum = 0;
    for (std::size_t last = first; last < admitted.size(); ++last) {
      const Micros interval_us = admitted[last].t - admitted[first].t;
      if (algorithm != Algorithm::kGcra && interval_us >= limit.period_us) break;
      sum += admitted[last].cost;
      RC_ASSERT(sum * limit.period_us <= most(limit, interval_us) + excess);
    }
  }
}

}  // namespace
}  // namespace ratel::model
