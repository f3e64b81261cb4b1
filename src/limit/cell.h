#pragma once
// What a store keeps of one counter: 16 bytes, and for the algorithms that need more a record of their own.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "base/micros.h"

namespace ratel {

/// The state of a sliding log or of leases. Owned by whoever owns the cell.
class Record {
 public:
  virtual ~Record() = default;
  /// Heap bytes held, for the store's accounting.
  virtual std::size_t bytes() const = 0;
  /// Frees up to so many pieces of a record that nobody asks any more; whether none is left. To destroy a large one
  /// would be one long step.
  virtual bool dismantle(std::size_t pieces) = 0;

  std::unique_ptr<Record> next;  // the store's, of a list of those that nobody asks any more
};

struct Cell {
  static constexpr Micros kFresh_us = std::numeric_limits<Micros>::min();

  /// When the counter is as good as new, in StoreTime::now_us, calendar windows too: a cell with until_us < now_us *is*
  /// an absent one, and a store may drop it or give its place to another key without knowing the algorithm. For gcra
  /// the whole microseconds of the theoretical arrival time.
  Micros until_us = kFresh_us;
  /// gcra: L << 32 | the arrival time's numerator r. fixed window: the count; a calendar window's start in seconds <<
  /// 32 | count. sliding window: previous << 32 | current. sliding log and concurrency: nothing.
  std::uint64_t word = 0;

  friend bool operator==(const Cell&, const Cell&) = default;
};

}  // namespace ratel
