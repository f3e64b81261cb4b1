#include "store/table.h"

#include <algorithm>
#include <new>

#include "base/check.h"

namespace ratel {

Table::Table(std::size_t max_memory_bytes, const StoreClock& clock)
    : clock_(clock),
      budget_(std::max(max_memory_bytes, kMaxMemoryMin_bytes)),
      pool_(budget_),
      directory_((pool_.capacity() / kMeanSegments + kInitialBuckets) * sizeof(Bucket)),
      reaper_(budget_, live_evictions_) {
  MutexLock lock(resize_mutex_);
  CHECK(directory_.commit(kInitialBuckets * sizeof(Bucket)));
  for (; constructed_ < kInitialBuckets; ++constructed_) {
    Bucket* const made = new (&bucket(constructed_)) Bucket;
    MutexLock bucket_lock(made->mutex);
    CHECK(budget_.take(sizeof(Bucket)) && made->open(pool_));
  }
  count_.store(kInitialBuckets, std::memory_order_release);
}

Table::~Table() {
  for (std::uint32_t i = 0; i < count(); ++i) {
    Bucket& each = bucket(i);
    MutexLock lock(each.mutex);
    each.clear(context(0));
  }
}

void Table::work(const KeyHash& hash, Micros now_us) {
  // More than one insertion needs, so that the table catches up after splits that had to be skipped.
  for (int i = 0; i < 2 && pool_.in_use() > count() * kMeanSegments; ++i) split(now_us);
  if ((hash.order & kTidyMask) == 0) tidy(now_us, 1);
}

void Table::split(Micros now_us) {
  if (!resize_mutex_.try_lock()) return;  // another thread is at it
  const std::uint32_t index = count();
  const std::uint32_t level = std::bit_floor(index);
  const std::size_t directory_bytes = (index + std::size_t{1}) * sizeof(Bucket);
  if (directory_.commit(directory_bytes) && budget_.take(sizeof(Bucket))) {
    if (constructed_ == index) {
      new (&bucket(index)) Bucket;
      ++constructed_;
    }
    Bucket& lower = bucket(index - level);
    Bucket& upper = bucket(index);
    MutexLock lower_lock(lower.mutex);
    MutexLock upper_lock(upper.mutex);
    if (lower.split(context(now_us), std::uint64_t{level} << KeyHash::kKindBits, upper)) {
      count_.store(index + 1, std::memory_order_release);
      splits_.fetch_add(1, std::memory_order_relaxed);
    } else {
      budget_.give(sizeof(Bucket));
    }
  }
  resize_mutex_.unlock();
}

void Table::merge(Micros now_us) {
  if (!resize_mutex_.try_lock()) return;
  const std::uint32_t index = count() - 1;
  if (index >= kInitialBuckets) {
    Bucket& lower = bucket(index - std::bit_floor(index));
    Bucket& upper = bucket(index);
    MutexLock lower_lock(lower.mutex);
    MutexLock upper_lock(upper.mutex);
    lower.merge(context(now_us), upper);
    count_.store(index, std::memory_order_release);
    budget_.give(sizeof(Bucket));
    merges_.fetch_add(1, std::memory_order_relaxed);
  }
  resize_mutex_.unlock();
}

void Table::tidy(Micros now_us, std::uint32_t buckets) {
  for (std::uint32_t i = 0; i < buckets; ++i) {
    const std::uint32_t turn = next_to_tidy_.fetch_add(1, std::memory_order_relaxed);
    Bucket& each = bucket(turn % count());
    if (!each.mutex.try_lock()) continue;                 // it is in use, and gets its share of that
    if (each.segments() > 0) each.tidy(context(now_us));  // not merged away meanwhile
    each.mutex.unlock();
    if (pool_.in_use() < count() * kMergeSegments) merge(now_us);
    reaper_.work();
  }
  pool_.give_back();
}

TableStats Table::stats() const {
  TableStats stats;
  stats.buckets = count();
  for (std::uint32_t i = 0; i < stats.buckets; ++i) stats.entries += bucket(i).entries();
  stats.places = std::uint64_t{pool_.in_use()} * kSegmentEntries;
  stats.bytes = budget_.used_bytes();
  stats.max_bytes = budget_.max_bytes();
  stats.live_evictions = live_evictions_.load(std::memory_order_relaxed);
  stats.refusals = refusals_.load(std::memory_order_relaxed);
  stats.splits = splits_.load(std::memory_order_relaxed);
  stats.merges = merges_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace ratel
