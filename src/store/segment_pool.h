#pragma once
// Where the entries of all buckets live: segments of 32 entries, all alike, so that what one bucket lets go any other
// can use and nothing is lost to fragmentation.
//
// Thread-safe, but for the contents of a segment, which are its owner's. Segments lie in regions; the lowest region
// that has room is used first, so that after many keys are gone the highest regions are empty and can go back to the
// system.

#include <cstdint>
#include <vector>

#include "limit/cell.h"
#include "limit/limit.h"
#include "store/budget.h"
#include "store/mutex.h"
#include "store/reserved_memory.h"

namespace ratel {

/// What a counter is found by: 123 bits of a seeded hash of its identity and key, and what kind it is, which its
/// identity tells.
struct KeyHash {
  static constexpr unsigned kKindBits = 4;

  std::uint64_t order = 0;  // odd, so that it is never 0; a bucket is sorted by it
  std::uint64_t rest = 0;   // picks the bucket; bit 0: the cell's word is a Record*; bits 1 to 3: its CalendarUnit
};

struct alignas(32) Entry {
  std::uint64_t order;  // 0: an empty place
  std::uint64_t rest;
  Cell cell;

  bool empty() const { return order == 0; }
  bool holds_record() const { return (rest & 1) != 0; }
  CalendarUnit calendar() const { return static_cast<CalendarUnit>(rest >> 1 & 7); }
};
static_assert(sizeof(Entry) == 32);

inline constexpr std::uint32_t kSegmentEntries = 32;
inline constexpr std::size_t kSegment_bytes = kSegmentEntries * sizeof(Entry);

class SegmentPool {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint32_t kRegionSegments = 1024;

  /// `budget` outlives the pool and is charged for every segment that takes memory, in use or not.
  explicit SegmentPool(Budget& budget);

  Entry* entries(std::uint32_t segment) const {
    return reinterpret_cast<Entry*>(memory_.data() + segment * kSegment_bytes);
  }

  /// With entries of any content; kNone when the budget is used up.
  std::uint32_t allocate() RATEL_EXCLUDES(mutex_);
  void free(std::uint32_t segment) RATEL_EXCLUDES(mutex_);

  std::uint32_t in_use() const { return in_use_.load(std::memory_order_relaxed); }
  std::uint32_t capacity() const { return static_cast<std::uint32_t>(memory_.size() / kSegment_bytes); }

  /// Whether this segment had better be exchanged for a new one, because it keeps a region that is not needed.
  bool is_misplaced(std::uint32_t segment) const {
    const std::uint32_t used = in_use();
    return segment >= used + used / 8 + kRegionSegments;
  }
  /// Returns the empty regions at the end to the system.
  void give_back() RATEL_EXCLUDES(mutex_);

 private:
  struct Region {
    std::uint16_t used = 0;
    std::uint16_t touched = 0;   // the first so many have been handed out since the region took memory
    std::uint32_t free = kNone;  // a list through `order` of the first entry of each free segment
  };

  Budget& budget_;
  ReservedMemory memory_;
  std::atomic<std::uint32_t> in_use_{0};
  Mutex mutex_;
  std::vector<Region> regions_ RATEL_GUARDED_BY(mutex_);  // never resized
  std::uint32_t lowest_ RATEL_GUARDED_BY(mutex_) = 0;     // all regions below are full
  std::uint32_t end_ RATEL_GUARDED_BY(mutex_) = 0;        // no region from here on takes memory
};

}  // namespace ratel
