#pragma once
// Which connections to look at, and when: a wheel of one-second slots. Pure; belongs to one event loop.
//
// An entry is visited no more than a second after the deadline it was given. Putting a deadline off, which happens with
// every byte that arrives, costs nothing: the owner notes its real deadline for itself, and schedules the entry again
// when it is visited too early.

#include <array>
#include <cstddef>
#include <limits>

#include "base/micros.h"

namespace ratel {

class Deadlines {
 public:
  static constexpr Micros kNone_us = std::numeric_limits<Micros>::max();

  /// Embedded in what has a deadline. Leaves the wheel when destroyed.
  class Entry {
   public:
    Entry() = default;
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() { unlink(); }

   private:
    friend class Deadlines;
    void unlink() {
      previous_->next_ = next_;
      next_->previous_ = previous_;
      previous_ = next_ = this;
      visit_us_ = kNone_us;
    }
    Entry* previous_ = this;
    Entry* next_ = this;
    Micros visit_us_ = kNone_us;
  };

  explicit Deadlines(Micros now_us) : second_(now_us / kSecond_us) {}

  /// Visits the entry no later than `due_us` (rounded up to a second), and no later than it would be already.
  void schedule(Entry& entry, Micros due_us) {
    if (due_us < entry.visit_us_) insert(entry, due_us);
  }

  /// Calls visit(entry) for each entry whose visit has come. The entry is out of the wheel then; visit may destroy it,
  /// or schedule it or others.
  template <typename Visit>
  void advance(Micros now_us, Visit visit) {
    const Micros target = now_us / kSecond_us;
    // After a long halt one round sees everything.
    if (target - second_ > Micros{kSlots}) second_ = target - Micros{kSlots};
    while (second_ < target) {
      Entry due;
      take(slots_[static_cast<std::size_t>(++second_) % kSlots], due);
      while (due.next_ != &due) {
        Entry& entry = *due.next_;
        entry.unlink();
        visit(entry);
      }
    }
  }

 private:
  static constexpr std::size_t kSlots = 512;  // deadlines further away are visited once a round

  void insert(Entry& entry, Micros due_us);
  static void take(Entry& from, Entry& to);

  Micros second_;  // all slots up to this one have been visited
  std::array<Entry, kSlots> slots_;
};

}  // namespace ratel
