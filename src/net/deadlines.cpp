#include "net/deadlines.h"

#include <algorithm>

namespace ratel {

void Deadlines::insert(Entry& entry, Micros due_us) {
  entry.unlink();
  const Micros second =
      std::clamp(ceil_div(std::max<Micros>(due_us, 0), kSecond_us), second_ + 1, second_ + Micros{kSlots} - 1);
  Entry& slot = slots_[static_cast<std::size_t>(second) % kSlots];
  entry.previous_ = slot.previous_;
  entry.next_ = &slot;
  slot.previous_->next_ = &entry;
  slot.previous_ = &entry;
  entry.visit_us_ = second * kSecond_us;
}

void Deadlines::take(Entry& from, Entry& to) {
  if (from.next_ == &from) return;
  to.next_ = from.next_;
  to.previous_ = from.previous_;
  to.next_->previous_ = &to;
  to.previous_->next_ = &to;
  from.previous_ = from.next_ = &from;
}

}  // namespace ratel
