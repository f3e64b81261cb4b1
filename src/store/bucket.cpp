#include "store/bucket.h"

#include <memory>
#include <utility>

#include "base/check.h"

namespace ratel {
namespace {

bool is_spent(const Entry& entry, const Bucket::Context& context) {
  return context.is_over(entry, kStale_us);
}

bool is_any(const Entry&) {
  return true;
}

}  // namespace

Reaper::~Reaper() {
  // One by one: a list that destroys itself goes as deep as it is long.
  MutexLock lock(mutex_);
  while (retired_ != nullptr) retired_ = std::move(retired_->next);
}

void Reaper::drop(Entry& entry) {
  if (!entry.holds_record()) return;
  retire(std::unique_ptr<Record>(reinterpret_cast<Record*>(std::exchange(entry.cell.word, 0))));
}

void Reaper::retire(std::unique_ptr<Record> record) {
  if (record == nullptr) return;
  if (record->bytes() <= kSmall_bytes) {
    budget_.resize_record(record->bytes(), 0);
    return;
  }
  MutexLock lock(mutex_);
  record->next = std::move(retired_);
  retired_ = std::move(record);
  has_work_.store(true, std::memory_order_relaxed);
}

void Reaper::work() {
  if (!has_work_.load(std::memory_order_relaxed)) return;
  std::unique_ptr<Record> record;
  {
    MutexLock lock(mutex_);
    if (retired_ == nullptr) return;
    record = std::move(retired_);
    retired_ = std::move(record->next);
    has_work_.store(retired_ != nullptr, std::memory_order_relaxed);
  }
  const std::size_t before_bytes = record->bytes();
  const bool is_empty = record->dismantle(kPieces);
  budget_.resize_record(before_bytes, is_empty ? 0 : record->bytes());
  if (!is_empty) retire(std::move(record));
}

void Reaper::evict(Entry& entry, bool is_alive) {
  if (is_alive) live_evictions_.fetch_add(1, std::memory_order_relaxed);
  drop(entry);
}

// The entries of a bucket in order, taken out of it while it is laid out anew. 30 KB of stack, of which no more is
// touched than there are entries.
struct Bucket::Sorted {
  std::uint32_t count = 0;
  alignas(Entry) std::array<std::byte, kPlacesMax * sizeof(Entry)> storage;

  Entry* entries() { return reinterpret_cast<Entry*>(storage.data()); }
  const Entry* entries() const { return reinterpret_cast<const Entry*>(storage.data()); }

  /// How many of them wrap around in so many places.
  std::uint32_t wrapped(std::uint32_t places) const {
    std::uint32_t wrapped = 0;
    for (;;) {
      // Those that wrap push the first ones on, which may make more wrap.
      std::uint32_t next = wrapped;
      for (std::uint32_t i = 0; i < count; ++i) next = std::max(next, home(entries()[i].order, places)) + 1;
      if (next <= places + wrapped) return wrapped;
      wrapped = next - places;
    }
  }
};

void Bucket::prefetch(const SegmentPool& pool, const KeyHash& hash) const {
  const std::uint32_t count = places();
  if (count == 0) return;  // merged away since it was looked up
  const std::uint32_t place = home(hash.order, count);
  const Entry* const entry = &at_place(pool, place);
  // As many lines as seven of eight searches need, as far as the segment goes.
  __builtin_prefetch(entry, 1);
  if (place % kSegmentEntries < kSegmentEntries - 2) __builtin_prefetch(entry + 2, 1);
  if (place % kSegmentEntries < kSegmentEntries - 4) __builtin_prefetch(entry + 4, 1);
}

bool Bucket::open(SegmentPool& pool) {
  if (!reserve(pool, 1)) return false;
  Sorted none;
  lay_out(pool, none, 1);
  return true;
}

std::uint32_t Bucket::position_of(const SegmentPool& pool, const KeyHash& hash) const {
  const std::uint32_t end = places() + wrapped_;
  std::uint32_t position = std::max<std::uint32_t>(home(hash.order, places()), wrapped_);
  while (position < end) {
    const Entry* entry = &at(pool, position);
    const std::uint32_t segment_end = std::min((position / kSegmentEntries + 1) * kSegmentEntries, end);
    for (; position < segment_end; ++position, ++entry) {
      // The order of an empty place is 0, so that less one it is the greatest: one comparison finds both ends.
      if (entry->order - 1 < hash.order - 1) continue;
      if (entry->order == hash.order && entry->rest < hash.rest) continue;
      return position;
    }
  }
  return end;
}

Entry* Bucket::find(const SegmentPool& pool, const KeyHash& hash) {
  const std::uint32_t position = position_of(pool, hash);
  // Behind the last wrapped one is a place that has nothing to do with this hash, and cannot be equal.
  Entry& entry = at(pool, position);
  return entry.order == hash.order && entry.rest == hash.rest ? &entry : nullptr;
}

bool Bucket::try_insert(const Context& context, const Entry& entry) {
  const std::uint32_t position = position_of(context.pool, {entry.order, entry.rest});
  const std::uint32_t end = position + places();
  // Positions can run on through the wrapped ones into the places of the first, all of which then move by one.
  const auto entry_at = [&](std::uint32_t i) -> Entry& {
    return at_place(context.pool, i < places() ? i : i < 2 * places() ? i - places() : i - 2 * places());
  };
  std::uint32_t hole = position;
  while (hole < end && !entry_at(hole).empty() && !is_spent(entry_at(hole), context)) ++hole;
  if (hole == end) return false;

  if (entry_at(hole).empty()) {
    if (entries() >= segments() * kFill) return false;
    entries_.store(static_cast<std::uint16_t>(entries() + 1), std::memory_order_relaxed);
  } else {
    context.reaper.drop(entry_at(hole));
  }
  if (hole >= places() + wrapped_) ++wrapped_;
  for (; hole > position; --hole) entry_at(hole) = entry_at(hole - 1);
  entry_at(position) = entry;
  return true;
}

void Bucket::insert(const Context& context, const Entry& entry) {
  while (!try_insert(context, entry)) make_room(context);
}

void Bucket::make_room(const Context& context) {
  const bool sweeps = drop_spent(context) > 0;
  std::uint32_t target = sweeps ? segments_for(entries()) : segments() + 1;
  if (target > segments() && (target > kSegmentsMax || !reserve(context.pool, target))) {
    if (!sweeps) {
      evict_nearest(context, std::clamp(entries() / 32, 1u, kEvictionsMax));
      return;
    }
    target = segments();
  }
  Sorted sorted;
  collect(context.pool, sorted, is_any);
  lay_out(context.pool, sorted, target);
}

void Bucket::evict_nearest(const Context& context, std::uint32_t count) {
  struct Victim {
    Micros until_us;
    KeyHash hash;
  };
  std::array<Victim, kEvictionsMax> victims;  // the nearest so far, in order
  std::uint32_t found = 0;
  for (std::uint32_t place = 0; place < places(); ++place) {
    const Entry& entry = at_place(context.pool, place);
    if (entry.empty()) continue;
    if (found == count && victims[found - 1].until_us <= entry.cell.until_us) continue;
    std::uint32_t rank = found < count ? found++ : found - 1;
    for (; rank > 0 && victims[rank - 1].until_us > entry.cell.until_us; --rank) victims[rank] = victims[rank - 1];
    victims[rank] = {entry.cell.until_us, {entry.order, entry.rest}};
  }
  for (std::uint32_t i = 0; i < found; ++i) {
    const std::uint32_t position = position_of(context.pool, victims[i].hash);
    Entry& victim = at(context.pool, position);
    context.reaper.evict(victim, !context.is_over(victim, 0));
    remove_at(context.pool, position);
  }
}

void Bucket::remove(const SegmentPool& pool, const Entry* entry) {
  remove_at(pool, position_of(pool, {entry->order, entry->rest}));
}

void Bucket::remove_at(const SegmentPool& pool, std::uint32_t position) {
  const std::uint32_t count = places();
  const std::uint32_t wrapped = wrapped_;
  const auto entry_at = [&](std::uint32_t i) -> Entry& {
    return at_place(pool, i < count ? i : i < 2 * count ? i - count : i - 2 * count);
  };
  // All that follow without a gap come down by one, up to the first that stands where its hash points to.
  std::uint32_t next = position + 1;
  for (; next < position + count && !entry_at(next).empty(); ++next) {
    const bool is_wrapped = next >= count && next < count + wrapped;
    const std::uint32_t place = next < count ? next : next - count;
    if (!is_wrapped && home(entry_at(next).order, count) == place) break;
    entry_at(next - 1) = entry_at(next);
  }
  entry_at(next - 1).order = 0;
  if (wrapped > 0 && (position >= count || next > count)) --wrapped_;
  entries_.store(static_cast<std::uint16_t>(entries() - 1), std::memory_order_relaxed);
}

std::uint32_t Bucket::drop_spent(const Context& context) {
  std::uint32_t dropped = 0;
  for (std::uint32_t i = 0; i < segments(); ++i) {
    Entry* const begin = &at_place(context.pool, i * kSegmentEntries);
    if (i + 1 < segments()) {
      // Segments lie anywhere, so that no hardware foresees the next.
      const std::byte* const next =
          reinterpret_cast<const std::byte*>(&at_place(context.pool, (i + 1) * kSegmentEntries));
      for (std::size_t line = 0; line < kSegment_bytes; line += 64) __builtin_prefetch(next + line, 1);
    }
    for (Entry* entry = begin; entry != begin + kSegmentEntries; ++entry) {
      if (entry->empty() || !is_spent(*entry, context)) continue;
      context.reaper.drop(*entry);
      entry->order = 0;
      ++dropped;
    }
  }
  entries_.store(static_cast<std::uint16_t>(entries() - dropped), std::memory_order_relaxed);
  return dropped;
}

template <typename Select>
void Bucket::collect(const SegmentPool& pool, Sorted& sorted, Select select) const {
  for (std::uint32_t position = wrapped_; position < places() + wrapped_; ++position) {
    const Entry& entry = at(pool, position);
    if (!entry.empty() && select(entry)) sorted.entries()[sorted.count++] = entry;
  }
}

bool Bucket::reserve(SegmentPool& pool, std::uint32_t segments) {
  const std::uint32_t held = this->segments();
  for (std::uint32_t i = held; i < segments; ++i) {
    const std::uint32_t added = pool.allocate();
    if (added == SegmentPool::kNone) {
      while (i-- > held) pool.free(segment_[i].load(std::memory_order_relaxed));
      return false;
    }
    segment_[i].store(added, std::memory_order_relaxed);
  }
  return true;
}

void Bucket::lay_out(SegmentPool& pool, const Sorted& sorted, std::uint32_t segments) {
  for (std::uint32_t i = segments; i < this->segments(); ++i) pool.free(segment_[i].load(std::memory_order_relaxed));
  segments_.store(static_cast<std::uint16_t>(segments), std::memory_order_relaxed);
  entries_.store(static_cast<std::uint16_t>(sorted.count), std::memory_order_relaxed);
  wrapped_ = static_cast<std::uint16_t>(sorted.wrapped(places()));

  std::uint32_t next = wrapped_;
  for (std::uint32_t i = 0; i < sorted.count; ++i) {
    const Entry& entry = sorted.entries()[i];
    for (const std::uint32_t wanted = home(entry.order, places()); next < wanted; ++next) at(pool, next).order = 0;
    at(pool, next++) = entry;
  }
  for (; next < places() + wrapped_; ++next) at(pool, next).order = 0;
}

void Bucket::sweep(const Context& context) {
  const std::uint32_t dropped = drop_spent(context);
  const std::uint32_t wanted = segments_for(entries());
  if (dropped == 0 && wanted >= segments()) return;
  Sorted sorted;
  collect(context.pool, sorted, is_any);
  lay_out(context.pool, sorted, std::min(wanted, segments()));
}

void Bucket::tidy(const Context& context) {
  sweep(context);
  for (std::uint32_t i = 0; i < segments(); ++i) {
    const std::uint32_t old = segment_[i].load(std::memory_order_relaxed);
    if (!context.pool.is_misplaced(old)) continue;
    const std::uint32_t better = context.pool.allocate();
    if (better == SegmentPool::kNone) return;
    std::copy_n(context.pool.entries(old), kSegmentEntries, context.pool.entries(better));
    segment_[i].store(better, std::memory_order_relaxed);
    context.pool.free(old);
  }
}

bool Bucket::split(const Context& context, std::uint64_t bit, Bucket& upper) {
  if (!upper.open(context.pool)) return false;
  const auto moves = [bit](const Entry& entry) { return (entry.rest & bit) != 0; };
  sweep(context);
  Sorted sorted;
  collect(context.pool, sorted, moves);
  const std::uint32_t target = segments_for(sorted.count);
  const bool moved = upper.reserve(context.pool, target);
  if (!moved) sorted.count = 0;
  upper.lay_out(context.pool, sorted, moved ? target : 0);
  if (!moved) return false;

  sorted.count = 0;
  collect(context.pool, sorted, [&](const Entry& entry) { return !moves(entry); });
  lay_out(context.pool, sorted, std::min(segments_for(sorted.count), segments()));
  return true;
}

void Bucket::merge(const Context& context, Bucket& upper) {
  for (std::uint32_t place = 0; place < upper.places(); ++place) {
    const Entry& entry = upper.at_place(context.pool, place);
    if (!entry.empty()) insert(context, entry);
  }
  Sorted none;
  upper.lay_out(context.pool, none, 0);
}

void Bucket::clear(const Context& context) {
  for (std::uint32_t place = 0; place < places(); ++place) {
    Entry& entry = at_place(context.pool, place);
    if (!entry.empty()) context.reaper.drop(entry);
  }
  Sorted none;
  lay_out(context.pool, none, 0);
}

}  // namespace ratel
