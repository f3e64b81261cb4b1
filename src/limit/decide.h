#pragma once
// One question decided over the states of its counters: all are charged, or none is.
//
// Pure: (question, states, time) -> (answer, new states). The caller holds whatever makes that atomic.

#include <algorithm>
#include <limits>
#include <memory>
#include <span>

#include "limit/cell.h"
#include "limit/question.h"
#include "limit/told.h"

namespace ratel {

/// A counter's state on loan from its store. `record` is used by sliding_log and concurrency only; decide() makes one
/// where it needs one. Where it leaves the cell fresh, nothing is left to keep, and the record is the store's to drop:
/// it may be large.
struct Slot {
  Cell* cell = nullptr;
  std::unique_ptr<Record>* record = nullptr;
  /// No question makes the record grow beyond this.
  std::size_t record_bytes_max = std::numeric_limits<std::size_t>::max();
  /// Instead of both, for a sliding_log or concurrency that was decided where it lies.
  const Reading* reading = nullptr;
};

/// How much one question can add to a record that holds `bytes`: a lease, or to a log a block, to which it comes by
/// doubling, and now and then a longer list of blocks.
constexpr std::size_t record_growth_bytes(std::size_t bytes) {
  return 1024 + std::min<std::size_t>(bytes, 16 * 1024) + bytes / 512;
}

/// The store's time. Calendar windows go by the wall clock, all else by a clock that never steps; see MemoryStore.
struct StoreTime {
  Micros now_us = 0;
  Micros calendar_us = 0;
};

/// REQUIRES: slots[i] is the state of question.charges[i]; the question is valid (gate/ checks).
/// A question that would be granted, but for which a record has no room, is denied and charges nothing: its source is
/// kFailedClosed, nothing remains, and the wait is a guess.
/// A question that charges nothing leaves every state bit-identical, but for the repair of a faulty time (DESIGN:
/// Clock) and for leases that have ended, which no later question can tell from absent ones.
Answer decide(const Question& question, std::span<const Slot> slots, StoreTime time);

/// What is spent of a counter, and when all of it has come back. Of gcra it is more than the capacity where some is
/// reserved ahead.
struct Use {
  std::int64_t used = 0;
  Micros reset_after_us = 0;
};
/// REQUIRES: `slot` is the state of `charge`. Of a Reading: after its question.
Use use_of(const Charge& charge, const Slot& slot, StoreTime time);

}  // namespace ratel
