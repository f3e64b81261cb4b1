#pragma once
// What this process last heard of counters that live in a store elsewhere: how much of each was spent. It is where a
// process that has to decide alone begins, so that an outage does not start everybody afresh.
//
// A table of fixed size. Where it is full, what is nearest to being over goes first. Thread-safe.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/micros.h"
#include "store/mutex.h"

namespace ratel {

class KnownDebts {
 public:
  using Hash = std::array<std::uint64_t, 2>;  // Charge::hash

  /// What one takes, with its share of the lock.
  static constexpr std::size_t kEntry_bytes = 56;
  /// Room for `entries`, rounded up to eights. REQUIRES: entries >= 1.
  explicit KnownDebts(std::size_t entries);

  /// `used` units are spent and will all have come back at `until_us` (monotonic). Nothing spent, nothing kept.
  /// `decided_us`: when that was so, by the store's clock. Answers do not come in the order in which they were given,
  /// over several connections: an older one changes nothing, unless the newer was told kDisorder_us ago. By then it
  /// rather is the clock that runs back, as it may when another server takes over.
  void told(const Hash& hash, std::int64_t used, Micros until_us, Micros decided_us, Micros now_us);
  static constexpr Micros kDisorder_us = kSecond_us;

  struct Debt {
    std::int64_t used = 0;  // when told
    Micros told_us = 0;
    Micros until_us = 0;
  };
  /// Without any where nothing is known or all has come back.
  Debt find(const Hash& hash, Micros now_us) const;

 private:
  struct Entry {
    Hash hash{};
    Debt debt;
    Micros decided_us = 0;
  };
  struct Bucket {
    mutable Mutex mutex;
    std::array<Entry, 8> entries RATEL_GUARDED_BY(mutex);
  };

  static_assert(sizeof(Bucket) <= 8 * kEntry_bytes);

  Bucket& bucket_of(const Hash& hash) const { return buckets_[hash[0] % buckets_.size()]; }

  mutable std::vector<Bucket> buckets_;
};

}  // namespace ratel
