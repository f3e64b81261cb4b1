// Many threads on one memory store; ThreadSanitizer runs these too.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "store/memory_store.h"
#include "store/store_testing.h"

namespace ratel {
namespace {

constexpr int kThreads = 4;

/// Runs `work(thread)` on all threads at once.
void race(const std::function<void(int)>& work) {
  std::atomic<int> waiting{kThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      work(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Invariant 17.
TEST(MemoryStoreThreads, AdmitExactlyTheLimit) {
  const LimitSpec specs[] = {
      {.count = 10, .period_us = kDay_us},
      {.algorithm = Algorithm::kFixedWindow, .count = 10, .period_us = kDay_us},
      {.algorithm = Algorithm::kSlidingWindow, .count = 10, .period_us = kDay_us},
      {.algorithm = Algorithm::kSlidingLog, .count = 10, .period_us = kDay_us},
      {.algorithm = Algorithm::kConcurrency, .count = 10},
  };
  for (const LimitSpec& spec : specs) {
    SCOPED_TRACE(name_of(spec.algorithm));
    const BoundLimit limit = bound(spec, "limit");
    MemoryStore store({.seed = kSeed, .start = at(kStart_us)});
    for (int round = 0; round < 100; ++round) {
      const std::string key = std::to_string(round);
      std::atomic<int> allowed{0};
      race([&](int thread) {
        for (int i = 0; i < 10; ++i) {
          const std::string lease = std::to_string(thread * 10 + i);
          Charge charge{.limit = &limit, .key = key};
          const bool leases = spec.algorithm == Algorithm::kConcurrency;
          const Answer answer = ask(store,
                                    {.verb = leases ? Verb::kAcquire : Verb::kAllow,
                                     .charges = {&charge, 1},
                                     .lease_id = lease,
                                     .lease_us = kDay_us},
                                    at(kStart_us));
          if (answer.decision.allowed) ++allowed;
        }
      });
      ASSERT_EQ(allowed, 10) << "round " << round;
    }
  }
}

// All or nothing, whatever the order in which the limits are named.
TEST(MemoryStoreThreads, ChargeSeveralCountersAtOnce) {
  const BoundLimit few = gcra(10, kDay_us, "few");
  const BoundLimit many = gcra(25, kDay_us, "many");
  const BoundLimit log = bound({.algorithm = Algorithm::kSlidingLog, .count = 15, .period_us = kDay_us}, "log");
  MemoryStore store({.seed = kSeed, .start = at(kStart_us)});
  for (int round = 0; round < 200; ++round) {
    const std::string one = "one" + std::to_string(round);
    const std::string two = "two" + std::to_string(round);
    std::atomic<int> allowed{0};
    race([&](int thread) {
      for (int i = 0; i < 10; ++i) {
        std::array<Charge, 3> charges{Charge{.limit = &few, .key = one}, Charge{.limit = &many, .key = two},
                                      Charge{.limit = &log, .key = one}};
        if (thread % 2 == 0) std::swap(charges[0], charges[1]);
        if (thread >= 2) std::swap(charges[0], charges[2]);
        if (ask(store, {.charges = charges}, at(kStart_us)).decision.allowed) ++allowed;
      }
    });
    ASSERT_EQ(allowed, 10);
    EXPECT_EQ(allow(store, few, one, kStart_us, 0).decision.remaining, 0);
    EXPECT_EQ(allow(store, many, two, kStart_us, 0).decision.remaining, 15);
    EXPECT_EQ(allow(store, log, one, kStart_us, 0).decision.remaining, 5);
  }
}

TEST(MemoryStoreThreads, LoseNothingWhileTheTableGrows) {
  constexpr int kKeys = 40'000;
  const BoundLimit limit = gcra(1, kDay_us);
  const BoundLimit log = bound({.algorithm = Algorithm::kSlidingLog, .count = 1, .period_us = kDay_us}, "log");
  MemoryStore store({.seed = kSeed, .max_memory_bytes = std::size_t{64} << 20, .start = at(kStart_us)});
  std::atomic<int> allowed{0};
  race([&](int thread) {
    for (int i = 0; i < kKeys; ++i) {
      // Each thread begins elsewhere, and every key is asked by all.
      const std::string key = std::to_string((i + thread * kKeys / kThreads) % kKeys);
      std::array<Charge, 2> charges{Charge{.limit = &limit, .key = key}, Charge{.limit = &log, .key = key}};
      const std::size_t count = key.back() == '7' ? 2 : 1;
      if (ask(store, {.charges = {charges.data(), count}}, at(kStart_us)).decision.allowed) ++allowed;
      if (thread == 0 && i % 100 == 0) store.tidy(at(kStart_us), 8);
    }
  });
  EXPECT_EQ(allowed, kKeys);
  const TableStats stats = store.stats();
  EXPECT_EQ(stats.entries, kKeys + kKeys / 10u);
  EXPECT_GT(stats.splits, 0u);
  EXPECT_EQ(stats.live_evictions, 0u);
}

// Whoever waits for a bucket while it is split or merged must look again where its key is now.
TEST(MemoryStoreThreads, LoseNothingWhileTheTableGrowsAndShrinks) {
  constexpr int kLasting = 500;
  const BoundLimit lasting = gcra(1, kDay_us, "lasting");
  const BoundLimit plenty = gcra(1'000'000'000, kDay_us, "plenty");
  const BoundLimit brief = gcra(1, kSecond_us, "brief");
  MemoryStore store({.seed = kSeed, .max_memory_bytes = std::size_t{64} << 20, .start = at(kStart_us)});
  const auto ask_both = [&](const std::string& key, Micros now_us) {
    std::array<Charge, 2> charges{Charge{.limit = &lasting, .key = key}, Charge{.limit = &plenty, .key = key}};
    return ask(store, {.charges = charges}, at(now_us)).decision.allowed;
  };
  for (int i = 0; i < kLasting; ++i) ASSERT_TRUE(ask_both(std::to_string(i), kStart_us));

  std::atomic<bool> over{false};
  std::atomic<int> allowed{0};
  race([&](int thread) {
    if (thread == 0) {
      for (int wave = 1; wave <= 5; ++wave) {
        const Micros now_us = kStart_us + wave * kMinute_us;
        for (int i = 0; i < 30'000; ++i) allow(store, brief, std::to_string(i), now_us);
        for (int i = 0; i < 300; ++i) store.tidy(at(now_us + kMinute_us / 2), 1);
      }
      over = true;
    }
    Prng prng(static_cast<std::uint64_t>(thread));
    while (!over) {
      const std::string key = std::to_string(prng.next() % kLasting);
      const bool both = prng.next() % 2 == 0;
      if (both ? ask_both(key, kStart_us) : allow(store, lasting, key, kStart_us).decision.allowed) ++allowed;
    }
  });
  EXPECT_EQ(allowed, 0) << "a debt was not found";
  const TableStats stats = store.stats();
  EXPECT_GT(stats.splits, 100u);
  EXPECT_GT(stats.merges, 100u);
  EXPECT_EQ(stats.live_evictions, 0u);
}

TEST(MemoryStoreThreads, KeepTheBoundInAFlood) {
  const BoundLimit plain = gcra(1, kDay_us);
  const BoundLimit log = bound({.algorithm = Algorithm::kSlidingLog, .count = 100, .period_us = kDay_us}, "log");
  MemoryStore store({.seed = kSeed, .max_memory_bytes = Table::kMaxMemoryMin_bytes, .start = at(kStart_us)});
  std::atomic<std::uint64_t> refused{0};
  race([&](int thread) {
    for (int i = 0; i < 10'000; ++i) {
      const std::string key = std::to_string(thread) + ":" + std::to_string(i);
      if (!allow(store, i % 3 == 0 ? log : plain, key, kStart_us + i).decision.allowed) ++refused;
    }
  });
  const TableStats stats = store.stats();
  EXPECT_LE(stats.bytes, stats.max_bytes);
  EXPECT_EQ(stats.entries + stats.live_evictions + stats.refusals, 40'000u);
  EXPECT_EQ(stats.refusals, refused);
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace ratel
