// The memory store gives the answers of a map that never drops anything, and of the vectors.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/prng.h"
#include "limit/decide.h"
#include "limit/vectors_testing.h"
#include "store/memory_store.h"
#include "store/store_testing.h"

namespace ratel {
namespace {

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
      {"all live at once, so the table grows", 20'000, 50'000, 10, false, 1},
      {"most have expired when they come again, so the table sweeps", 3'000, 40'000, 100'000, false, 1},
      {"expire together, so the table shrinks", 15'000, 40'000, 200, true, 20},
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

}  // namespace
}  // namespace ratel
