#include "store/memory_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "store/store_testing.h"

namespace ratel {
namespace {

TEST(MemoryStore, KeepsIdentitiesAndKeysApart) {
  struct Case {
    const char* identity;
    const char* key;
  };
  const Case cases[] = {{"a", "bc"},  {"ab", "c"},  {"abc", ""},   {"", "abc"},
                        {"a:b", "c"}, {"a", "b:c"}, {"{a}", "bc"}, {"bc", "a"}};
  MemoryStore store({.seed = kSeed, .start = at(kStart_us)});
  std::vector<BoundLimit> limits;
  for (const Case& c : cases) limits.push_back(gcra(1, kDay_us, c.identity));
  for (std::size_t i = 0; i < limits.size(); ++i) {
    EXPECT_TRUE(allow(store, limits[i], cases[i].key, kStart_us).decision.allowed) << cases[i].identity;
  }
  for (std::size_t i = 0; i < limits.size(); ++i) {
    EXPECT_FALSE(allow(store, limits[i], cases[i].key, kStart_us).decision.allowed) << cases[i].identity;
  }
  EXPECT_EQ(store.stats().entries, limits.size());
}

TEST(MemoryStore, KeepsNothingOfQuestionsThatChangeNothing) {
  const BoundLimit limit = gcra(5, kMinute_us);
  const BoundLimit leases = bound({.algorithm = Algorithm::kConcurrency, .count = 1}, "leases");
  struct Case {
    const char* what;
    const BoundLimit& limit;
    Verb verb;
    std::int64_t cost;
  };
  const Case cases[] = {
      {"peek", limit, Verb::kPeek, 1},        {"cost 0", limit, Verb::kAllow, 0},
      {"denied", limit, Verb::kAllow, 6},     {"refund of an unknown key", limit, Verb::kRefund, 1},
      {"reset", limit, Verb::kReset, 1},      {"peek at leases", leases, Verb::kPeek, 1},
      {"release", leases, Verb::kRelease, 1}, {"denied lease", leases, Verb::kAcquire, 2},
  };
  MemoryStore store({.seed = kSeed, .start = at(kStart_us)});
  const std::uint64_t bytes = store.stats().bytes;
  for (const Case& c : cases) {
    Charge charge{.limit = &c.limit, .key = "key"};
    ask(store, {.verb = c.verb, .charges = {&charge, 1}, .cost = c.cost, .lease_id = "id", .lease_us = 1},
        at(kStart_us));
    EXPECT_EQ(store.stats().entries, 0u) << c.what;
    EXPECT_EQ(store.stats().bytes, bytes) << c.what;
  }
}

TEST(MemoryStore, FreesWhatIsAsGoodAsNew) {
  const BoundLimit limit = gcra(5, kMinute_us);
  const BoundLimit log = bound({.algorithm = Algorithm::kSlidingLog, .count = 5, .period_us = kMinute_us}, "log");
  const BoundLimit leases = bound({.algorithm = Algorithm::kConcurrency, .count = 1}, "leases");
  struct Case {
    const char* what;
    const BoundLimit& limit;
    Verb spend;
    Verb give_back;
  };
  const Case cases[] = {{"reset", limit, Verb::kAllow, Verb::kReset},
                        {"reset of a log", log, Verb::kAllow, Verb::kReset},
                        {"refund of a log", log, Verb::kAllow, Verb::kRefund},
                        {"release", leases, Verb::kAcquire, Verb::kRelease}};
  MemoryStore store({.seed = kSeed, .start = at(kStart_us)});
  const std::uint64_t bytes = store.stats().bytes;
  for (const Case& c : cases) {
    Charge charge{.limit = &c.limit, .key = "key"};
    const auto do_verb = [&](Verb verb) {
      ask(store, {.verb = verb, .charges = {&charge, 1}, .lease_id = "id", .lease_us = kMinute_us}, at(kStart_us));
    };
    do_verb(c.spend);
    EXPECT_EQ(store.stats().entries, 1u) << c.what;
    do_verb(c.give_back);
    EXPECT_EQ(store.stats().entries, 0u) << c.what;
    EXPECT_EQ(store.stats().bytes, bytes) << c.what;
  }
}

TEST(MemoryStore, FreesWhatIsAsGoodAsNewAmongSeveral) {
  const BoundLimit one = gcra(5, kMinute_us, "one");
  const BoundLimit two = gcra(5, kMinute_us, "two");
  MemoryStore store({.seed = kSeed, .start = at(kStart_us)});
  std::vector<Charge> charges{{.limit = &one, .key = "key"}, {.limit = &two, .key = "key"}};
  ask(store, {.charges = charges}, at(kStart_us));
  EXPECT_EQ(store.stats().entries, 2u);
  ask(store, {.verb = Verb::kReset, .charges = charges}, at(kStart_us));
  EXPECT_EQ(store.stats().entries, 0u);
}

// Invariant 14: deleting a key at the moment its time ends changes no later decision.
TEST(MemoryStore, DropsAtTheMomentOfBeingFreshUnseen) {
  const BoundLimit limit = gcra(3, 3 * kSecond_us);
  for (const Micros later_us : {Micros{0}, Micros{1}, kSecond_us, kDay_us}) {
    MemoryStore kept({.seed = kSeed, .start = at(kStart_us)});
    MemoryStore dropped({.seed = kSeed, .start = at(kStart_us)});
    for (MemoryStore* store : {&kept, &dropped}) allow(*store, limit, "key", kStart_us, 2);
    const Micros end_us = kStart_us + 2 * kSecond_us;
    dropped.tidy(at(end_us + kStale_us), 64);
    EXPECT_EQ(dropped.stats().entries, 1u) << "still alive for a thread whose clock is behind";
    dropped.tidy(at(end_us + kStale_us + 1), 64);
    EXPECT_EQ(dropped.stats().entries, 0u);
    const Decision of_kept = allow(kept, limit, "key", end_us + later_us, 2).decision;
    const Decision of_dropped = allow(dropped, limit, "key", end_us + later_us, 2).decision;
    EXPECT_EQ(of_kept.allowed, of_dropped.allowed);
    EXPECT_EQ(of_kept.remaining, of_dropped.remaining);
    EXPECT_EQ(of_kept.reset_after, of_dropped.reset_after);
  }
}

// Invariant 34: memory is bounded by the keys that are alive, not by those that ever came.
TEST(MemoryStore, ForgetsKeysThatStoppedComing) {
  const BoundLimit limit = gcra(1, kSecond_us);
  const BoundLimit log = bound({.algorithm = Algorithm::kSlidingLog, .count = 5, .period_us = kSecond_us}, "log");
  MemoryStore store({.seed = kSeed, .max_memory_bytes = std::size_t{64} << 20, .start = at(kStart_us)});
  const TableStats empty = store.stats();
  Micros now_us = kStart_us;
  std::uint64_t most = 0;
  for (int i = 0; i < 400'000; ++i) {
    // 10,000 keys come each second, none of them again; alive are those of the last one, stale those of one more.
    now_us += 100;
    allow(store, i % 10 == 0 ? log : limit, std::to_string(i), now_us);
    if (i % 1000 == 0) most = std::max(most, store.stats().entries);
  }
  EXPECT_LT(most, 2 * 20'000u);
  EXPECT_GT(store.stats().splits, 0u);

  for (int i = 0; i < 40; ++i) store.tidy(at(now_us + kMinute_us), 64);
  const TableStats idle = store.stats();
  EXPECT_EQ(idle.entries, 0u);
  EXPECT_EQ(idle.buckets, empty.buckets);
  EXPECT_GT(idle.merges, 0u);
  EXPECT_EQ(idle.live_evictions, 0u);
  EXPECT_LE(idle.bytes, empty.bytes + SegmentPool::kRegionSegments * kSegment_bytes);
}

TEST(MemoryStore, EvictsTheNearestToFreshWhenMemoryIsUsedUp) {
  const BoundLimit brief = gcra(1, kMinute_us, "brief");
  const BoundLimit lasting = gcra(1, kDay_us, "lasting");
  MemoryStore store({.seed = kSeed, .max_memory_bytes = Table::kMaxMemoryMin_bytes, .start = at(kStart_us)});
  for (int i = 0; i < 10'000; ++i) allow(store, lasting, std::to_string(i), kStart_us);
  EXPECT_EQ(store.stats().live_evictions, 0u);
  for (int i = 0; i < 100'000; ++i) allow(store, brief, std::to_string(i), kStart_us);

  const TableStats stats = store.stats();
  EXPECT_EQ(stats.live_evictions, 110'000 - stats.entries);
  EXPECT_LE(stats.bytes, stats.max_bytes);
  EXPECT_LE(stats.places * sizeof(Entry) + stats.buckets * sizeof(Bucket), stats.max_bytes);
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_FALSE(allow(store, lasting, std::to_string(i), kStart_us).decision.allowed) << "forgot a day's debt";
  }
  EXPECT_FALSE(allow(store, brief, "99999", kStart_us).decision.allowed) << "a new key is kept, whoever must go";
  EXPECT_EQ(store.stats().live_evictions, stats.live_evictions);
}

TEST(MemoryStore, DropsTheSpentBeforeItEvicts) {
  const BoundLimit limit = gcra(1, kSecond_us);
  MemoryStore store({.seed = kSeed, .max_memory_bytes = Table::kMaxMemoryMin_bytes, .start = at(kStart_us)});
  for (Micros i = 0; i < 200'000; ++i) allow(store, limit, std::to_string(i), kStart_us + i * 200);
  EXPECT_EQ(store.stats().live_evictions, 0u) << "5,000 keys alive, 5,000 stale";
}

/// Refused for want of memory, and says so.
bool is_refused(const Answer& answer) {
  const Decision& decision = answer.decision;
  if (decision.source != Source::kFailedClosed) return false;
  EXPECT_FALSE(decision.allowed);
  EXPECT_EQ(decision.granted, 0);
  EXPECT_EQ(decision.remaining, 0);
  EXPECT_GT(decision.retry_after.count(), 0);
  EXPECT_NE(answer.violated, 0);
  return true;
}

TEST(MemoryStore, BoundsRecords) {
  const BoundLimit log = bound({.algorithm = Algorithm::kSlidingLog, .count = kCountMax, .period_us = kHour_us}, "log");
  const BoundLimit plain = gcra(1, kDay_us);
  MemoryStore store({.seed = kSeed, .max_memory_bytes = Table::kMaxMemoryMin_bytes, .start = at(kStart_us)});
  const std::uint64_t max_bytes = store.stats().max_bytes;
  const std::uint64_t empty_bytes = store.stats().bytes;
  const auto record_bytes = [&] { return store.stats().bytes - empty_bytes; };
  // One key's log alone would outgrow all memory.
  std::int64_t entries = 0;
  while (!is_refused(allow(store, log, "key", kStart_us + entries))) ++entries;
  EXPECT_GT(entries, 2'000);
  EXPECT_LE(record_bytes(), max_bytes / 16);
  EXPECT_EQ(store.stats().refusals, 1u);
  for (Micros i = 0; i < 10; ++i) EXPECT_TRUE(is_refused(allow(store, log, "key", kStart_us + entries + i)));
  EXPECT_EQ(store.stats().refusals, 11u);
  Charge charge{.limit = &log, .key = "key"};
  const auto remaining = [&](Micros now_us) {
    return ask(store, {.verb = Verb::kPeek, .charges = {&charge, 1}}, at(now_us)).decision.remaining;
  };
  EXPECT_EQ(remaining(kStart_us + entries), kCountMax - entries) << "what was admitted is kept";

  // It does not stand in the way of others, nor they in each other's, until all have half.
  for (int key = 0; key < 7; ++key) {
    for (Micros i = 0; i < 2'000; ++i) ASSERT_FALSE(is_refused(allow(store, log, std::to_string(key), kStart_us + i)));
  }
  int keys = 0;
  while (!is_refused(allow(store, log, "small" + std::to_string(keys), kStart_us))) ++keys;
  EXPECT_GT(keys, 100);
  EXPECT_GT(store.stats().bytes, max_bytes / 2);
  EXPECT_LE(record_bytes(), max_bytes / 2 + max_bytes / 8);
  EXPECT_EQ(store.stats().live_evictions, 0u) << "nothing is forgotten for it";
  EXPECT_TRUE(allow(store, plain, "key", kStart_us).decision.allowed);
  EXPECT_FALSE(allow(store, plain, "key", kStart_us).decision.allowed) << "left no place to others";

  // All of a question or none.
  Charge both[] = {{.limit = &plain, .key = "another"}, {.limit = &log, .key = "key"}};
  const Answer refused = ask(store, {.charges = both}, at(kStart_us + entries));
  EXPECT_TRUE(is_refused(refused));
  EXPECT_EQ(refused.violated, 0b10);
  EXPECT_EQ(refused.binding, 1);
  EXPECT_TRUE(allow(store, plain, "another", kStart_us).decision.allowed);

  // What has aged out makes room, though the log as a whole is in use.
  EXPECT_FALSE(is_refused(allow(store, log, "key", kStart_us + kHour_us + entries / 2)));
  EXPECT_EQ(remaining(kStart_us + kHour_us + entries / 2), kCountMax - (entries - entries / 2 - 1) - 1);
  // And whoever is refused gets rid of what is over, where nothing else does.
  const Micros later_us = kStart_us + 3 * kHour_us;
  int asked = 0;
  while (is_refused(allow(store, log, "new", later_us))) ASSERT_LT(++asked, 100);
  EXPECT_LE(asked, 64);
}

TEST(MemoryStore, BoundsLeasesAndStillReleasesThem) {
  const BoundLimit leases = bound({.algorithm = Algorithm::kConcurrency, .count = kCountMax}, "leases");
  MemoryStore store({.seed = kSeed, .max_memory_bytes = Table::kMaxMemoryMin_bytes, .start = at(kStart_us)});
  Charge charge{.limit = &leases, .key = "key"};
  const auto do_verb = [&](Verb verb, const std::string& id) {
    return ask(store, {.verb = verb, .charges = {&charge, 1}, .lease_id = id, .lease_us = kHour_us}, at(kStart_us));
  };
  int held = 0;
  while (!is_refused(do_verb(Verb::kAcquire, std::to_string(held)))) ++held;
  EXPECT_GT(held, 200);
  EXPECT_FALSE(is_refused(do_verb(Verb::kAcquire, "0"))) << "is held, and needs no more room";
  EXPECT_TRUE(do_verb(Verb::kRenew, "1").ok);
  EXPECT_TRUE(do_verb(Verb::kRelease, "2").ok);
  EXPECT_FALSE(is_refused(do_verb(Verb::kAcquire, "x")));
  EXPECT_TRUE(is_refused(do_verb(Verb::kAcquire, "too long a name for the place of one that had one letter")));
  for (int i = 3; i < held; ++i) EXPECT_TRUE(do_verb(Verb::kRelease, std::to_string(i)).ok) << "lost";
}

TEST(MemoryStore, FreesLargeRecordsInStepsWhileOthersAreAsked) {
  const BoundLimit log = bound({.algorithm = Algorithm::kSlidingLog, .count = kCountMax, .period_us = kDay_us}, "log");
  const BoundLimit leases = bound({.algorithm = Algorithm::kConcurrency, .count = kCountMax}, "leases");
  MemoryStore store({.seed = kSeed, .max_memory_bytes = std::size_t{256} << 20, .start = at(kStart_us)});
  const std::uint64_t empty_bytes = store.stats().bytes;
  constexpr int kEntries = 20'000;
  for (int i = 0; i < 20 * kEntries; ++i) allow(store, log, "key", kStart_us + i);
  Charge charge{.limit = &leases, .key = "key"};
  for (int i = 0; i < kEntries; ++i) {
    const std::string id = std::to_string(i);
    ask(store, {.verb = Verb::kAcquire, .charges = {&charge, 1}, .lease_id = id, .lease_us = kHour_us}, at(kStart_us));
  }
  const std::uint64_t full_bytes = store.stats().bytes;
  EXPECT_GT(full_bytes, empty_bytes + 8'000'000);
  Charge logged{.limit = &log, .key = "key"};
  ask(store, {.verb = Verb::kReset, .charges = {&logged, 1}}, at(kStart_us));
  ask(store, {.verb = Verb::kReset, .charges = {&charge, 1}}, at(kStart_us));
  EXPECT_EQ(store.stats().entries, 0u);
  EXPECT_GT(store.stats().bytes, full_bytes / 4) << "freed in one step";
  for (int i = 0; i < kEntries / 50; ++i) {
    allow(store, log, "other", kStart_us);
    ask(store, {.verb = Verb::kReset, .charges = {&logged, 1}}, at(kStart_us));
  }
  EXPECT_LT(store.stats().bytes, empty_bytes + 1'000);
}

TEST(MemoryStore, LeavesRoomForRecordsInAFloodOfKeys) {
  const BoundLimit plain = gcra(1, kDay_us);
  const BoundLimit leases = bound({.algorithm = Algorithm::kConcurrency, .count = 1}, "leases");
  MemoryStore store({.seed = kSeed, .max_memory_bytes = Table::kMaxMemoryMin_bytes, .start = at(kStart_us)});
  for (int i = 0; i < 100'000; ++i) allow(store, plain, std::to_string(i), kStart_us);
  const auto acquire = [&](std::string_view id) {
    Charge charge{.limit = &leases, .key = "key"};
    return ask(store, {.verb = Verb::kAcquire, .charges = {&charge, 1}, .lease_id = id, .lease_us = kDay_us},
               at(kStart_us))
        .decision.allowed;
  };
  EXPECT_TRUE(acquire("a"));
  EXPECT_FALSE(acquire("b"));
}

TEST(MemoryStore, DatesCalendarWindowsByTheWallAndNothingElse) {
  const BoundLimit daily =
      bound({.algorithm = Algorithm::kFixedWindow, .count = 1, .period_us = kDay_us, .calendar = CalendarUnit::kDay},
            "daily");
  const BoundLimit hourly = gcra(1, kHour_us);
  const Micros midnight_us = kStart_us / kDay_us * kDay_us + kDay_us;
  MemoryStore store({.seed = kSeed, .start = {0, midnight_us - kMinute_us}});
  const auto allowed = [&](const BoundLimit& limit, Instant now) {
    Charge charge{.limit = &limit, .key = "key"};
    return ask(store, {.charges = {&charge, 1}}, now).decision.allowed;
  };
  EXPECT_TRUE(allowed(daily, {0, midnight_us - kMinute_us}));
  EXPECT_TRUE(allowed(hourly, {0, midnight_us - kMinute_us}));
  EXPECT_FALSE(allowed(daily, {kSecond_us, midnight_us - kMinute_us + kSecond_us}));
  // The wall clock is set two hours ahead.
  EXPECT_TRUE(allowed(daily, {2 * kSecond_us, midnight_us + 2 * kHour_us}));
  EXPECT_FALSE(allowed(hourly, {2 * kSecond_us, midnight_us + 2 * kHour_us}));
}

// A window is over when its end has passed by the wall clock too, wherever that was set meanwhile, though nobody asks.
TEST(MemoryStore, KeepsCalendarWindowsUntilTheyEndByBothClocks) {
  const BoundLimit daily =
      bound({.algorithm = Algorithm::kFixedWindow, .count = 1, .period_us = kDay_us, .calendar = CalendarUnit::kDay},
            "daily");
  const BoundLimit other = gcra(1, kSecond_us, "other");
  const Micros midnight_us = kStart_us / kDay_us * kDay_us + kDay_us;
  const Micros begin_us = midnight_us - 2 * kHour_us;
  struct Case {
    const char* what;
    Micros first_step_us;
    Micros second_step_us;
  };
  for (const Case& c : {Case{"set back", -2 * kHour_us, 0}, Case{"set back twice", -kHour_us, -kHour_us},
                        Case{"set ahead and back", 5 * kHour_us, -5 * kHour_us}, Case{"set ahead", kHour_us / 2, 0},
                        Case{"left alone", 0, 0}}) {
    SCOPED_TRACE(c.what);
    MemoryStore store({.seed = kSeed, .start = at(begin_us)});
    Micros wall_us = begin_us;
    Micros monotonic_us = begin_us;
    const auto pass = [&](Micros us) {
      wall_us += us;
      monotonic_us += us;
    };
    const auto sweep = [&] {
      store.tidy({monotonic_us, wall_us}, 64);
      return store.stats().entries;
    };
    Charge charge{.limit = &daily, .key = "key"};
    EXPECT_TRUE(ask(store, {.charges = {&charge, 1}}, {monotonic_us, wall_us}).decision.allowed);
    for (const Micros step_us : {c.first_step_us, c.second_step_us}) {
      pass(kMinute_us);
      wall_us += step_us;
      EXPECT_EQ(sweep(), 1u);
    }
    Charge brief{.limit = &other, .key = "key"};
    ask(store, {.charges = {&brief, 1}}, {monotonic_us, wall_us});
    pass(kMinute_us);
    EXPECT_EQ(sweep(), 1u) << "only calendars wait for the wall clock";
    if (wall_us < midnight_us) pass(midnight_us - wall_us - 1);
    EXPECT_EQ(sweep(), 1u) << "dropped before its end";
    EXPECT_FALSE(ask(store, {.verb = Verb::kPeek, .charges = {&charge, 1}}, {monotonic_us, wall_us}).decision.allowed);
    pass(6 * kHour_us);
    EXPECT_EQ(sweep(), 0u) << "kept for ever";
  }
}

// A wall clock that was set back makes windows of before last longer, and no others.
TEST(MemoryStore, DropsCalendarWindowsBegunSinceTheClockWasSetBack) {
  const LimitSpec spec{
      .algorithm = Algorithm::kFixedWindow, .count = 1, .period_us = kMinute_us, .calendar = CalendarUnit::kMinute};
  const BoundLimit minute = bound(spec, "minute");
  MemoryStore store({.seed = kSeed, .start = at(kStart_us)});
  const auto ask_new_key = [&](int key, Micros monotonic_us) {
    const std::string text = std::to_string(key);
    Charge charge{.limit = &minute, .key = text};
    ask(store, {.charges = {&charge, 1}}, {monotonic_us, monotonic_us - kHour_us});
  };
  // 100 keys a second for the half of an hour: alive are those of a minute and, for the clock's slack, of one more.
  std::uint64_t most = 0;
  for (int key = 0; key < 100 * 1'800; ++key) {
    ask_new_key(key, kStart_us + key * Micros{10'000});
    if (key % 1'000 == 0) most = std::max(most, store.stats().entries);
  }
  EXPECT_LT(most, 100u * 60 * 4);
  EXPECT_EQ(store.stats().live_evictions, 0u);
}

}  // namespace
}  // namespace ratel
