#include "redis/request_queue.h"

#include <algorithm>

#include "base/check.h"

namespace ratel {

std::optional<RequestQueue::Place> RequestQueue::push(const Slot& slot, std::string_view bytes) {
  if (slot.own != 0 ? size() >= kLinkSlotsMax : !has_room(bytes.size())) return std::nullopt;
  Slot& place = this->slot(tail_);
  place = slot;
  place.bytes = static_cast<std::uint32_t>(bytes.size());
  place.taken_back = false;
  output_ += bytes;
  return tail_++;
}

RequestQueue::Cancelled RequestQueue::cancel(Place place) {
  CHECK(place < tail_);
  if (place < head_) return Cancelled::kGone;
  Slot& cancelled = slot(place);
  cancelled.receiver = nullptr;
  if (place < begun_) return Cancelled::kTombstone;
  cancelled.taken_back = true;
  has_taken_back_ = true;
  return Cancelled::kTakenBack;
}

std::string_view RequestQueue::unsent() {
  if (has_taken_back_) {
    std::size_t from = done_ + begun_left_;
    std::size_t to = from;
    for (Place place = begun_; place < tail_; ++place) {
      Slot& each = slot(place);
      const std::size_t bytes = each.bytes;
      if (each.taken_back) {
        each.bytes = 0;
      } else {
        std::copy_n(output_.begin() + static_cast<std::ptrdiff_t>(from), bytes,
                    output_.begin() + static_cast<std::ptrdiff_t>(to));
        to += bytes;
      }
      from += bytes;
    }
    output_.resize(to);
    has_taken_back_ = false;
    pass_taken_back();
  }
  return std::string_view(output_).substr(done_);
}

void RequestQueue::wrote(std::size_t bytes) {
  CHECK(!has_taken_back_ && bytes <= output_.size() - done_);
  done_ += bytes;
  std::size_t taken = std::min(bytes, begun_left_);
  begun_left_ -= taken;
  for (bytes -= taken; bytes > 0; bytes -= taken) {
    const std::size_t whole = slot(begun_++).bytes;
    taken = std::min(bytes, whole);
    begun_left_ = whole - taken;
  }
  if (done_ == output_.size() || done_ > kLinkUnsentBytesMax / 16) {
    output_.erase(0, done_);
    done_ = 0;
  }
  pass_taken_back();
}

/// Slots that were taken back before they were written have no reply to wait for.
void RequestQueue::pass_taken_back() {
  const auto is_empty = [&](Place place) { return slot(place).taken_back && slot(place).bytes == 0; };
  while (begun_ < tail_ && is_empty(begun_)) ++begun_;
  while (head_ < begun_ && slot(head_).taken_back) ++head_;
}

RequestQueue::Slot* RequestQueue::oldest() {
  pass_taken_back();
  return head_ < begun_ ? &slot(head_) : nullptr;
}

RequestQueue::Slot RequestQueue::pop() {
  CHECK(oldest() != nullptr);
  return slot(head_++);
}

bool RequestQueue::abandon(Slot& abandoned, bool& sent) {
  if (head_ == tail_) {
    begun_ = head_;
    begun_left_ = done_ = 0;
    output_.clear();
    if (output_.capacity() > kLinkUnsentBytesMax / 16) output_.shrink_to_fit();
    has_taken_back_ = false;
    return false;
  }
  sent = head_ < begun_ && !(head_ + 1 == begun_ && begun_left_ > 0);
  abandoned = slot(head_++);
  begun_ = std::max(begun_, head_);
  return true;
}

}  // namespace ratel
