#pragma once
// A hash table of counters that any thread may use and that never stops to rehash.
//
// Linear hashing: as entries come, one bucket after the other is split in two, and merged back when they are gone; no
// step touches more than two buckets. Buckets are unevenly full by that (up to two to one), which costs search length
// in none and memory in none, because each has as many segments as it needs.
//
// Lock order: by index of buckets, then the pool. Only the table's own steps and questions with several charges hold
// more than one bucket.

#include <bit>

#include "store/bucket.h"
#include "store/store_clock.h"

namespace ratel {

/// What a table holds and did; each number by itself is exact, all of them at one instant only when nothing moves.
struct TableStats {
  std::uint64_t entries = 0;  // spent ones that were not dropped yet among them
  std::uint64_t places = 0;
  std::uint64_t buckets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t max_bytes = 0;
  std::uint64_t live_evictions = 0;  // debts that were forgotten for want of memory
  std::uint64_t refusals = 0;        // questions that were denied for want of memory
  std::uint64_t splits = 0;
  std::uint64_t merges = 0;
};

class Table {
 public:
  /// The least that any bound is taken for.
  static constexpr std::size_t kMaxMemoryMin_bytes = std::size_t{1} << 20;

  /// `clock` outlives the table.
  Table(std::size_t max_memory_bytes, const StoreClock& clock);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  /// The bucket that this hash belongs to, unless another thread just splits or merges it: whoever has locked it asks
  /// again, and when the answer is still the same, it stays so until the lock is released.
  Bucket& bucket_of(const KeyHash& hash) const { return bucket(index_of(hash, count())); }
  /// The same, locked, and still so.
  Bucket& lock_bucket_of(const KeyHash& hash) const RATEL_NO_THREAD_ANALYSIS {
    for (;;) {
      Bucket& found = bucket_of(hash);
      found.mutex.lock();
      if (&bucket_of(hash) == &found) return found;
      found.mutex.unlock();
    }
  }

  /// Whether all of it is near the processor anyway, so that fetching ahead would only cost.
  bool is_small() const { return count() == kInitialBuckets; }

  SegmentPool& pool() { return pool_; }
  Budget& budget() { return budget_; }
  Bucket::Context context(Micros now_us) { return {pool_, reaper_, clock_.clocks(now_us)}; }

  /// To be called, without a lock, after each insertion of a new key: the table's share of work. At most two splits,
  /// and now and then a step of tidy().
  void after_insertion(const KeyHash& hash, Micros now_us) {
    if (pool_.in_use() > count() * kMeanSegments || (hash.order & kTidyMask) == 0) work(hash, now_us);
  }

  /// To be called, without a lock, after each question that found no room for a record: the keys that it did not add
  /// cannot do their share of work.
  void refused(Micros now_us) {
    refusals_.fetch_add(1, std::memory_order_relaxed);
    tidy(now_us, kTidiedByRefusal);
  }

  /// Drops what is spent from the next `buckets` buckets in turn, and returns memory that is not needed. For idle
  /// moments.
  void tidy(Micros now_us, std::uint32_t buckets);

  /// Reads every bucket's count: about 1 ms at ten million keys.
  TableStats stats() const;

 private:
  static constexpr std::uint32_t kInitialBuckets = 64;
  /// How many segments a bucket has on average, from where on the table splits. An unsplit one has twice as many when
  /// its turn is nearly due, and of kSegmentsMax that leaves 8 standard deviations.
  static constexpr std::uint32_t kMeanSegments = 11;
  /// Below a quarter of that it merges.
  static constexpr std::uint32_t kMergeSegments = 3;
  /// One insertion in 128 tidies a bucket: a table full of spent entries is gone through while a third as many keys
  /// come.
  static constexpr std::uint64_t kTidyMask = 127 << 1;

  /// Buckets: all records that are spent are found while a quarter as many questions as there are buckets are refused.
  static constexpr std::uint32_t kTidiedByRefusal = 4;

  std::uint32_t count() const { return count_.load(std::memory_order_acquire); }
  Bucket& bucket(std::uint32_t index) const { return reinterpret_cast<Bucket*>(directory_.data())[index]; }
  static std::uint32_t index_of(const KeyHash& hash, std::uint32_t count) {
    const std::uint32_t level = std::bit_floor(count);
    const std::uint32_t low = static_cast<std::uint32_t>(hash.rest >> KeyHash::kKindBits);
    const std::uint32_t index = low & (2 * level - 1);
    return index < count ? index : low & (level - 1);
  }

  void work(const KeyHash& hash, Micros now_us);
  void split(Micros now_us);
  void merge(Micros now_us);

  const StoreClock& clock_;
  Budget budget_;
  SegmentPool pool_;
  ReservedMemory directory_;
  std::atomic<std::uint64_t> live_evictions_{0};
  std::atomic<std::uint64_t> refusals_{0};
  Reaper reaper_;

  std::atomic<std::uint32_t> count_{
      0};  // of buckets; written under resize_mutex_ and the locks of the buckets concerned
  std::atomic<std::uint32_t> next_to_tidy_{0};
  Mutex resize_mutex_;
  std::uint32_t constructed_ RATEL_GUARDED_BY(resize_mutex_) = 0;  // buckets; never fewer than count_
  std::atomic<std::uint64_t> splits_{0};
  std::atomic<std::uint64_t> merges_{0};
};

}  // namespace ratel
