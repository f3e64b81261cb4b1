#pragma once
// Some hundred counters under one lock, in up to 29 segments.
//
// The entries stand sorted by hash, each at the place its hash points to or as near behind it as its elders let it
// (linear probing in order of hash). So a key is found, or found missing, within two or three neighbouring cache lines,
// which can be fetched before the lock is taken, with nine entries on ten places; and a bucket is split, grown and
// swept in one pass. Dense arrays with one-byte tags would need two bytes less for each key, and two misses that
// wait for each other.
//
// The last entries may not all find a place behind their hash; they go on at the first places ("wrapped"). Positions
// below therefore count on from places() for them: position p is place p - places() then.
//
// The caller holds `mutex` for all but prefetch() and the counts.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "store/segment_pool.h"
#include "store/store_clock.h"

namespace ratel {

/// What happens to an entry that gives way to another: its record is freed, a debt that was alive is counted.
///
/// A large record is not freed at once, since that would hold up all that wait for the same bucket, and the loop that
/// does it: it is put aside, still counted in the budget, and dismantled by many calls of work(). Thread-safe.
class Reaper {
 public:
  Reaper(Budget& budget, std::atomic<std::uint64_t>& live_evictions)
      : budget_(budget), live_evictions_(live_evictions) {}
  ~Reaper();
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;

  void drop(Entry& entry);
  void evict(Entry& entry, bool is_alive);
  /// Frees a record that is counted in the budget, now or later.
  void retire(std::unique_ptr<Record> record) RATEL_EXCLUDES(mutex_);
  /// Frees some of what was put aside. To be called without a bucket's lock, by whoever adds to records or to keys.
  void work() RATEL_EXCLUDES(mutex_);

 private:
  /// A record up to this is freed at once.
  static constexpr std::size_t kSmall_bytes = 4096;
  /// Of a record, a call: many more than a question adds.
  static constexpr std::size_t kPieces = 64;

  Budget& budget_;
  std::atomic<std::uint64_t>& live_evictions_;
  std::atomic<bool> has_work_{false};
  Mutex mutex_;
  std::unique_ptr<Record> retired_ RATEL_GUARDED_BY(mutex_);
};

class alignas(128) Bucket {
 public:
  static constexpr std::uint32_t kSegmentsMax = 29;
  static constexpr std::uint32_t kPlacesMax = kSegmentsMax * kSegmentEntries;
  /// Of 32: how many entries a segment takes before the bucket grows. More saves memory and makes searches longer: at
  /// 29 they touch 2.5 cache lines on average, at 27 2.0, at 30 3.0.
  static constexpr std::uint32_t kFill = 29;
  static constexpr std::uint32_t kEvictionsMax = 8;

  /// What the operations below work with.
  struct Context {
    SegmentPool& pool;
    Reaper& reaper;
    StateClocks clocks;

    bool is_over(const Entry& entry, Micros ago_us) const {
      return clocks.is_over(entry.cell, entry.calendar(), ago_us);
    }
  };

  Mutex mutex;

  std::uint32_t entries() const { return entries_.load(std::memory_order_relaxed); }
  std::uint32_t segments() const { return segments_.load(std::memory_order_relaxed); }

  /// May be called without the lock, and may then fetch the wrong line.
  void prefetch(const SegmentPool& pool, const KeyHash& hash) const;

  /// Takes the one segment that a bucket in use never goes below, so that there is always a place to take from another
  /// entry. False without memory.
  bool open(SegmentPool& pool) RATEL_REQUIRES(mutex);

  /// nullptr when there is none. The entry may be spent. Valid until anything is added or removed.
  Entry* find(const SegmentPool& pool, const KeyHash& hash) RATEL_REQUIRES(mutex);

  /// Adds an entry. It replaces spent ones, then makes the bucket grow, and where there is no memory for that evicts
  /// the entry nearest to being fresh. REQUIRES: no entry has this hash.
  void insert(const Context& context, const Entry& entry) RATEL_REQUIRES(mutex);

  /// Frees the entry's place, not its record.
  void remove(const SegmentPool& pool, const Entry* entry) RATEL_REQUIRES(mutex);

  /// Drops what is spent, returns segments that are not needed and moves out of regions that are not.
  void tidy(const Context& context) RATEL_REQUIRES(mutex);

  /// Moves the entries with `bit` in KeyHash::rest to `upper`, which has no segment. False, and nothing is moved,
  /// without memory.
  bool split(const Context& context, std::uint64_t bit, Bucket& upper) RATEL_REQUIRES(mutex, upper.mutex);
  /// Takes over all of `upper`, which is left without a segment.
  void merge(const Context& context, Bucket& upper) RATEL_REQUIRES(mutex, upper.mutex);
  /// Drops everything, at the end of the store.
  void clear(const Context& context) RATEL_REQUIRES(mutex);

 private:
  struct Sorted;

  std::uint32_t places() const { return segments() * kSegmentEntries; }
  static std::uint32_t home(std::uint64_t order, std::uint32_t places) {
    return static_cast<std::uint32_t>(((order >> 32) * places) >> 32);
  }
  Entry& at_place(const SegmentPool& pool, std::uint32_t place) const {
    return pool.entries(segment_[place / kSegmentEntries].load(std::memory_order_relaxed))[place % kSegmentEntries];
  }
  Entry& at(const SegmentPool& pool, std::uint32_t position) const {
    return at_place(pool, position < places() ? position : position - places());
  }
  /// For some more than these, so that a bucket is not laid out anew for every entry; never fewer than one.
  static std::uint32_t segments_for(std::uint32_t entries) {
    return std::min((entries + entries / 16 + kFill) / kFill, kSegmentsMax);
  }

  /// Where the entry with this hash stands or would be inserted: wrapped_ to places() + wrapped_.
  std::uint32_t position_of(const SegmentPool& pool, const KeyHash& hash) const RATEL_REQUIRES(mutex);
  bool try_insert(const Context& context, const Entry& entry) RATEL_REQUIRES(mutex);
  void make_room(const Context& context) RATEL_REQUIRES(mutex);
  void remove_at(const SegmentPool& pool, std::uint32_t position) RATEL_REQUIRES(mutex);
  /// Evicts the `count` entries nearest to being fresh, or as many as there are.
  void evict_nearest(const Context& context, std::uint32_t count) RATEL_REQUIRES(mutex);

  /// Frees the records of what is spent and the places it has, which are closed only by the lay_out() that must follow
  /// when anything was dropped.
  std::uint32_t drop_spent(const Context& context) RATEL_REQUIRES(mutex);
  void sweep(const Context& context) RATEL_REQUIRES(mutex);
  template <typename Select>
  void collect(const SegmentPool& pool, Sorted& sorted, Select select) const RATEL_REQUIRES(mutex);
  /// Allocates what is lacking of so many segments, for the lay_out() that must follow; false when there is no memory.
  bool reserve(SegmentPool& pool, std::uint32_t segments) RATEL_REQUIRES(mutex);
  /// Gives these, which are then all entries there are, their places in so many segments. Surplus ones are freed.
  void lay_out(SegmentPool& pool, const Sorted& sorted, std::uint32_t segments) RATEL_REQUIRES(mutex);

  std::atomic<std::uint16_t> entries_{0};
  std::atomic<std::uint16_t> segments_{0};
  std::uint16_t wrapped_ RATEL_GUARDED_BY(mutex) = 0;
  std::array<std::atomic<std::uint32_t>, kSegmentsMax> segment_{};
};
static_assert(sizeof(Bucket) == 128, "two cache lines, which the directory counts on");

}  // namespace ratel
