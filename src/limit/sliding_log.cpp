#include "limit/sliding_log.h"

#include <algorithm>

namespace ratel {

// Entries carry running totals instead of costs, so that what is used, and when enough of it ages out, are binary
// searches and a denied or peeked question never has to tidy up.
class SlidingLog::Log final : public Record {
 public:
  struct Entry {
    Micros at_us;
    std::int64_t total;  // of this and all entries before it since the log began; wraps after 2^31 full windows
  };

  std::size_t bytes() const override { return sizeof(*this) + entries.capacity() * sizeof(Entry); }

  std::int64_t total_before(std::size_t i) const { return i == 0 ? forgotten : entries[i - 1].total; }

  std::vector<Entry> entries;  // by time
  std::size_t begin = 0;       // entries before it are forgotten; erased once they are half of the vector
  std::int64_t forgotten = 0;  // total of what was erased
};

SlidingLog::SlidingLog(const Limit& limit, Cell& cell, std::unique_ptr<Record>& record, Micros now_us)
    : limit_(limit), cell_(cell), record_(record), now_us_(now_us) {
  // Identity keeps algorithms apart, so a record under a sliding log's cell is a log.
  if (cell.until_us > now_us) log_ = static_cast<Log*>(record.get());
  if (log_ != nullptr) read();
}

void SlidingLog::read() {
  // A clock behind the newest entry finds nothing that the entry outlived: charging it forgot that.
  const Micros horizon_us = now_us_ - limit_.period_us;
  const auto first =
      std::upper_bound(log_->entries.begin() + static_cast<std::ptrdiff_t>(log_->begin), log_->entries.end(),
                       horizon_us, [](Micros us, const Log::Entry& entry) { return us < entry.at_us; });
  first_ = static_cast<std::size_t>(first - log_->entries.begin());
  used_ = log_->entries.back().total - log_->total_before(first_);
}

std::int64_t SlidingLog::remaining() const {
  return std::max<std::int64_t>(0, limit_.capacity - used_);
}

Micros SlidingLog::wait_us(std::int64_t cost) const {
  if (cost == 0) return 0;
  if (cost > limit_.capacity) return kNever_us;
  if (cost <= remaining()) return 0;
  const std::int64_t enough = log_->total_before(first_) + used_ + cost - limit_.capacity;
  const auto last =
      std::lower_bound(log_->entries.begin() + static_cast<std::ptrdiff_t>(first_), log_->entries.end(), enough,
                       [](const Log::Entry& entry, std::int64_t total) { return entry.total < total; });
  return last->at_us + limit_.period_us - now_us_;
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
  auto& entries = log_->entries;
  const std::int64_t total = log_->total_before(entries.size()) + cost;
  if (!entries.empty() && entries.back().at_us >= now_us_) {
    entries.back().total = total;
  } else {
    entries.push_back({.at_us = now_us_, .total = total});
  }
  used_ += cost;
  cell_ = {.until_us = entries.back().at_us + limit_.period_us, .word = 0};
}

void SlidingLog::refund(std::int64_t cost) {
  if (cost == 0 || used_ == 0) return;
  if (cost >= used_) return reset();
  forget_expired();
  used_ -= cost;
  auto& entries = log_->entries;
  const std::int64_t total = entries.back().total - cost;
  while (log_->total_before(entries.size() - 1) >= total) entries.pop_back();
  entries.back().total = total;
  cell_ = {.until_us = entries.back().at_us + limit_.period_us, .word = 0};
}

void SlidingLog::reset() {
  log_ = nullptr;
  record_.reset();
  used_ = 0;
  cell_ = Cell{};
}

void SlidingLog::forget_expired() {
  log_->begin = first_;
  if (2 * first_ < log_->entries.size()) return;
  log_->forgotten = log_->total_before(first_);
  log_->entries.erase(log_->entries.begin(), log_->entries.begin() + static_cast<std::ptrdiff_t>(first_));
  log_->begin = 0;
  first_ = 0;
}

}  // namespace ratel
