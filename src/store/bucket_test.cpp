#include "store/bucket.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "base/prng.h"

namespace ratel {
namespace {

constexpr Micros kNow_us = kDay_us;
constexpr Micros kLive_us = kNow_us + kHour_us;
constexpr Micros kSpent_us = kNow_us - kStale_us - 1;

/// A bucket with a pool of its own.
class Fixture {
 public:
  explicit Fixture(std::size_t segments = 1024) : budget_(segments * kSegment_bytes * 8 / 7 + 8), pool_(budget_) {
    MutexLock lock(bucket.mutex);
    EXPECT_TRUE(bucket.open(pool_));
  }
  ~Fixture() {
    MutexLock lock(bucket.mutex);
    bucket.clear(context());
  }

  Bucket::Context context(Micros now_us = kNow_us) { return {pool_, reaper_, {.now_us = now_us}}; }
  SegmentPool& pool() { return pool_; }
  std::uint64_t live_evictions() const { return live_evictions_; }

  Bucket bucket;

 private:
  Budget budget_;
  SegmentPool pool_;
  std::atomic<std::uint64_t> live_evictions_{0};
  Reaper reaper_{budget_, live_evictions_};
};

Entry entry(std::uint64_t order, std::uint64_t rest, Micros until_us = kLive_us) {
  return {order | 1, rest & ~std::uint64_t{1}, {.until_us = until_us, .word = order ^ rest}};
}

/// How hashes are spread; where they point to the last places, entries wrap around.
struct Spread {
  const char* what;
  std::function<std::uint64_t(Prng&)> order;
};

const Spread kSpreads[] = {
    {"evenly", [](Prng& prng) { return prng.next(); }},
    {"all at the end", [](Prng& prng) { return ~std::uint64_t{0} - prng.next() % 1'000'000; }},
    {"all at the start", [](Prng& prng) { return prng.next() % 1'000'000; }},
    {"in two heaps", [](Prng& prng) { return (prng.next() >> 8) | (prng.next() % 2 == 0 ? 0xff00000000000000 : 0); }},
    {"few orders, that many share", [](Prng& prng) { return (prng.next() % 5) << 61; }},
};

TEST(Bucket, HoldsWhatAMapHolds) {
  for (const Spread& spread : kSpreads) {
    for (const std::size_t most : {20u, 100u, 700u}) {
      SCOPED_TRACE(std::string(spread.what) + ", at most " + std::to_string(most));
      Prng prng(11);
      Fixture fixture;
      Bucket& bucket = fixture.bucket;
      MutexLock lock(bucket.mutex);
      std::map<std::pair<std::uint64_t, std::uint64_t>, Entry> model;
      for (int i = 0; i < 8'000; ++i) {
        const bool removes = !model.empty() && (model.size() == most || prng.next() % 3 == 0);
        if (removes) {
          auto victim = model.lower_bound({spread.order(prng), 0});
          if (victim == model.end()) victim = model.begin();
          Entry* const found = bucket.find(fixture.pool(), {victim->first.first, victim->first.second});
          ASSERT_NE(found, nullptr);
          bucket.remove(fixture.pool(), found);
          model.erase(victim);
        } else {
          const Entry added = entry(spread.order(prng), prng.next());
          if (!model.try_emplace({added.order, added.rest}, added).second) continue;
          bucket.insert(fixture.context(), added);
        }
        if (prng.next() % 500 == 0) bucket.tidy(fixture.context());
        ASSERT_EQ(bucket.entries(), model.size());
        if (i % 100 != 0) continue;
        for (const auto& [hash, expected] : model) {
          const Entry* const found = bucket.find(fixture.pool(), {hash.first, hash.second});
          ASSERT_NE(found, nullptr) << "after step " << i;
          ASSERT_EQ(found->cell.word, expected.cell.word);
          ASSERT_EQ(bucket.find(fixture.pool(), {hash.first, hash.second ^ 2}), nullptr);
        }
      }
      EXPECT_EQ(fixture.live_evictions(), 0u);
    }
  }
}

TEST(Bucket, ReplacesTheSpentBeforeItGrows) {
  for (const Spread& spread : kSpreads) {
    SCOPED_TRACE(spread.what);
    Prng prng(3);
    Fixture fixture;
    Bucket& bucket = fixture.bucket;
    MutexLock lock(bucket.mutex);
    std::map<std::pair<std::uint64_t, std::uint64_t>, bool> live;
    for (int i = 0; i < 10'000; ++i) {
      const bool lives = i < 100;
      const Entry added = entry(spread.order(prng), prng.next(), lives ? kLive_us : kSpent_us);
      if (bucket.find(fixture.pool(), {added.order, added.rest}) != nullptr) continue;
      if (lives) live[{added.order, added.rest}] = true;
      bucket.insert(fixture.context(), added);
    }
    EXPECT_LE(bucket.segments(), 6u) << "100 live entries, and as few spent ones as the places that they leave";
    for (const auto& [hash, yes] : live) ASSERT_NE(bucket.find(fixture.pool(), {hash.first, hash.second}), nullptr);
    bucket.tidy(fixture.context());
    EXPECT_EQ(bucket.entries(), live.size());
    EXPECT_LE(bucket.segments(), 4u);
    EXPECT_EQ(fixture.live_evictions(), 0u);
  }
}

TEST(Bucket, KeepsWhatAThreadWithALateClockMayStillNeed) {
  Fixture fixture;
  MutexLock lock(fixture.bucket.mutex);
  fixture.bucket.insert(fixture.context(), entry(1, 2, kNow_us - kStale_us));
  fixture.bucket.insert(fixture.context(), entry(1, 4, kSpent_us));
  fixture.bucket.tidy(fixture.context());
  EXPECT_NE(fixture.bucket.find(fixture.pool(), {1, 2}), nullptr);
  EXPECT_EQ(fixture.bucket.find(fixture.pool(), {1, 4}), nullptr);
}

TEST(Bucket, EvictsInOrderOfFreshnessWhereMemoryEnds) {
  for (const Spread& spread : kSpreads) {
    SCOPED_TRACE(spread.what);
    Prng prng(5);
    Fixture fixture(3);
    Bucket& bucket = fixture.bucket;
    MutexLock lock(bucket.mutex);
    constexpr std::uint32_t kRoom = 3 * Bucket::kFill;
    constexpr std::uint32_t kAtOnce = kRoom / 32;
    std::multimap<Micros, KeyHash> model;
    for (int i = 0; i < 1'000; ++i) {
      const Entry added = entry(spread.order(prng), prng.next(), kLive_us + static_cast<Micros>(prng.next() % 100'000));
      if (bucket.find(fixture.pool(), {added.order, added.rest}) != nullptr) continue;
      if (model.size() == kRoom) model.erase(model.begin(), std::next(model.begin(), kAtOnce));
      model.emplace(added.cell.until_us, KeyHash{added.order, added.rest});
      bucket.insert(fixture.context(), added);
      ASSERT_EQ(bucket.entries(), model.size());
      for (const auto& [until_us, hash] : model) ASSERT_NE(bucket.find(fixture.pool(), hash), nullptr);
    }
    EXPECT_EQ(bucket.segments(), 3u);
    EXPECT_GT(fixture.live_evictions(), 800u);
  }
}

TEST(Bucket, EvictsWhereNoSegmentsAreLeftToIt) {
  Prng prng(5);
  Fixture fixture;
  MutexLock lock(fixture.bucket.mutex);
  constexpr std::uint32_t kRoom = Bucket::kSegmentsMax * Bucket::kFill;
  for (std::uint32_t i = 0; i < kRoom + 2 * Bucket::kEvictionsMax; ++i)
    fixture.bucket.insert(fixture.context(), entry(prng.next(), prng.next()));
  EXPECT_EQ(fixture.bucket.entries(), kRoom);
  EXPECT_EQ(fixture.live_evictions(), 2u * Bucket::kEvictionsMax);
}

TEST(Bucket, SplitsAndMerges) {
  for (const Spread& spread : kSpreads) {
    for (const int count : {0, 1, 50, 800}) {
      SCOPED_TRACE(std::string(spread.what) + ", " + std::to_string(count));
      Prng prng(5);
      Fixture fixture;
      Bucket& lower = fixture.bucket;
      Bucket upper;
      MutexLock lower_lock(lower.mutex);
      MutexLock upper_lock(upper.mutex);
      std::map<std::pair<std::uint64_t, std::uint64_t>, bool> model;
      constexpr std::uint64_t kBit = 1 << 7;
      for (int i = 0; i < count; ++i) {
        const Entry added = entry(spread.order(prng), prng.next());
        if (model.try_emplace({added.order, added.rest}, true).second) lower.insert(fixture.context(), added);
      }
      ASSERT_TRUE(lower.split(fixture.context(), kBit, upper));
      EXPECT_EQ(lower.entries() + upper.entries(), model.size());
      for (const auto& [hash, yes] : model) {
        const bool moved = (hash.second & kBit) != 0;
        ASSERT_EQ(upper.find(fixture.pool(), {hash.first, hash.second}) != nullptr, moved);
        ASSERT_EQ(lower.find(fixture.pool(), {hash.first, hash.second}) != nullptr, !moved);
      }
      EXPECT_GE(lower.segments(), 1u);
      EXPECT_GE(upper.segments(), 1u);

      lower.merge(fixture.context(), upper);
      EXPECT_EQ(lower.entries(), model.size());
      EXPECT_EQ(upper.segments(), 0u);
      for (const auto& [hash, yes] : model) ASSERT_NE(lower.find(fixture.pool(), {hash.first, hash.second}), nullptr);
      upper.prefetch(fixture.pool(), {1, 2});  // as a thread would that looked it up before
    }
  }
}

TEST(Bucket, DoesNotSplitWithoutMemory) {
  struct Case {
    const char* what;
    std::size_t segments;
    std::uint32_t entries;
  };
  for (const Case& c : {Case{"not a segment", 2, 50}, Case{"a segment, where two are needed", 5, 110}}) {
    SCOPED_TRACE(c.what);
    Prng prng(5);
    Fixture fixture(c.segments);
    Bucket upper;
    MutexLock lower_lock(fixture.bucket.mutex);
    MutexLock upper_lock(upper.mutex);
    for (std::uint32_t i = 0; i < c.entries; ++i)
      fixture.bucket.insert(fixture.context(), entry(prng.next(), prng.next()));
    const std::uint32_t used = fixture.pool().in_use();
    EXPECT_FALSE(fixture.bucket.split(fixture.context(), 2, upper));
    EXPECT_EQ(fixture.bucket.entries(), c.entries);
    EXPECT_EQ(upper.entries(), 0u);
    EXPECT_EQ(upper.segments(), 0u);
    EXPECT_EQ(fixture.pool().in_use(), used);
  }
}

/// A record that says when it is gone.
class Witness final : public Record {
 public:
  explicit Witness(int& alive, std::size_t bytes = 100) : alive_(alive), bytes_(bytes) { ++alive_; }
  ~Witness() override { --alive_; }
  std::size_t bytes() const override { return bytes_; }
  bool dismantle(std::size_t pieces) override {
    bytes_ -= std::min(bytes_, pieces);
    return bytes_ == 0;
  }

 private:
  int& alive_;
  std::size_t bytes_;
};

TEST(Bucket, FreesRecords) {
  int alive = 0;
  const auto with_record = [&](std::uint64_t order, Micros until_us) {
    Entry made = entry(order, 1, until_us);
    made.rest |= 1;
    made.cell.word = reinterpret_cast<std::uint64_t>(static_cast<Record*>(new Witness(alive)));
    return made;
  };
  {
    Fixture fixture;
    Bucket& bucket = fixture.bucket;
    MutexLock lock(bucket.mutex);
    bucket.insert(fixture.context(), with_record(1, kSpent_us));
    bucket.insert(fixture.context(), with_record(3, kLive_us));
    bucket.insert(fixture.context(), with_record(5, kLive_us + 1));
    bucket.tidy(fixture.context());
    EXPECT_EQ(alive, 2) << "tidying frees the spent";
    bucket.insert(fixture.context(), with_record(9, kSpent_us));
    EXPECT_EQ(alive, 3);
    bucket.insert(fixture.context(), entry(9, 0));
    EXPECT_EQ(alive, 2) << "what takes its place frees it";
    bucket.insert(fixture.context(), with_record(11, kLive_us));
  }
  EXPECT_EQ(alive, 0) << "the end of the store frees all";
}

TEST(Reaper, FreesALargeRecordInStepsThatStayCounted) {
  int alive = 0;
  Budget budget(1 << 20);
  std::atomic<std::uint64_t> live_evictions{0};
  {
    Reaper reaper(budget, live_evictions);
    const auto retire = [&](std::size_t bytes) {
      budget.resize_record(0, bytes);
      reaper.retire(std::make_unique<Witness>(alive, bytes));
    };
    retire(100);
    EXPECT_EQ(alive, 0) << "small ones go at once";
    EXPECT_EQ(budget.used_bytes(), 0u);
    retire(100'000);
    retire(200'000);
    EXPECT_EQ(alive, 2);
    EXPECT_EQ(budget.used_bytes(), 300'000u);
    int steps = 0;
    for (; budget.used_bytes() > 0; ++steps) {
      const std::size_t before = budget.used_bytes();
      reaper.work();
      ASSERT_LT(budget.used_bytes(), before);
      EXPECT_GE(budget.used_bytes() + 5'000, before) << "a step with no bound";
    }
    EXPECT_EQ(alive, 0);
    EXPECT_GT(steps, 4'000);
    for (int i = 0; i < 50'000; ++i) retire(5'000);
  }
  EXPECT_EQ(alive, 0) << "the end of the store frees all";
}

}  // namespace
}  // namespace ratel
