#pragma once
// How long things took, counted by size: what a histogram shows. A plain value; belongs to one thread.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/micros.h"

namespace ratel {

struct Durations {
  /// Upper bounds of the buckets; one more counts all that took longer.
  static constexpr std::array<Micros, 19> kBounds_us = {1,      2,       5,       10,      20,       50,     100,
                                                        200,    500,     1'000,   2'000,   5'000,    10'000, 20'000,
                                                        50'000, 100'000, 200'000, 500'000, 1'000'000};
  static constexpr std::size_t kBuckets = kBounds_us.size() + 1;

  static std::size_t bucket_of(Micros took_us) {
    return static_cast<std::size_t>(std::lower_bound(kBounds_us.begin(), kBounds_us.end(), took_us) -
                                    kBounds_us.begin());
  }

  void add(Micros took_us) {
    ++counts[bucket_of(took_us)];
    sum_us += static_cast<std::uint64_t>(took_us);
  }

  std::array<std::uint64_t, kBuckets> counts{};  // each without those of the buckets before
  std::uint64_t sum_us = 0;
};

}  // namespace ratel
