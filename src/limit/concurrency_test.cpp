#include "limit/concurrency.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/prng.h"
#include "limit/decide.h"

namespace ratel {
namespace {

constexpr Micros kStart_us = 1'764'547'200'000'000;

/// A concurrency limit, asked as holders do.
class Slots {
 public:
  explicit Slots(std::int64_t count) {
    limit_.limit = *make_limit({.algorithm = Algorithm::kConcurrency, .count = count});
  }

  Answer ask(Verb verb, std::string_view id, Micros now_us, std::int64_t cost = 1, Micros lease_us = 0) {
    Charge charge{.limit = &limit_};
    const Slot slot{.cell = &cell_, .record = &record_};
    return decide({.verb = verb, .charges = {&charge, 1}, .cost = cost, .lease_id = id, .lease_us = lease_us},
                  {&slot, 1}, {.now_us = now_us, .calendar_us = now_us});
  }
  Answer acquire(std::string_view id, Micros now_us, Micros lease_us, std::int64_t cost = 1) {
    return ask(Verb::kAcquire, id, now_us, cost, lease_us);
  }

  const Cell& cell() const { return cell_; }
  Record* record() const { return record_.get(); }

 private:
  BoundLimit limit_;
  Cell cell_;
  std::unique_ptr<Record> record_;
};

// 42 and 18: against a list of leases.
RC_GTEST_PROP(Concurrency, AgreesWithAListOfLeases, ()) {
  struct Lease {
    Micros end_us;
    std::int64_t cost;
  };
  const std::int64_t count = *rc::gen::inRange<std::int64_t>(0, 6);
  Slots slots(count);
  std::map<std::string, Lease> leases;
  Micros now_us = kStart_us;
  for (int i = 0; i < 60; ++i) {
    now_us += *rc::gen::elementOf(std::vector<Micros>{0, 0, 1, 500, 1'000, kSecond_us});
    const Verb verb = *rc::gen::elementOf(
        std::vector<Verb>{Verb::kAcquire, Verb::kAcquire, Verb::kAcquire, Verb::kRenew, Verb::kRelease, Verb::kPeek});
    const std::string id(1, static_cast<char>('a' + *rc::gen::inRange(0, 6)));
    const std::int64_t cost = *rc::gen::inRange<std::int64_t>(0, 4);
    const Micros lease_us = *rc::gen::elementOf(std::vector<Micros>{1, 1'000, kSecond_us, kLeaseMax_us});

    std::erase_if(leases, [&](const auto& lease) { return lease.second.end_us <= now_us; });
    std::int64_t used = 0;
    for (const auto& [holder, lease] : leases) used += lease.cost;
    const bool held = leases.contains(id);
    bool granted = cost == 0 || used + cost <= count;
    std::vector<Lease> by_end;
    for (const auto& [holder, lease] : leases) by_end.push_back(lease);
    std::sort(by_end.begin(), by_end.end(), [](const Lease& a, const Lease& b) { return a.end_us < b.end_us; });
    if (verb == Verb::kAcquire) {
      granted = granted || held;
      if (granted && cost > 0) leases[id] = {.end_us = now_us + lease_us, .cost = held ? leases[id].cost : cost};
    }
    if (verb == Verb::kRenew && held) leases[id].end_us = now_us + lease_us;
    if (verb == Verb::kRelease) leases.erase(id);
    Micros retry_us = 0;
    if (!granted) {
      retry_us = kNever_us;
      std::int64_t missing = used + cost - count;
      for (const Lease& lease : cost > count ? std::vector<Lease>() : by_end) {
        retry_us = lease.end_us - now_us;
        missing -= lease.cost;
        if (missing <= 0) break;
      }
    }
    std::int64_t used_after = 0;
    Micros last_us = now_us;
    for (const auto& [holder, lease] : leases) {
      used_after += lease.cost;
      last_us = std::max(last_us, lease.end_us);
    }

    const Answer answer = slots.ask(verb, verb == Verb::kPeek ? "" : id, now_us, cost, lease_us);
    if (verb == Verb::kAcquire || verb == Verb::kPeek) {
      RC_ASSERT(answer.decision.allowed == granted);
      RC_ASSERT(answer.decision.retry_after.count() == retry_us);
    } else {
      RC_ASSERT(answer.ok == held);
    }
    RC_ASSERT(answer.decision.remaining == count - used_after);
    RC_ASSERT(answer.decision.reset_after.count() == last_us - now_us);
    RC_ASSERT(used_after <= count);
  }
}

// 42
TEST(Concurrency, ReleasingTwiceFreesOnce) {
  Slots slots(2);
  slots.acquire("a", kStart_us, kSecond_us);
  slots.acquire("b", kStart_us, kSecond_us);
  EXPECT_TRUE(slots.ask(Verb::kRelease, "a", kStart_us).ok);
  const Answer again = slots.ask(Verb::kRelease, "a", kStart_us);
  EXPECT_FALSE(again.ok);
  EXPECT_EQ(again.decision.remaining, 1);
}

// 42
TEST(Concurrency, ALeaseOfTheDeadIsFreeWhenItEnds) {
  Slots slots(1);
  slots.acquire("a", kStart_us, kSecond_us);
  const Answer denied = slots.acquire("b", kStart_us + 10, kSecond_us);
  EXPECT_FALSE(denied.decision.allowed);
  EXPECT_EQ(denied.decision.retry_after.count(), kSecond_us - 10);
  EXPECT_FALSE(slots.ask(Verb::kRenew, "a", kStart_us + kSecond_us, 1, kSecond_us).ok) << "ended, so not renewed";
  EXPECT_TRUE(slots.acquire("b", kStart_us + kSecond_us, kSecond_us).decision.allowed);
}

// 42
TEST(Concurrency, AcquiringWithTheSameIdRenewsAndCostsNothing) {
  Slots slots(3);
  slots.acquire("a", kStart_us, kSecond_us, 2);
  const Answer again = slots.acquire("a", kStart_us + 5, kMinute_us, 3);
  EXPECT_TRUE(again.decision.allowed);
  EXPECT_EQ(again.decision.remaining, 1);
  EXPECT_EQ(again.decision.reset_after.count(), kMinute_us);
}

TEST(Concurrency, DeniedLeavesTheStateAsItWas) {
  Slots slots(1);
  slots.acquire("a", kStart_us, kSecond_us);
  const Cell before = slots.cell();
  EXPECT_FALSE(slots.acquire("b", kStart_us + 5, kMinute_us).decision.allowed);
  EXPECT_EQ(slots.cell(), before);
}

// The bound on leases: each takes a slot.
TEST(Concurrency, KeepsAtMostCountLeasesAndCountsTheirBytes) {
  constexpr std::int64_t kCount = 500;
  Slots slots(kCount);
  std::size_t full_bytes = 0;
  for (std::int64_t i = 0; i < 3 * kCount; ++i) {
    const std::string id = std::string(kLeaseIdBytesMax - 8, 'x') + std::to_string(i);
    const Answer answer = slots.acquire(id, kStart_us, kSecond_us);
    EXPECT_EQ(answer.decision.allowed, i < kCount);
    if (i == kCount - 1) full_bytes = slots.record()->bytes();
  }
  EXPECT_EQ(slots.record()->bytes(), full_bytes);
  EXPECT_GE(full_bytes, kCount * kLeaseIdBytesMax);
  // All have ended: the next lease is the only one.
  EXPECT_EQ(slots.acquire("next", kStart_us + kSecond_us, kSecond_us).decision.remaining, kCount - 1);
  EXPECT_LT(slots.record()->bytes(), full_bytes);
  slots.ask(Verb::kRelease, "next", kStart_us + kSecond_us);
  EXPECT_EQ(slots.cell(), Cell{});
}

TEST(Concurrency, EveryQuestionForgetsSomeOfTheLeasesThatHaveEnded) {
  for (const Verb verb : {Verb::kPeek, Verb::kAcquire, Verb::kRenew, Verb::kRelease}) {
    SCOPED_TRACE(static_cast<int>(verb));
    constexpr std::int64_t kCount = 500;
    Slots slots(2 * kCount);
    slots.acquire("holder", kStart_us, kDay_us, kCount);
    const std::size_t bytes = slots.record()->bytes();
    for (std::int64_t i = 0; i < kCount; ++i) slots.acquire("x" + std::to_string(i), kStart_us, kSecond_us);
    int questions = 0;
    for (std::size_t before = slots.record()->bytes(); before > bytes; ++questions) {
      const Answer answer = slots.ask(verb, "x499", kStart_us + kSecond_us, kCount + 1, kSecond_us);
      EXPECT_FALSE(answer.decision.allowed);
      EXPECT_EQ(answer.decision.remaining, kCount);
      ASSERT_LT(slots.record()->bytes(), before);
      EXPECT_GT(slots.record()->bytes() + 16 * 300, before) << "a step with no bound";
      before = slots.record()->bytes();
    }
    EXPECT_GT(questions, kCount / 17);
    EXPECT_EQ(slots.record()->bytes(), bytes);
  }
}

// More than are forgotten at a time, so that nearly always some are kept that have ended.
TEST(Concurrency, AgreesWithAListAmongManyThatHaveEnded) {
  struct Lease {
    Micros end_us;
    std::int64_t cost;
  };
  constexpr std::int64_t kCount = 400;
  Slots slots(kCount);
  std::map<std::string, Lease> leases;
  Prng prng(7);
  Micros now_us = kStart_us;
  std::size_t most_bytes = 0;
  for (int i = 0; i < 20'000; ++i) {
    // Now and then all end together.
    now_us += prng.next() % 400 == 0 ? kMinute_us : static_cast<Micros>(prng.next() % 20);
    std::erase_if(leases, [&](const auto& lease) { return lease.second.end_us <= now_us; });
    std::int64_t used = 0;
    std::vector<Lease> by_end;
    for (const auto& [id, lease] : leases) {
      used += lease.cost;
      by_end.push_back(lease);
    }
    std::sort(by_end.begin(), by_end.end(), [](const Lease& a, const Lease& b) { return a.end_us < b.end_us; });

    const std::string id = std::to_string(prng.next() % 600);
    const auto cost = static_cast<std::int64_t>(1 + prng.next() % 4);
    const auto lease_us = static_cast<Micros>(1 + prng.next() % kSecond_us);
    const std::uint64_t die = prng.next() % 20;
    const Verb verb = die == 0 ? Verb::kRelease : die == 1 ? Verb::kRenew : Verb::kAcquire;
    const bool held = leases.contains(id);
    Micros retry_us = 0;
    if (verb != Verb::kAcquire) {
      retry_us = held ? 0 : kNever_us;
    } else if (!held) {
      std::int64_t missing = used + cost - kCount;
      for (auto lease = by_end.begin(); missing > 0; ++lease) {
        missing -= lease->cost;
        retry_us = lease->end_us - now_us;
      }
    }
    if (verb == Verb::kRelease) {
      used -= held ? leases[id].cost : 0;
      leases.erase(id);
    } else if (retry_us == 0) {
      if (!held) leases[id].cost = cost;
      if (!held) used += cost;
      leases[id].end_us = now_us + lease_us;
    }
    const Answer answer = slots.ask(verb, id, now_us, cost, lease_us);
    ASSERT_EQ(answer.decision.retry_after.count(), retry_us) << i;
    ASSERT_EQ(answer.decision.allowed, retry_us == 0) << i;
    ASSERT_EQ(answer.decision.remaining, kCount - used) << i;
    if (slots.record() != nullptr) most_bytes = std::max(most_bytes, slots.record()->bytes());
  }
  EXPECT_LE(most_bytes, (kCount + 1) * 300u) << "what has ended is kept in growing numbers";
}

TEST(Concurrency, IsDismantledInSteps) {
  Slots slots(100);
  for (int i = 0; i < 100; ++i) slots.acquire(std::to_string(i), kStart_us, kSecond_us);
  const std::size_t bytes = slots.record()->bytes();
  EXPECT_FALSE(slots.record()->dismantle(99));
  EXPECT_LT(slots.record()->bytes(), bytes / 20);
  EXPECT_TRUE(slots.record()->dismantle(99));
}

/// Two limits held under one id.
struct Pair {
  Pair(std::int64_t first, std::int64_t second) {
    limits[0].limit = *make_limit({.algorithm = Algorithm::kConcurrency, .count = first});
    limits[1].limit = *make_limit({.algorithm = Algorithm::kConcurrency, .count = second});
  }
  Answer ask(Verb verb, std::string_view id, Micros now_us, Micros lease_us, std::size_t from = 0) {
    std::vector<Charge> charges{{.limit = &limits[0]}, {.limit = &limits[1]}};
    const std::vector<Slot> slots{{.cell = &cells[0], .record = &records[0]},
                                  {.cell = &cells[1], .record = &records[1]}};
    const Question question{
        .verb = verb, .charges = std::span(charges).subspan(from), .lease_id = id, .lease_us = lease_us};
    return decide(question, std::span(slots).subspan(from), {.now_us = now_us, .calendar_us = now_us});
  }

  BoundLimit limits[2];
  Cell cells[2];
  std::unique_ptr<Record> records[2];
};

TEST(Concurrency, SeveralLimitsAreHeldAllOrNone) {
  Pair pair(2, 1);
  EXPECT_TRUE(pair.ask(Verb::kAcquire, "a", kStart_us, kSecond_us).decision.allowed);
  const Answer denied = pair.ask(Verb::kAcquire, "b", kStart_us, kSecond_us);
  EXPECT_EQ(denied.violated, 0b10);
  EXPECT_EQ(denied.binding, 1);
  EXPECT_EQ(denied.decision.limit, 1);
  EXPECT_TRUE(pair.ask(Verb::kRelease, "a", kStart_us, 0, 1).ok);
  const Answer renewed = pair.ask(Verb::kRenew, "a", kStart_us + 1, kMinute_us);
  EXPECT_FALSE(renewed.ok) << "one of its leases is gone";
  EXPECT_EQ(renewed.violated, 0b10);
  EXPECT_EQ(pair.cells[0].until_us, kStart_us + kSecond_us) << "so none is renewed";
  EXPECT_FALSE(pair.ask(Verb::kRelease, "a", kStart_us + 1, 0).ok);
  EXPECT_EQ(pair.cells[0], Cell{}) << "but what is held is freed";
}

}  // namespace
}  // namespace ratel
