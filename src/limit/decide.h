#pragma once
// One question decided over the states of its counters: all are charged, or none is.
//
// Pure: (question, states, time) -> (answer, new states). The caller holds whatever makes that atomic.

#include <memory>
#include <span>

#include "limit/cell.h"
#include "limit/question.h"

namespace ratel {

/// A counter's state on loan from its store. `record` is used by sliding_log and concurrency only; decide() makes one
/// where it needs one. Where it leaves the cell fresh, nothing is left to keep, and the record is the store's to drop:
/// it may be large.
struct Slot {
  Cell* cell = nullptr;
  std::unique_ptr<Record>* record = nullptr;
};

/// The store's time. Calendar windows go by the wall clock, all else by a clock that never steps; see MemoryStore.
struct StoreTime {
  Micros now_us = 0;
  Micros calendar_us = 0;
};

/// REQUIRES: slots[i] is the state of question.charges[i]; the question is valid (gate/ checks).
/// A question that changes nothing leaves every state bit-identical, but for the repair of a faulty time (DESIGN:
/// Clock).
Answer decide(const Question& question, std::span<const Slot> slots, StoreTime time);

}  // namespace ratel
