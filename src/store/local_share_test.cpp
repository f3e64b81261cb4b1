#include "store/local_share.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "limit/fraction.h"
#include "store/local_share_testing.h"

namespace ratel {
namespace {

TEST_F(LocalShareTest, AdmitsItsShareAndSaysHow) {
  const BoundLimit limit = gcra(100, kDay_us);
  share_.set_processes(4);
  const Answer first = ask(limit, 1);
  EXPECT_TRUE(first.decision.allowed);
  EXPECT_EQ(first.decision.source, Source::kLocal);
  EXPECT_EQ(first.decision.limit, 100);
  EXPECT_EQ(first.decision.remaining, 24);
  EXPECT_EQ(admitted(limit, 1, 100), 24);
  EXPECT_EQ(ask(limit, 1).decision.source, Source::kLocal);
}

TEST_F(LocalShareTest, NeverLessThanOne) {
  share_.set_processes(1000);
  EXPECT_EQ(admitted(gcra(5, kDay_us), 1, 10), 1);
  EXPECT_EQ(admitted(bound({.algorithm = Algorithm::kFixedWindow, .count = 5, .period_us = kDay_us}, "w"), 2, 10), 1);
}

TEST_F(LocalShareTest, BeginsWithTheShareOfTheDebtItKnows) {
  share_.set_processes(2);
  const Algorithm algorithms[] = {Algorithm::kGcra, Algorithm::kFixedWindow, Algorithm::kSlidingWindow,
                                  Algorithm::kSlidingLog};
  std::uint64_t key = 0;
  for (const Algorithm algorithm : algorithms) {
    const BoundLimit limit = bound({.algorithm = algorithm, .count = 100, .period_us = kDay_us}, "test");
    // Of gcra, 60 units take six tenths of the day to come back.
    debts_.told(hash_of(++key), 60, now_us_ + kDay_us * 6 / 10, now_us_, now_us_);
    EXPECT_EQ(admitted(limit, key, 100), 50 - 30) << name_of(algorithm);
  }
}

TEST_F(LocalShareTest, OfGcraTheDebtHasMeltedMeanwhile) {
  const BoundLimit limit = gcra(100, kDay_us);
  debts_.told(hash_of(1), 60, now_us_ + kDay_us * 6 / 10, now_us_, now_us_);
  now_us_ += kDay_us * 4 / 10;  // 40 came back
  EXPECT_EQ(admitted(limit, 1, 100), 80);
  debts_.told(hash_of(2), 60, now_us_ + 1, now_us_, now_us_);
  now_us_ += 1;
  EXPECT_EQ(admitted(limit, 2, 100), 100);
}

TEST_F(LocalShareTest, OwesWhatItAdmittedAndNotWhatItKnew) {
  const BoundLimit limit = gcra(100, kDay_us);
  share_.set_processes(2);
  debts_.told(hash_of(1), 60, now_us_ + kDay_us * 6 / 10, now_us_, now_us_);
  EXPECT_EQ(admitted(limit, 1, 7), 7);
  ask(limit, 2, 1, Verb::kPeek);
  const auto owed = take_owed();
  ASSERT_EQ(owed.size(), 1U);
  EXPECT_EQ(owed[0].cost, 7);
  EXPECT_EQ(owed[0].key, "key1");
  EXPECT_EQ(owed[0].limit.identity, limit.identity);
  EXPECT_EQ(owed[0].limit.limit.capacity, 100);
  EXPECT_TRUE(take_owed().empty());
  EXPECT_EQ(share_.stats().owing, 0U);
}

// As where a store never takes a charge, because it finds under the key what is no counter.
TEST_F(LocalShareTest, WhatWasHandedOutStillCounts) {
  struct Case {
    Algorithm algorithm;
    std::int64_t within_minute;
  };
  std::uint64_t key = 0;
  for (const Case& c : {Case{Algorithm::kGcra, 9}, Case{Algorithm::kFixedWindow, 5}, Case{Algorithm::kSlidingWindow, 5},
                        Case{Algorithm::kSlidingLog, 5}}) {
    SCOPED_TRACE(name_of(c.algorithm));
    const BoundLimit limit = bound({.algorithm = c.algorithm, .count = 5, .period_us = kMinute_us}, "test");
    ++key;
    now_us_ = (now_us_ / kMinute_us + 1) * kMinute_us;
    std::int64_t total = 0, charged = 0;
    for (int second = 0; second < 60; ++second) {
      total += admitted(limit, key, 5);
      for (const LocalShare::Owed& owed : take_owed()) charged += owed.cost;
      now_us_ += kSecond_us;
    }
    EXPECT_EQ(total, c.within_minute);
    EXPECT_EQ(charged, total) << "each unit once";
  }
}

TEST_F(LocalShareTest, HearsWhatTheStoreTellsAfterItCharged) {
  const BoundLimit limit = bound({.algorithm = Algorithm::kFixedWindow, .count = 100, .period_us = kDay_us}, "test");
  EXPECT_EQ(admitted(limit, 1, 10), 10);
  take_owed();
  now_us_ += kSecond_us;
  debts_.told(hash_of(1), 70, now_us_ + kHour_us, now_us_, now_us_);  // with these 10
  EXPECT_EQ(admitted(limit, 1, 100), 30);
  EXPECT_EQ(take_owed()[0].cost, 30);
}

TEST_F(LocalShareTest, HandsOutAFewAtATime) {
  LocalShare share({.counters_max = 1'000, .start = at(kStart_us)}, debts_);
  const BoundLimit slow = gcra(10, kDay_us, "slow"), fast = gcra(10, kSecond_us, "fast");
  for (std::uint64_t key = 0; key < 1'000; ++key) {
    Charge charge{.limit = key % 2 == 0 ? &slow : &fast, .key = "key", .hash = hash_of(key)};
    share.ask({.charges = {&charge, 1}}, at(now_us_));
  }
  EXPECT_EQ(share.stats().owing, 1'000U);
  std::vector<LocalShare::Owed> owed;
  std::size_t owing = 1'000;
  now_us_ += kSecond_us + 1;  // of `fast` all has come back
  for (bool more = true; more;) {
    more = share.take_owed(at(now_us_), 1'000, owed);
    const std::size_t left = share.stats().owing;
    EXPECT_LT(left, owing);
    EXPECT_LE(owing - left, LocalShare::kLooksMax);
    EXPECT_EQ(more, left > 0);
    owing = left;
  }
  EXPECT_EQ(owed.size(), 500U);
  EXPECT_EQ(share.stats().counters, 500U) << "what is as good as new is dropped";
}

TEST_F(LocalShareTest, OwesNoLessForANewNumberOfProcesses) {
  const Algorithm algorithms[] = {Algorithm::kGcra, Algorithm::kFixedWindow, Algorithm::kSlidingWindow,
                                  Algorithm::kSlidingLog};
  std::uint64_t key = 0;
  for (const Algorithm algorithm : algorithms) {
    SCOPED_TRACE(name_of(algorithm));
    const BoundLimit limit = bound({.algorithm = algorithm, .count = 10, .period_us = kHour_us}, "test");
    share_.set_processes(1);
    EXPECT_EQ(admitted(limit, ++key, 20), 10);
    for (const int processes : {5, 2, 7}) {
      share_.set_processes(processes);
      EXPECT_EQ(admitted(limit, key, 20), 0);
    }
    const auto owed = take_owed();
    ASSERT_EQ(owed.size(), 1U);
    EXPECT_EQ(owed[0].cost, 10);
  }
}

TEST_F(LocalShareTest, DoesNotOweWhatHasComeBack) {
  const BoundLimit limit = gcra(100, 100 * kSecond_us);
  EXPECT_EQ(admitted(limit, 1, 10), 10);
  now_us_ += 4 * kSecond_us;
  const auto owed = take_owed();
  ASSERT_EQ(owed.size(), 1U);
  EXPECT_EQ(owed[0].cost, 6);
  EXPECT_EQ(admitted(limit, 1, 10), 10);
  now_us_ += 10 * kSecond_us;
  EXPECT_TRUE(take_owed().empty());
}

TEST_F(LocalShareTest, DoesNotOweWhatWasGivenBack) {
  const BoundLimit limit = gcra(100, kDay_us);
  EXPECT_EQ(admitted(limit, 1, 10), 10);
  ask(limit, 1, 4, Verb::kRefund);
  const auto owed = take_owed();
  ASSERT_EQ(owed.size(), 1U);
  EXPECT_EQ(owed[0].cost, 6);
}

TEST_F(LocalShareTest, AResetAlsoForgivesWhatTheStoreTold) {
  const BoundLimit limit = gcra(100, kDay_us);
  debts_.told(hash_of(1), 100, now_us_ + kDay_us, now_us_, now_us_);
  EXPECT_FALSE(ask(limit, 1).decision.allowed);
  ask(limit, 1, 1, Verb::kReset);
  EXPECT_EQ(admitted(limit, 1, 200), 100);
  EXPECT_EQ(take_owed()[0].cost, 100);
}

TEST_F(LocalShareTest, ANewNumberOfProcessesCountsAtOnce) {
  const BoundLimit limit = gcra(100, kDay_us);
  share_.set_processes(2);
  EXPECT_EQ(admitted(limit, 1, 10), 10);
  share_.set_processes(5);
  EXPECT_EQ(admitted(limit, 1, 100), 10);
  share_.set_processes(1);
  EXPECT_EQ(admitted(limit, 1, 100), 80);
}

TEST_F(LocalShareTest, AllOrNothing) {
  const BoundLimit few = gcra(1, kDay_us, "few"), many = gcra(10, kDay_us, "many");
  std::array<Charge, 2> charges{Charge{.limit = &many, .key = "k", .hash = hash_of(1)},
                                Charge{.limit = &few, .key = "k", .hash = hash_of(2)}};
  const auto both = [&] { return share_.ask({.charges = charges}, at(now_us_)); };
  EXPECT_TRUE(both().decision.allowed);
  const Answer denied = both();
  EXPECT_FALSE(denied.decision.allowed);
  EXPECT_EQ(denied.binding, 1);
  EXPECT_EQ(denied.decision.limit, 1);
  EXPECT_EQ(ask(many, 1, 1, Verb::kPeek).decision.remaining, 9);
}

TEST_F(LocalShareTest, DeniesConcurrency) {
  const BoundLimit slots = bound({.algorithm = Algorithm::kConcurrency, .count = 5}, "slots");
  Charge charge{.limit = &slots, .key = "k", .hash = hash_of(1)};
  for (const Verb verb : {Verb::kAcquire, Verb::kRenew, Verb::kRelease}) {
    const Answer answer =
        share_.ask({.verb = verb, .charges = {&charge, 1}, .lease_id = "a", .lease_us = 1}, at(now_us_));
    EXPECT_FALSE(answer.decision.allowed);
    EXPECT_FALSE(answer.ok);
    EXPECT_EQ(answer.decision.source, Source::kLocal);
    EXPECT_EQ(answer.decision.limit, 5);
  }
}

TEST_F(LocalShareTest, HoldsABoundedNumberAndCountsWhatItForgets) {
  const BoundLimit limit = gcra(10, kDay_us);
  for (std::uint64_t key = 0; key < 100; ++key) ask(limit, key);
  EXPECT_EQ(share_.stats().counters, 32U);
  EXPECT_EQ(share_.stats().forgotten, 68U);
  EXPECT_EQ(take_owed().size(), 32U);
}

TEST_F(LocalShareTest, HoldsABoundedNumberOfBytes) {
  LocalShare share({.counters_max = 1'000, .bytes_max = 64 << 10, .start = at(kStart_us)}, debts_);
  const BoundLimit limit = gcra(10, kDay_us);
  for (std::uint64_t key = 0; key < 200; ++key) {
    const std::string text(kKeyBytesMax, 'k');
    Charge charge{.limit = &limit, .key = text, .hash = hash_of(key)};
    share.ask({.charges = {&charge, 1}}, at(now_us_));
    EXPECT_LE(share.stats().bytes, (64U << 10) + 2 * kKeyBytesMax);
  }
  EXPECT_GT(share.stats().forgotten, 100U);
}

TEST_F(LocalShareTest, LogsHaveABoundAndLeaveRoom) {
  constexpr std::size_t kBytes = 1 << 20;
  LocalShare share({.counters_max = 1'000, .bytes_max = kBytes, .start = at(kStart_us)}, debts_);
  const BoundLimit log = bound({.algorithm = Algorithm::kSlidingLog, .count = 1'000'000, .period_us = kDay_us}, "log");
  const BoundLimit plain = gcra(10, kDay_us);
  const auto ask_of = [&](const BoundLimit& limit, std::uint64_t key) {
    Charge charge{.limit = &limit, .key = "key", .hash = hash_of(key)};
    return share.ask({.charges = {&charge, 1}}, at(++now_us_));
  };
  for (std::uint64_t key = 0; key < 100; ++key) ask_of(plain, key);
  for (std::uint64_t key = 100; key < 120; ++key) {
    Answer answer;
    int entries = 0;
    do {
      answer = ask_of(log, key);
    } while (answer.decision.allowed && ++entries < 20'000);
    EXPECT_FALSE(answer.decision.allowed) << "no bound of one";
    EXPECT_EQ(answer.decision.source, Source::kFailedClosed);
    EXPECT_GT(answer.decision.retry_after.count(), 0);
  }
  EXPECT_GT(share.stats().bytes, kBytes / 3);
  EXPECT_LE(share.stats().bytes, kBytes * 3 / 4);
  EXPECT_EQ(share.stats().forgotten, 0U) << "others had to go for logs";
  for (std::uint64_t key = 0; key < 100; ++key) EXPECT_EQ(ask_of(plain, key).decision.remaining, 8) << key;
}

TEST_F(LocalShareTest, RoomIsMadeByWhatIsNearestToBeingFresh) {
  const BoundLimit slow = gcra(10, kDay_us, "slow"), fast = gcra(10, kSecond_us, "fast");
  for (std::uint64_t key = 0; key < 31; ++key) ask(slow, key);
  ask(fast, 31);
  ask(slow, 32);
  EXPECT_EQ(ask(slow, 32, 1, Verb::kPeek).decision.remaining, 9);
  for (std::uint64_t key = 0; key < 31; ++key) EXPECT_EQ(ask(slow, key, 1, Verb::kPeek).decision.remaining, 9) << key;
}

TEST_F(LocalShareTest, KeepsCalendarWindowsUntilTheyEndByBothClocks) {
  const BoundLimit daily =
      bound({.algorithm = Algorithm::kFixedWindow, .count = 5, .period_us = kDay_us, .calendar = CalendarUnit::kDay},
            "daily");
  const Micros midnight_us = kStart_us / kDay_us * kDay_us + kDay_us;
  LocalShare share({.start = at(midnight_us - kHour_us)}, debts_);
  Charge charge{.limit = &daily, .key = "key", .hash = hash_of(1)};
  const auto ask = [&](Instant now) { return share.ask({.charges = {&charge, 1}, .cost = 5}, now).decision.allowed; };
  EXPECT_TRUE(ask(at(midnight_us - kHour_us)));
  // The wall clock is set back by two hours: the same day lasts two hours longer.
  const Instant late{.monotonic_us = midnight_us + kHour_us, .wall_us = midnight_us - kHour_us};
  share.tidy(late);
  EXPECT_FALSE(ask(late));
  EXPECT_EQ(share.owed(late), 5U);
  EXPECT_TRUE(ask({.monotonic_us = midnight_us + 3 * kHour_us, .wall_us = midnight_us + kHour_us})) << "the next day";
}

TEST_F(LocalShareTest, TidiesAwayWhatIsAsGoodAsNewAFewAtATime) {
  constexpr std::size_t kKeys = 1'000;
  LocalShare share({.counters_max = kKeys, .start = at(kStart_us)}, debts_);
  const BoundLimit slow = gcra(10, kDay_us, "slow"), fast = gcra(10, kSecond_us, "fast");
  const auto ask_all = [&] {
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      Charge charge{.limit = key % 2 == 0 ? &slow : &fast, .key = "key", .hash = hash_of(key)};
      share.ask({.charges = {&charge, 1}}, at(now_us_));
    }
  };
  const auto tidy_all = [&] {
    std::size_t steps = 0;
    for (std::size_t before = 0; before != share.stats().counters; ++steps) {
      before = share.stats().counters;
      share.tidy(at(now_us_));
      EXPECT_LE(before - share.stats().counters, LocalShare::kTidiedMax);
    }
    return steps;
  };
  ask_all();
  tidy_all();
  EXPECT_EQ(share.stats().counters, kKeys) << "all are in use";
  now_us_ += kSecond_us + 100'000;
  tidy_all();
  EXPECT_EQ(share.stats().counters, kKeys) << "another loop's time may lie so far behind";
  now_us_ += kSecond_us;
  EXPECT_GE(tidy_all(), 3U);
  EXPECT_EQ(share.stats().counters, kKeys / 2);
  EXPECT_EQ(share.stats().owing, kKeys / 2) << "what has come back is not owed";
  now_us_ += kDay_us;
  tidy_all();
  EXPECT_EQ(share.stats().counters, 0U);
  EXPECT_EQ(share.stats().bytes, 0U);
  EXPECT_EQ(share.stats().forgotten, 0U);
  ask_all();
  EXPECT_EQ(share.stats().counters, kKeys) << "and begins again";
}

TEST_F(LocalShareTest, TidyingForgetsNoReset) {
  const BoundLimit limit = gcra(100, kDay_us);
  debts_.told(hash_of(1), 100, now_us_ + kDay_us, now_us_, now_us_);
  ask(limit, 1, 1, Verb::kReset);
  now_us_ += kMinute_us;
  share_.tidy(at(now_us_));
  EXPECT_EQ(admitted(limit, 1, 200), 100);
}

TEST_F(LocalShareTest, HandingOutWhatIsOwedForgetsNoReset) {
  const BoundLimit limit = gcra(100, kDay_us);
  debts_.told(hash_of(1), 50, now_us_ + kDay_us / 2, now_us_, now_us_);
  ask(limit, 1);
  ask(limit, 1, 1, Verb::kReset);
  take_owed();
  EXPECT_EQ(admitted(limit, 1, 200), 100);
}

TEST_F(LocalShareTest, AKnownDebtOfAWindowEndsWhenItDoesInTheStore) {
  struct Case {
    Algorithm algorithm;
    std::int64_t after;  // what passes when it is over
  };
  std::uint64_t key = 0;
  for (const Case& c : {Case{Algorithm::kFixedWindow, 100}, Case{Algorithm::kSlidingLog, 99}}) {
    const BoundLimit limit = bound({.algorithm = c.algorithm, .count = 100, .period_us = kDay_us}, "test");
    debts_.told(hash_of(++key), 99, now_us_ + kMinute_us, now_us_, now_us_);
    EXPECT_EQ(admitted(limit, key, 10), 1) << name_of(c.algorithm);
    const Answer denied = ask(limit, key);
    EXPECT_EQ(denied.decision.retry_after.count(), kMinute_us) << name_of(c.algorithm);
    now_us_ += kMinute_us + 1;
    EXPECT_EQ(admitted(limit, key, 200), c.after) << name_of(c.algorithm);
  }
}

TEST_F(LocalShareTest, SaysHowMuchIsOwed) {
  const BoundLimit limit = gcra(100, kDay_us),
                   window = bound({.algorithm = Algorithm::kFixedWindow, .count = 9, .period_us = kDay_us}, "window");
  ask(limit, 1, 30);
  ask(limit, 2, 12, Verb::kPeek);
  ask(window, 3, 7);
  EXPECT_EQ(share_.owed(at(now_us_)), 37U);
  take_owed(1);
  const std::uint64_t left = share_.owed(at(now_us_));
  EXPECT_TRUE(left == 30 || left == 7) << left;
  take_owed();
  EXPECT_EQ(share_.owed(at(now_us_)), 0U);
}

RC_GTEST_FIXTURE_PROP(LocalShareTest, ProcessesTogetherAdmitAtMostTheLimit, ()) {
  const auto count = *rc::gen::inRange<std::int64_t>(1, 50);
  const int processes = *rc::gen::inRange(1, 10);
  const auto algorithm =
      *rc::gen::element(Algorithm::kGcra, Algorithm::kFixedWindow, Algorithm::kSlidingWindow, Algorithm::kSlidingLog);
  const BoundLimit limit = bound({.algorithm = algorithm, .count = count, .period_us = kDay_us}, "test");
  const auto known = *rc::gen::inRange<std::int64_t>(0, count + 1);
  std::int64_t total = known;
  for (int i = 0; i < processes; ++i) {
    KnownDebts debts(8);
    debts.told(hash_of(1), known, kStart_us + mul_div_up(known, kDay_us, count), kStart_us, kStart_us);
    LocalShare share({.start = at(kStart_us)}, debts);
    share.set_processes(processes);
    Charge charge{.limit = &limit, .key = "k", .hash = hash_of(1)};
    for (std::int64_t k = 0; k < 2 * count; ++k) {
      total += share.ask({.charges = {&charge, 1}}, at(kStart_us)).decision.allowed ? 1 : 0;
    }
  }
  RC_ASSERT(total <= std::max<std::int64_t>(count, processes));
}

}  // namespace
}  // namespace ratel
