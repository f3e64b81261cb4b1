#include "store/table.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/prng.h"

namespace ratel {
namespace {

constexpr Micros kNow_us = kDay_us;
const StoreClock kClock{{.monotonic_us = kNow_us, .wall_us = kNow_us}};

KeyHash hash_from(Prng& prng) {
  return {prng.next() | 1, prng.next() & ~std::uint64_t{1}};
}

void insert(Table& table, const KeyHash& hash, Micros until_us, Micros now_us = kNow_us) {
  {
    Bucket& bucket = table.bucket_of(hash);
    MutexLock lock(bucket.mutex);
    bucket.insert(table.context(now_us), {hash.order, hash.rest, {.until_us = until_us, .word = 0}});
  }
  table.after_insertion(hash, now_us);
}

bool contains(Table& table, const KeyHash& hash) {
  Bucket& bucket = table.bucket_of(hash);
  MutexLock lock(bucket.mutex);
  return bucket.find(table.pool(), hash) != nullptr;
}

TEST(Table, GrowsBucketByBucketWithinFortyBytesAKey) {
  Prng prng(1);
  Table table(std::size_t{256} << 20, kClock);
  std::vector<KeyHash> hashes;
  for (int i = 0; i < 100'000; ++i) {
    hashes.push_back(hash_from(prng));
    const std::uint32_t before = table.pool().in_use();
    insert(table, hashes.back(), kNow_us + kHour_us);
    ASSERT_LE(table.pool().in_use(), before + 6) << "no step does the work of many";
    if (i < 30'000 || i % 1'000 != 0) continue;
    const TableStats stats = table.stats();
    ASSERT_EQ(stats.entries, hashes.size());
    ASSERT_LE(static_cast<double>(stats.bytes) / static_cast<double>(stats.entries), 40.0) << i;
  }
  for (const KeyHash& hash : hashes) ASSERT_TRUE(contains(table, hash));
  EXPECT_FALSE(contains(table, hash_from(prng)));
  EXPECT_EQ(table.stats().live_evictions, 0u);
  EXPECT_GT(table.stats().splits, 200u);
}

TEST(Table, GoesBackToWhatItWasWhenAllIsSpent) {
  Prng prng(2);
  Table table(std::size_t{64} << 20, kClock);
  const TableStats empty = table.stats();
  std::vector<KeyHash> lasting;
  for (int i = 0; i < 100'000; ++i) {
    const KeyHash hash = hash_from(prng);
    if (i % 1'000 == 0) lasting.push_back(hash);
    insert(table, hash, kNow_us + (i % 1'000 == 0 ? kDay_us : kSecond_us));
  }
  const TableStats full = table.stats();
  // Each turn may merge one bucket a bucket tidied.
  for (int turn = 0; turn < 3; ++turn) table.tidy(kNow_us + kHour_us, static_cast<std::uint32_t>(full.buckets));
  const TableStats now = table.stats();
  EXPECT_EQ(now.entries, lasting.size());
  EXPECT_EQ(now.buckets, empty.buckets);
  EXPECT_EQ(now.splits, now.merges);
  EXPECT_LE(now.bytes, empty.bytes + SegmentPool::kRegionSegments * kSegment_bytes);
  EXPECT_LT(now.bytes, full.bytes / 2);
  for (const KeyHash& hash : lasting) EXPECT_TRUE(contains(table, hash));
}

TEST(Table, TidiesItselfAsNewKeysCome) {
  Prng prng(3);
  Table table(std::size_t{64} << 20, kClock);
  for (int i = 0; i < 100'000; ++i) insert(table, hash_from(prng), kNow_us + kSecond_us);
  const Micros later_us = kNow_us + kHour_us;
  for (int i = 0; i < 60'000; ++i) insert(table, hash_from(prng), later_us + kHour_us, later_us);
  EXPECT_LT(table.stats().entries, 70'000u) << "the old ones went though no bucket was full";
}

TEST(Table, StaysWithinItsMemory) {
  Prng prng(4);
  Table table(0, kClock);
  for (int i = 0; i < 100'000; ++i) {
    insert(table, hash_from(prng), kNow_us + kHour_us);
    ASSERT_LE(table.budget().used_bytes(), Table::kMaxMemoryMin_bytes);
  }
  const TableStats stats = table.stats();
  EXPECT_EQ(stats.max_bytes, Table::kMaxMemoryMin_bytes);
  EXPECT_GT(stats.entries, 20'000u) << "and uses it";
  EXPECT_EQ(stats.entries + stats.live_evictions, 100'000u);
}

}  // namespace
}  // namespace ratel
