#include "limit/sliding_log.h"

#include <algorithm>
#include <vector>

namespace ratel {

namespace {

/// The first index in first..end for which `holds`, which never turns false again; end where there is none.
template <typename Holds>
std::size_t first_where(std::size_t first, std::size_t end, Holds holds) {
  while (first < end) {
    const std::size_t middle = first + (end - first) / 2;
    if (holds(middle)) {
      end = middle;
    } else {
      first = middle + 1;
    }
  }
  return first;
}

}  // namespace

// Entries carry running totals instead of costs, so that what is used, and when enough of it ages out, are binary
// searches and a denied or peeked question never has to tidy up.
//
// They stand in blocks of one size, of which only the last may still grow, so that no step moves or frees more than a
// few blocks, however many entries age out together, and a short log takes no more than it needs.
class SlidingLog::Log final : public Record {
 public:
  struct Entry {
    Micros at_us;
    std::int64_t total;  // of this and all entries before it since the log began; wraps after 2^31 full windows
  };
  static constexpr std::size_t kBlockEntries = 1024;

  std::size_t bytes() const override {
    const std::size_t entries = blocks_.size() > 1 ? blocks_.size() * kBlockEntries
                                : blocks_.empty()  ? 0
                                                   : blocks_.front().capacity();
    return sizeof(*this) + blocks_.capacity() * sizeof(Block) + entries * sizeof(Entry);
  }

  /// After forgetting the entries before `first` and adding one. Not less than it will be.
  std::size_t bytes_after_push(std::size_t first) const {
    const std::size_t which = end_ / kBlockEntries;
    if (blocks_.size() == 1 && which == 0) {
      const bool grows = end_ == blocks_.front().capacity() && 2 * first < end_;
      return bytes() + (grows ? end_ : 0) * sizeof(Entry);
    }
    const std::size_t freed = std::min<std::size_t>(kFreedMax, first / kBlockEntries);
    std::size_t after = bytes() - (blocks_.size() > 1 ? freed * kBlockEntries * sizeof(Entry) : 0);
    if (which == blocks_.size()) {
      if (which == blocks_.capacity()) after += std::max<std::size_t>(which, 1) * sizeof(Block);
      after += (which > 0 ? kBlockEntries : 1) * sizeof(Entry);
    }
    return after;
  }

  bool dismantle(std::size_t pieces) override {
    for (; pieces > 0 && !blocks_.empty(); --pieces) blocks_.pop_back();
    return blocks_.empty();
  }

  bool empty() const { return end_ == 0; }
  std::size_t begin() const { return begin_; }
  std::size_t end() const { return end_; }
  Entry& operator[](std::size_t i) { return blocks_[i / kBlockEntries][i % kBlockEntries]; }
  const Entry& operator[](std::size_t i) const { return blocks_[i / kBlockEntries][i % kBlockEntries]; }
  Entry& back() { return (*this)[end_ - 1]; }
  const Entry& back() const { return (*this)[end_ - 1]; }
  std::int64_t total_before(std::size_t i) const { return i == 0 ? erased_ : (*this)[i - 1].total; }

  void push_back(Entry entry) {
    const std::size_t which = end_ / kBlockEntries;
    if (which == blocks_.size()) {
      blocks_.emplace_back();
      if (which > 0) blocks_.back().reserve(kBlockEntries);
    }
    Block& block = blocks_[which];
    block.resize(end_ % kBlockEntries);  // where more was cut off
    block.push_back(entry);
    ++end_;
  }
  void cut_off(std::size_t end) { end_ = end; }

  /// Forgets the entries before `first`, and frees some of what is not needed. Returns how many entries were erased,
  /// by which all indices are less from then on.
  std::size_t forget(std::size_t first) {
    begin_ = first;
    std::size_t erased = 0;
    for (int i = 0; i < kFreedMax && blocks_.size() > 1; ++i) {
      if (begin_ >= kBlockEntries) {
        erased += erase_front(kBlockEntries);
        blocks_.erase(blocks_.begin());
      } else if (end_ <= (blocks_.size() - 1) * kBlockEntries) {
        blocks_.pop_back();
      }
    }
    if (blocks_.size() == 1 && 2 * begin_ >= end_) {
      blocks_.front().resize(end_);
      const std::size_t gone = erase_front(begin_);
      blocks_.front().erase(blocks_.front().begin(), blocks_.front().begin() + static_cast<std::ptrdiff_t>(gone));
      erased += gone;
    }
    return erased;
  }

 private:
  using Block = std::vector<Entry>;
  /// Of blocks, at a time: more than any one question adds.
  static constexpr int kFreedMax = 2;

  std::size_t erase_front(std::size_t entries) {
    erased_ = total_before(entries);
    begin_ -= entries;
    end_ -= entries;
    return entries;
  }

  std::vector<Block> blocks_;
  std::size_t begin_ = 0;  // entries before it are forgotten
  std::size_t end_ = 0;
  std::int64_t erased_ = 0;  // total of what was erased
};

SlidingLog::SlidingLog(const Limit& limit, Cell& cell, std::unique_ptr<Record>& record, Micros now_us)
    : limit_(limit), cell_(cell), record_(record), now_us_(now_us) {
  // Identity keeps algorithms apart, so a record under a sliding log's cell is a log. One whose entries are all over
  // is used on: to free it at once could take long.
  if (cell.until_us != Cell::kFresh_us) log_ = static_cast<Log*>(record.get());
  if (log_ != nullptr) read();
}

void SlidingLog::read() {
  // A clock behind the newest entry finds nothing that the entry outlived: charging it forgot that.
  const Micros horizon_us = now_us_ - limit_.period_us;
  first_ = first_where(log_->begin(), log_->end(), [&](std::size_t i) { return (*log_)[i].at_us > horizon_us; });
  used_ = log_->total_before(log_->end()) - log_->total_before(first_);
}

std::int64_t SlidingLog::remaining() const {
  return std::max<std::int64_t>(0, limit_.capacity - used_);
}

Micros SlidingLog::wait_us(std::int64_t cost) const {
  if (cost == 0) return 0;
  if (cost > limit_.capacity) return kNever_us;
  if (cost <= remaining()) return 0;
  const std::int64_t enough = log_->total_before(first_) + used_ + cost - limit_.capacity;
  const std::size_t last = first_where(first_, log_->end(), [&](std::size_t i) { return (*log_)[i].total >= enough; });
  return (*log_)[last].at_us + limit_.period_us - now_us_;
}

std::size_t SlidingLog::bytes_after(std::int64_t) const {
  if (log_ == nullptr) return Log().bytes_after_push(0);
  return !log_->empty() && log_->back().at_us >= now_us_ ? log_->bytes() : log_->bytes_after_push(first_);
}

Micros SlidingLog::reset_after_us() const {
  return used_ > 0 ? cell_.until_us - now_us_ : 0;
}

void SlidingLog::charge(std::int64_t cost) {
  if (cost == 0) return;
  if (log_ == nullptr) {
    auto fresh = std::make_unique<Log>();
    log_ = fresh.get();
    record_ = std::move(fresh);
    first_ = 0;
  } else {
    forget_expired();
  }
  const std::int64_t total = log_->total_before(log_->end()) + cost;
  if (!log_->empty() && log_->back().at_us >= now_us_) {
    log_->back().total = total;
  } else {
    log_->push_back({.at_us = now_us_, .total = total});
  }
  used_ += cost;
  cell_ = {.until_us = log_->back().at_us + limit_.period_us, .word = 0};
}

void SlidingLog::refund(std::int64_t cost) {
  if (cost == 0 || used_ == 0) return;
  if (cost >= used_) return reset();
  used_ -= cost;
  const std::int64_t total = log_->back().total - cost;
  const std::size_t last = first_where(first_, log_->end(), [&](std::size_t i) { return (*log_)[i].total >= total; });
  log_->cut_off(last + 1);
  log_->back().total = total;
  forget_expired();
  cell_ = {.until_us = log_->back().at_us + limit_.period_us, .word = 0};
}

void SlidingLog::reset() {
  log_ = nullptr;
  used_ = 0;
  cell_ = Cell{};
}

void SlidingLog::forget_expired() {
  first_ -= log_->forget(first_);
}

}  // namespace ratel
