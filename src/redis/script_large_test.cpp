// Logs and leases that are large: right, and in a bounded number of steps a call.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "redis/key_name.h"
#include "redis/script_testing.h"
#include "store/store_testing.h"

namespace ratel {
namespace {

using Kind = ScriptOutcome::Kind;

constexpr std::int64_t kMany = 20'000;
/// Commands that one call may run: the fixed ones, and for a bisection log2 of the entries.
constexpr std::int64_t kStepsMax = 30;

const BoundLimit kLog = bound({.algorithm = Algorithm::kSlidingLog, .count = kMany, .period_us = kHour_us}, "l");
const BoundLimit kLeases = bound({.algorithm = Algorithm::kConcurrency, .count = kMany}, "c");

class ScriptLarge : public testing::TestWithParam<ServerKind> {
 protected:
  static std::string key_of(const BoundLimit& limit) {
    std::string name;
    append_key_name("ratel", limit.identity, "key", name);
    return name;
  }

  /// Also checks that the call ran in so many steps.
  ScriptOutcome ask(const BoundLimit& limit, Verb verb, std::int64_t cost, Micros now_us,
                    const std::string& id = "id") {
    Charge charge{.limit = &limit, .key = "key"};
    const Question question{
        .verb = verb, .charges = {&charge, 1}, .cost = cost, .lease_id = id, .lease_us = kMinute_us};
    client_.run({"CONFIG", "RESETSTAT"});
    const ScriptOutcome outcome = store_.ask_at(question, now_us, now_us);
    EXPECT_LE(steps(), kStepsMax);
    return outcome;
  }
  std::int64_t steps() {
    const std::string stats = client_.run({"INFO", "commandstats"}).text;
    std::int64_t all = 0;
    for (std::size_t at = 0; (at = stats.find("calls=", at)) != std::string::npos; at += 6) {
      if (stats[at - 1] == ':') all += std::atoll(stats.c_str() + at + 6);
    }
    return all;
  }
  std::int64_t size(const BoundLimit& limit) { return client_.run({"ZCARD", key_of(limit)}).integer; }

  /// Members that `member_of(i)` makes, with the score start + i.
  template <typename F>
  void plant(const BoundLimit& limit, std::int64_t count, Micros start_us, F member_of) {
    const std::string key = key_of(limit);
    for (std::int64_t i = 0; i < count;) {
      std::vector<std::string> words{"ZADD", key};
      for (int j = 0; j < 500 && i < count; ++j, ++i) {
        words.push_back(std::to_string(start_us + i));
        words.push_back(member_of(i));
      }
      ASSERT_EQ(client_.run(std::vector<std::string_view>(words.begin(), words.end())).kind, ':');
    }
  }
  void plant_log(std::int64_t count, Micros start_us) {
    plant(kLog, count, start_us, [](std::int64_t i) { return std::to_string(i + 1) + ":1"; });
  }

  RedisServer server_{GetParam().binary};
  RedisClient client_{server_.socket()};
  ScriptStore store_{client_, script_with_clock()};
};

TEST_P(ScriptLarge, ALogIsAskedInFewStepsHoweverLongItIs) {
  plant_log(kMany, kStart_us);
  const Micros now_us = kStart_us + kMinute_us;
  for (const std::int64_t cost : {std::int64_t{1}, std::int64_t{2}, kMany / 2, kMany - 1, kMany}) {
    const ScriptOutcome denied = ask(kLog, Verb::kAllow, cost, now_us);
    ASSERT_EQ(denied.kind, Kind::kAnswer);
    EXPECT_EQ(denied.answer.decision.retry_after.count(), kStart_us + cost - 1 + kHour_us - now_us) << cost;
    EXPECT_EQ(denied.answer.decision.remaining, 0);
  }
  // A refund takes from the newest.
  const ScriptOutcome refunded = ask(kLog, Verb::kRefund, 100, now_us);
  EXPECT_EQ(refunded.answer.decision.remaining, 100);
  EXPECT_EQ(refunded.answer.decision.reset_after.count(), kStart_us + kMany - 101 + kHour_us - now_us);
  EXPECT_EQ(size(kLog), kMany - 100);
}

TEST_P(ScriptLarge, WhatHasAgedOutGoesFasterThanEntriesCome) {
  plant_log(1'000, kStart_us);
  // All but the last hundred have aged out.
  const Micros now_us = kStart_us + 899 + kHour_us;
  EXPECT_EQ(ask(kLog, Verb::kPeek, 1, now_us).answer.decision.remaining, kMany - 100);
  EXPECT_EQ(size(kLog), 1'000);
  for (int i = 1; i <= 20; ++i) {
    const ScriptOutcome outcome = ask(kLog, Verb::kAllow, 1, now_us);  // all in one instant, so one entry more
    EXPECT_EQ(outcome.answer.decision.remaining, kMany - 100 - i);
    EXPECT_EQ(size(kLog), std::max(1'001 - 64 * i, 101)) << i;
  }
  EXPECT_EQ(ask(kLog, Verb::kAllow, 1, now_us + 2 * kHour_us).answer.decision.remaining, kMany - 1);
  EXPECT_EQ(size(kLog), 1) << "where all has aged out, all goes";
}

TEST_P(ScriptLarge, WhatHasAgedOutStaysSoWhereTheClockRunsBack) {
  plant_log(400, kStart_us);
  // 351 have aged out, and more of them stay in the way than go with each charge.
  const Micros now_us = kStart_us + 350 + kHour_us;
  const auto used = [&](Verb verb, Micros us) { return kMany - ask(kLog, verb, 1, us).answer.decision.remaining; };
  EXPECT_EQ(used(Verb::kAllow, now_us), 50);
  EXPECT_EQ(used(Verb::kPeek, now_us - 100), 50);
  EXPECT_EQ(used(Verb::kRefund, now_us), 49);
  EXPECT_EQ(used(Verb::kPeek, now_us - 100), 49) << "though the newest entry is an older one again";
  EXPECT_EQ(used(Verb::kAllow, now_us - 100), 50);
  EXPECT_EQ(used(Verb::kPeek, now_us - 110), 50);
  EXPECT_EQ(used(Verb::kAllow, now_us - 110), 51) << "into the newest entry";
  EXPECT_EQ(used(Verb::kPeek, now_us - 110), 51);
  EXPECT_GT(size(kLog), 51) << "or this test shows nothing";
}

TEST_P(ScriptLarge, ALogWhoseEntriesComeOneByOneDoesNotGrow) {
  Micros now_us = kStart_us;
  for (int i = 0; i < 100; ++i, now_us += kHour_us - 1) {
    EXPECT_TRUE(ask(kLog, Verb::kAllow, 1, now_us).answer.decision.allowed);
    EXPECT_LE(size(kLog), 3);
  }
}

TEST_P(ScriptLarge, TheTotalsOfALogMayWrapAround) {
  constexpr std::int64_t kWrap = std::int64_t{1} << 52;
  plant(kLog, 10, kStart_us, [](std::int64_t i) { return std::to_string(kWrap - 10 + i) + ":1"; });
  EXPECT_EQ(ask(kLog, Verb::kAllow, 5, kStart_us + 20).answer.decision.remaining, kMany - 15);
  EXPECT_EQ(ask(kLog, Verb::kAllow, kMany - 15, kStart_us + 30).answer.decision.remaining, 0);
  const auto retry_us = [&](std::int64_t cost) {
    return ask(kLog, Verb::kAllow, cost, kStart_us + 40).answer.decision.retry_after.count() - kHour_us + 40;
  };
  EXPECT_EQ(retry_us(10), 9);
  EXPECT_EQ(retry_us(11), 20);
  EXPECT_EQ(retry_us(15), 20);
  EXPECT_EQ(retry_us(16), 30);
  EXPECT_EQ(ask(kLog, Verb::kRefund, kMany - 12, kStart_us + 40).answer.decision.remaining, kMany - 12);
  EXPECT_EQ(ask(kLog, Verb::kRefund, 5, kStart_us + 40).answer.decision.remaining, kMany - 7);
  EXPECT_EQ(ask(kLog, Verb::kAllow, 8, kStart_us + 50).answer.decision.remaining, kMany - 15);
  EXPECT_EQ(ask(kLog, Verb::kPeek, 1, kStart_us + 6 + kHour_us).answer.decision.remaining, kMany - 8);
}

TEST_P(ScriptLarge, LeasesAreAskedInFewStepsHoweverManyThereAre) {
  plant(kLeases, kMany, kStart_us + kMinute_us, [](std::int64_t i) { return "1:lease" + std::to_string(i); });
  for (const std::int64_t cost : {std::int64_t{1}, kMany / 2, kMany}) {
    const ScriptOutcome denied = ask(kLeases, Verb::kAcquire, cost, kStart_us);
    EXPECT_EQ(denied.answer.decision.retry_after.count(), kMinute_us + cost - 1) << cost;
  }
  EXPECT_TRUE(ask(kLeases, Verb::kRelease, 1, kStart_us, "lease7").answer.ok);
  EXPECT_TRUE(ask(kLeases, Verb::kAcquire, 1, kStart_us).answer.decision.allowed);
  // With costs that differ the wait for very many is when the last runs out: a hint that is not too early.
  EXPECT_TRUE(ask(kLeases, Verb::kRelease, 1, kStart_us, "lease8").answer.ok);
  EXPECT_TRUE(ask(kLeases, Verb::kRelease, 1, kStart_us, "lease9").answer.ok);
  EXPECT_TRUE(ask(kLeases, Verb::kAcquire, 2, kStart_us, "heavy").answer.decision.allowed);
  EXPECT_EQ(ask(kLeases, Verb::kAcquire, 1, kStart_us, "more").answer.decision.retry_after.count(), kMinute_us);
  EXPECT_EQ(ask(kLeases, Verb::kAcquire, 1'003, kStart_us, "more").answer.decision.retry_after.count(),
            kMinute_us + kMany - 1);
}

TEST_P(ScriptLarge, LeasesThatEndedAreForgottenSomeAtATimeAndNothingIsDecidedMeanwhile) {
  plant(kLeases, 4'000, kStart_us, [](std::int64_t i) { return "1:lease" + std::to_string(i); });
  const std::string key = key_of(kLeases);
  client_.run({"ZADD", key, std::to_string(kStart_us), "5:heavy", "-5", "cheavy", "-4", "x"});
  const Micros now_us = kStart_us + 3'899;
  EXPECT_EQ(ask(kLeases, Verb::kPeek, 1, now_us).kind, Kind::kAgain);
  EXPECT_EQ(size(kLeases), 4'001 - 1'000);
  EXPECT_EQ(ask(kLeases, Verb::kAcquire, 1, now_us).kind, Kind::kAgain);
  EXPECT_EQ(ask(kLeases, Verb::kRelease, 1, now_us, "lease950").kind, Kind::kAgain);
  const ScriptOutcome decided = ask(kLeases, Verb::kAcquire, 1, now_us);
  ASSERT_EQ(decided.kind, Kind::kAnswer);
  EXPECT_EQ(decided.answer.decision.remaining, kMany - 101);
  EXPECT_EQ(size(kLeases), 101);
}

INSTANTIATE_TEST_SUITE_P(Servers, ScriptLarge, testing::ValuesIn(server_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace ratel
