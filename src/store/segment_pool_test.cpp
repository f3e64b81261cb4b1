#include "store/segment_pool.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "store/bucket.h"

namespace ratel {
namespace {

constexpr std::size_t kRegion_bytes = SegmentPool::kRegionSegments * kSegment_bytes;

TEST(SegmentPool, HandsOutEachSegmentOnceUpToItsBudget) {
  Budget budget(4 * kRegion_bytes);
  SegmentPool pool(budget);
  std::set<std::uint32_t> all;
  for (;;) {
    const std::uint32_t segment = pool.allocate();
    if (segment == SegmentPool::kNone) break;
    EXPECT_TRUE(all.insert(segment).second);
    pool.entries(segment)[kSegmentEntries - 1].order = segment;
  }
  EXPECT_EQ(all.size(), 3.5 * SegmentPool::kRegionSegments) << "an eighth is for records";
  EXPECT_EQ(budget.used_bytes(), all.size() * kSegment_bytes);
  for (const std::uint32_t segment : all) EXPECT_EQ(pool.entries(segment)[kSegmentEntries - 1].order, segment);

  pool.free(17);
  EXPECT_EQ(pool.allocate(), 17u);
  EXPECT_EQ(pool.allocate(), SegmentPool::kNone);
}

TEST(SegmentPool, TakesNoMoreThanRecordsLeave) {
  Budget budget(4 * kRegion_bytes);
  SegmentPool pool(budget);
  constexpr std::size_t kRecords_bytes = 2 * kRegion_bytes - kSegment_bytes;
  EXPECT_TRUE(budget.take_record(kRecords_bytes));
  std::uint32_t taken = 0;
  while (pool.allocate() != SegmentPool::kNone) ++taken;
  EXPECT_EQ(taken, 2 * SegmentPool::kRegionSegments + 1);
  budget.resize_record(kRecords_bytes, 0);
  EXPECT_NE(pool.allocate(), SegmentPool::kNone);
}

TEST(Budget, LeavesHalfToTheTableAndAnEighthToRecords) {
  constexpr std::size_t kAll = 1600;
  Budget budget(kAll);
  EXPECT_EQ(budget.record_max_bytes(), kAll / 16);
  EXPECT_TRUE(budget.take_record(kAll / 2));
  EXPECT_FALSE(budget.take_record(1));
  EXPECT_EQ(budget.used_bytes(), kAll / 2) << "kept what it refused";
  EXPECT_TRUE(budget.take(kAll / 2));
  EXPECT_FALSE(budget.take(1));
  budget.resize_record(kAll / 2, 0);
  EXPECT_TRUE(budget.take(kAll * 3 / 8));
  EXPECT_FALSE(budget.take(1));
  EXPECT_TRUE(budget.take_record(kAll / 8));
  EXPECT_FALSE(budget.take_record(1));
  EXPECT_EQ(budget.used_bytes(), kAll);
}

TEST(SegmentPool, UsesLowRegionsFirstAndGivesEmptyOnesBack) {
  Budget budget(8 * kRegion_bytes);
  SegmentPool pool(budget);
  std::vector<std::uint32_t> held;
  for (std::uint32_t i = 0; i < 5 * SegmentPool::kRegionSegments; ++i) held.push_back(pool.allocate());
  const std::size_t most = budget.used_bytes();

  // The first region is freed: nothing can go back, and it is used again.
  for (std::uint32_t i = 0; i < SegmentPool::kRegionSegments; ++i) pool.free(held[i]);
  pool.give_back();
  EXPECT_EQ(budget.used_bytes(), most);
  EXPECT_TRUE(pool.is_misplaced(5 * SegmentPool::kRegionSegments + 512));
  EXPECT_FALSE(pool.is_misplaced(4 * SegmentPool::kRegionSegments - 1));
  const std::uint32_t low = pool.allocate();
  EXPECT_LT(low, SegmentPool::kRegionSegments);

  // All but that one are freed: four regions go back, and are as good as before.
  for (std::uint32_t i = SegmentPool::kRegionSegments; i < held.size(); ++i) pool.free(held[i]);
  pool.give_back();
  EXPECT_EQ(budget.used_bytes(), kRegion_bytes);
  std::set<std::uint32_t> again;
  for (std::uint32_t i = 0; i < 2 * SegmentPool::kRegionSegments; ++i) {
    const std::uint32_t segment = pool.allocate();
    EXPECT_TRUE(again.insert(segment).second);
    EXPECT_NE(segment, low);
    pool.entries(segment)[0].order = 1;
  }
}

TEST(ReservedMemory, CommitsAndDiscards) {
  constexpr std::size_t kStep = std::size_t{2} << 20;
  ReservedMemory memory(std::size_t{1} << 40);  // far more than any machine has
  ASSERT_GE(memory.size(), kStep);
  EXPECT_TRUE(memory.commit(1));
  EXPECT_TRUE(memory.commit(3 * kStep));
  for (const std::size_t at : {std::size_t{0}, kStep, 3 * kStep - 1}) {
    EXPECT_EQ(memory.data()[at], std::byte{0});
    memory.data()[at] = std::byte{7};
  }
  memory.discard(100, 2 * kStep - 100);
  EXPECT_EQ(memory.data()[0], std::byte{7}) << "only whole pages go";
  EXPECT_EQ(memory.data()[kStep], std::byte{0});
  EXPECT_EQ(memory.data()[3 * kStep - 1], std::byte{7});
  EXPECT_FALSE(memory.commit(memory.size() + 1));
}

}  // namespace
}  // namespace ratel
