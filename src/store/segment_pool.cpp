#include "store/segment_pool.h"

#include <algorithm>

#include "base/check.h"

namespace ratel {
namespace {
constexpr std::size_t kRegion_bytes = SegmentPool::kRegionSegments * kSegment_bytes;
// Segments are numbered in 32 bits, and kNone is none of theirs.
constexpr std::size_t kRegionsMax = (std::size_t{1} << 32) / SegmentPool::kRegionSegments - 2;
}  // namespace

SegmentPool::SegmentPool(Budget& budget)
    : budget_(budget),
      memory_(std::min(budget.max_bytes() / kRegion_bytes + 1, kRegionsMax) * kRegion_bytes),
      regions_(memory_.size() / kRegion_bytes) {}

std::uint32_t SegmentPool::allocate() {
  MutexLock lock(mutex_);
  while (lowest_ < regions_.size() && regions_[lowest_].used == kRegionSegments) ++lowest_;
  if (lowest_ == regions_.size()) return kNone;

  Region& region = regions_[lowest_];
  std::uint32_t segment = region.free;
  if (segment != kNone) {
    region.free = static_cast<std::uint32_t>(entries(segment)->order);
  } else {
    if (!budget_.take(kSegment_bytes)) return kNone;
    if (!memory_.commit((lowest_ + 1) * kRegion_bytes)) {
      budget_.give(kSegment_bytes);
      return kNone;
    }
    segment = lowest_ * kRegionSegments + region.touched++;
    end_ = std::max(end_, lowest_ + 1);
  }
  ++region.used;
  in_use_.fetch_add(1, std::memory_order_relaxed);
  return segment;
}

void SegmentPool::free(std::uint32_t segment) {
  MutexLock lock(mutex_);
  const std::uint32_t number = segment / kRegionSegments;
  Region& region = regions_[number];
  CHECK(region.used > 0);
  entries(segment)->order = region.free;
  region.free = segment;
  --region.used;
  lowest_ = std::min(lowest_, number);
  in_use_.fetch_sub(1, std::memory_order_relaxed);
}

void SegmentPool::give_back() {
  MutexLock lock(mutex_);
  while (end_ > 0 && regions_[end_ - 1].used == 0) {
    Region& region = regions_[--end_];
    memory_.discard(end_ * kRegion_bytes, kRegion_bytes);
    budget_.give(region.touched * kSegment_bytes);
    region = Region{};
  }
}

}  // namespace ratel
