#pragma once
// What is due when, to the millisecond: a wheel of slots. Nothing is allocated; setting and removing take the same
// short time however much is waiting. Belongs to one event loop. (Connections, whose deadlines are put off with every
// byte and need be kept to the second only, have net/deadlines.)

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/micros.h"

namespace ratel {

class DeadlineWheel {
 public:
  static constexpr Micros kNone_us = std::numeric_limits<Micros>::max();

  /// Embedded in what has a deadline. Leaves the wheel when destroyed.
  class Entry {
   public:
    Entry() = default;
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() { unlink(); }

    void unlink() {
      previous_->next_ = next_;
      next_->previous_ = previous_;
      previous_ = next_ = this;
    }

   private:
    friend class DeadlineWheel;
    Entry* previous_ = this;
    Entry* next_ = this;
    Micros due_us_ = 0;
  };

  /// Due no earlier, and no more than a millisecond later. Again for an entry that waits already: the new time counts.
  void set(Entry& entry, Micros due_us) {
    entry.unlink();
    entry.due_us_ = due_us;
    put(entry);
  }

  /// Calls visit(entry) for each that is due. The entry is out of the wheel then; visit may set and unlink any.
  template <typename Visit>
  void advance(Micros now_us, Visit visit) {
    const Micros target = now_us / kSlot_us;
    if (target - turned_ > Micros{kSlots}) turned_ = target - Micros{kSlots};  // one round sees everything
    while (turned_ < target) {
      const std::size_t index = static_cast<std::size_t>(++turned_) % kSlots;
      if ((used_[index / 64] >> index % 64 & 1U) == 0) continue;
      used_[index / 64] &= ~(std::uint64_t{1} << index % 64);
      Entry due;
      take(slots_[index], due);
      while (due.next_ != &due) {
        Entry& entry = *due.next_;
        entry.unlink();
        if (entry.due_us_ > now_us) {
          put(entry);  // from beyond the wheel
        } else {
          visit(entry);
        }
      }
    }
  }

  /// When to advance; perhaps earlier than need be.
  Micros next_us() const {
    for (std::size_t i = 1; i <= kSlots;) {
      const std::size_t index = (static_cast<std::size_t>(turned_) + i) % kSlots;
      const std::uint64_t word = used_[index / 64] >> index % 64;
      if (word == 0) {
        i += 64 - index % 64;
        continue;
      }
      i += static_cast<std::size_t>(std::countr_zero(word));
      return i <= kSlots ? (turned_ + static_cast<Micros>(i)) * kSlot_us : kNone_us;
    }
    return kNone_us;
  }

 private:
  static constexpr Micros kSlot_us = kMillisecond_us;
  static constexpr std::size_t kSlots = 1024;  // what is due later is looked at once a round

  void put(Entry& entry) {
    const Micros slot = std::clamp((entry.due_us_ + kSlot_us - 1) / kSlot_us, turned_ + 1, turned_ + Micros{kSlots});
    const std::size_t index = static_cast<std::size_t>(slot) % kSlots;
    used_[index / 64] |= std::uint64_t{1} << index % 64;
    Entry& head = slots_[index];
    entry.previous_ = head.previous_;
    entry.next_ = &head;
    head.previous_->next_ = &entry;
    head.previous_ = &entry;
  }

  static void take(Entry& from, Entry& to) {
    if (from.next_ == &from) return;
    to.next_ = from.next_;
    to.previous_ = from.previous_;
    to.next_->previous_ = to.previous_->next_ = &to;
    from.next_ = from.previous_ = &from;
  }

  Micros turned_ = 0;                              // all slots up to this one have been visited
  std::array<std::uint64_t, kSlots / 64> used_{};  // slots that may hold entries
  std::array<Entry, kSlots> slots_;
};

}  // namespace ratel
