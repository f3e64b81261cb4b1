#include "store/memory_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/prng.h"
#include "limit/vectors_testing.h"

namespace ratel {
namespace {

constexpr std::uint64_t kSeed = 42;
constexpr Micros kStart_us = 1'764'547'200'000'000;

BoundLimit bound(LimitSpec spec, std::string identity, Micros max_wait_us = 0) {
  return {*make_limit(spec, max_wait_us), std::move(identity), "test"};
}

BoundLimit gcra(std::int64_t count, Micros period_us, std::string identity = "test") {
  return bound({.count = count, .period_us = period_us}, std::move(identity));
}

void keep_answer(void* context, std::uint64_t, const Answer& answer) {
  *static_cast<Answer*>(context) = answer;
}

Answer ask(Store& store, Question question, Instant now) {
  Answer answer;
  store.prepare(question);
  store.ask(question, now, {keep_answer, &answer, 0});
  return answer;
}

Instant at(Micros us) {
  return {us, us};
}

Answer allow(Store& store, const BoundLimit& limit, std::string_view key, Micros now_us, std::int64_t cost = 1) {
  Charge charge{.limit = &limit, .key = key};
  return ask(store, {.charges = {&charge, 1}, .cost = cost}, at(now_us));
}

TEST(MemoryStore, AgreesWithEveryVector) {
  for (const std::string& file : vector_files()) {
    int steps = 0;
    for_each_vector(file, [&](const VectorTrace& trace) {
      MemoryStore store({.seed = kSeed, .start = {}});
      const BoundLimit limit{trace.limit, "vector", "vector"};
      for (const VectorTrace::Element step : trace.steps.get_array()) {
        if (testing::Test::HasFailure()) return;
        SCOPED_TRACE(file + ": " + simdjson::minify(step));
        Charge charge{.limit = &limit, .key = "key"};
        std::string id;
        const Question question = VectorTrace::question_of(step, charge, id);
        VectorTrace::compare(step, ask(store, question, at(VectorTrace::time_of(step))));
        ++steps;
      }
    });
    EXPECT_GT(steps, 400) << file;
  }
}

// Every answer and in the end every count is the same as of a map of cells that never drops anything.
struct Model {
  struct State {
    Cell cell;
    std::unique_ptr<Record> record;
  };
  std::map<std::pair<std::string, std::string>, State> states;

  Answer ask(const Question& question, Micros now_us) {
    std::vector<Slot> slots;
    for (const Charge& charge : question.charges) {
      State& state = states[{charge.limit->identity, std::string(charge.key)}];
      slots.push_back({&state.cell, &state.record});
    }
    return decide(question, slots, {now_us, now_us});
  }
};

void expect_same(const Answer& a, const Answer& b) {
  EXPECT_EQ(a.decision.allowed, b.decision.allowed);
  EXPECT_EQ(a.decision.limit, b.decision.limit);
  EXPECT_EQ(a.decision.remaining, b.decision.remaining);
  EXPECT_EQ(a.decision.retry_after, b.decision.retry_after);
  EXPECT_EQ(a.decision.reset_after, b.decision.reset_after);
  EXPECT_EQ(a.decision.granted, b.decision.granted);
  EXPECT_EQ(a.decision.delay, b.decision.delay);
  EXPECT_EQ(a.binding, b.binding);
  EXPECT_EQ(a.violated, b.violated);
  EXPECT_EQ(a.ok, b.ok);
}

TEST(MemoryStore, AgreesWithAMapOnRandomTraces) {
  struct Case {
    const char* what;
    std::uint64_t keys;
    int questions;
    Micros gap_us;  // the longest between questions
    bool goes_back;
    std::uint32_t tidies;  // buckets, now and then
  };
  const Case cases[] = {
      {"few keys", 3, 20'000, 300'000, false, 0},
      {"few keys, threads whose clocks differ", 3, 20'000, 300'000, true, 64},
      {"all live at once, so the table grows", 30'000, 90'000, 10, false, 1},
      {"most have expired when they come again, so the table sweeps", 3'000, 60'000, 100'000, false, 1},
      {"expire together, so the table shrinks", 20'000, 60'000, 200, true, 20},
  };
  const BoundLimit plain[] = {
      gcra(7, kSecond_us, "a"),
      gcra(3, kMinute_us, "b"),
      bound({.algorithm = Algorithm::kFixedWindow, .count = 5, .period_us = 10 * kSecond_us}, "c"),
      bound({.algorithm = Algorithm::kSlidingWindow, .count = 4, .period_us = 7 * kSecond_us}, "d"),
      bound({.algorithm = Algorithm::kSlidingLog, .count = 3, .period_us = 5 * kSecond_us}, "e"),
      bound({.count = 10, .period_us = kSecond_us}, "f", kSecond_us),
  };
  const BoundLimit leases[] = {
      bound({.algorithm = Algorithm::kConcurrency, .count = 2}, "g"),
      bound({.algorithm = Algorithm::kConcurrency, .count = 5}, "h"),
  };
  const Verb plain_verbs[] = {Verb::kAllow, Verb::kAllow,  Verb::kAllow, Verb::kAtMost,
                              Verb::kPeek,  Verb::kRefund, Verb::kReset, Verb::kAllow};
  const Verb lease_verbs[] = {Verb::kAcquire, Verb::kAcquire, Verb::kRenew, Verb::kRelease, Verb::kPeek};

  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    Prng prng(7);
    MemoryStore store({.seed = kSeed, .max_memory_bytes = std::size_t{64} << 20, .start = at(kStart_us)});
    Model model;
    Micros now_us = kStart_us;
    for (int i = 0; i < c.questions; ++i) {
      now_us += static_cast<Micros>(prng.next() % static_cast<std::uint64_t>(c.gap_us));
      const bool back = c.goes_back && prng.next() % 4 == 0;
      const Micros asked_us = now_us - (back ? static_cast<Micros>(prng.next() % kStale_us) : 0);

      const bool concurrent = prng.next() % 4 == 0;
      const std::string key = "key" + std::to_string(prng.next() % c.keys);
      const std::string other = "key" + std::to_string(prng.next() % c.keys);
      std::vector<Charge> charges;
      for (const BoundLimit& limit : concurrent ? std::span<const BoundLimit>(leases) : plain) {
        if (prng.next() % 3 == 0) charges.push_back({.limit = &limit, .key = prng.next() % 4 == 0 ? other : key});
      }
      if (charges.empty()) continue;
      const std::string lease = "lease" + std::to_string(prng.next() % 4);
      const Question question{.verb = concurrent ? lease_verbs[prng.next() % 5] : plain_verbs[prng.next() % 8],
                              .charges = charges,
                              .cost = static_cast<std::int64_t>(prng.next() % 4),
                              .lease_id = lease,
                              .lease_us = 1 + static_cast<Micros>(prng.next() % (20 * kSecond_us))};
      expect_same(ask(store, question, at(asked_us)), model.ask(question, asked_us));
      if (c.tidies > 0 && prng.next() % 50 == 0) store.tidy(at(now_us), c.tidies);
      ASSERT_FALSE(HasFailure()) << "question " << i;
    }
    EXPECT_EQ(store.stats().live_evictions, 0u);
    // Nothing is kept that the model has not got, and of what the table dropped nothing was still alive.
    std::size_t alive = 0;
    for (const auto& [id, state] : model.states) alive += state.cell.until_us >= now_us ? 1 : 0;
    EXPECT_GE(store.stats().entries, alive);
    for (int i = 0; i < 4; ++i)
      store.tidy(at(now_us + kStale_us + 1), static_cast<std::uint32_t>(store.stats().buckets));
    EXPECT_LE(store.stats().entries, alive);
  }
}

TEST(MemoryStore, KeepsIdentitiesAndKeysApart) {
  struct Case {
    const char* identity;
    const char* key;
  };
  const Case cases[] = {{"a", "bc"}, {"ab", "c"}, {"abc", ""}, {"", "abc"}, {"a:b", "c"}, {"a", "b:c"}, {"{a}", "bc"}};
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
    expect_same(allow(kept, limit, "key", end_us + later_us, 2), allow(dropped, limit, "key", end_us + later_us, 2));
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

TEST(MemoryStore, BoundsRecords) {
  const BoundLimit log = bound({.algorithm = Algorithm::kSlidingLog, .count = kCountMax, .period_us = kDay_us}, "log");
  MemoryStore store({.seed = kSeed, .max_memory_bytes = Table::kMaxMemoryMin_bytes, .start = at(kStart_us)});
  // One key's log alone outgrows all memory.
  for (Micros i = 0; i < 200'000; ++i) {
    allow(store, log, "key", kStart_us + i);
    ASSERT_LE(store.stats().bytes, store.stats().max_bytes);
  }
  EXPECT_GT(store.stats().live_evictions, 0u);
  // Many small ones.
  for (int i = 0; i < 20'000; ++i) {
    allow(store, log, std::to_string(i), kStart_us + kMinute_us);
    ASSERT_LE(store.stats().bytes, store.stats().max_bytes);
  }
  EXPECT_FALSE(allow(store, gcra(1, kDay_us), "key", kStart_us + kMinute_us, 2).decision.allowed);
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

}  // namespace
}  // namespace ratel
