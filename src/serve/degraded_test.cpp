// What callers see, and what a store is told, where a store gives no decision.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serve/http_testing.h"
#include "serve/resp_testing.h"

namespace ratel {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kRules = R"(
rules:
  strict: { limit: 5/min, on_store_failure: deny, deadline: 20ms }
  loose: { limit: 5/min, on_store_failure: allow, deadline: 5s }
  slots: { limit: 5 concurrent }
)";

Answer closed() {
  return {.decision = {.source = Source::kFailedClosed, .limit = 5, .retry_after = milliseconds(40)},
          .violated = 1,
          .fault = StoreFault::kTimeout};
}
Answer alone() {
  return {.decision = {.allowed = true, .source = Source::kLocal, .limit = 5, .remaining = 1, .granted = 1},
          .fault = StoreFault::kUnreachable};
}

TEST(Degraded, RespMarksEachAnswer) {
  RespBench bench(kRules);
  bench.store.instead = closed();
  EXPECT_EQ(bench.run("RATEL.ALLOW strict k"), R"([0 5 0 40 0 "failed_closed" "strict"])");
  bench.store.instead = alone();
  EXPECT_EQ(bench.run("RATEL.ALLOW strict k"), R"([1 5 1 0 0 "local" "strict"])");
}

TEST(Degraded, RenewingAndReleasingAreMarked) {
  Answer open = {.decision = {.allowed = true, .source = Source::kFailedOpen}, .ok = true};
  open.fault = StoreFault::kUnreachable;
  RespBench resp(kRules);
  HttpBench http({.rules = kRules});
  for (const char* verb : {"renew", "release"}) {
    resp.store.instead = http.store.instead = open;
    EXPECT_EQ(resp.run("RATEL." + std::string(verb) + " slots k id"), R"([1 0 0 "failed_open"])") << verb;
    const std::string path = "/v1/" + std::string(verb);
    const std::string body = R"({"rule": "slots", "key": "k", "lease_id": "id"})";
    EXPECT_THAT(http.ask(path, body),
                HasSubstr(R"({"ok":true,"remaining":0,"reset_after_ms":0,"source":"failed_open"})"));
    resp.store.instead = http.store.instead = closed();
    EXPECT_EQ(resp.run("RATEL." + std::string(verb) + " slots k id"), R"([0 0 0 "failed_closed"])") << verb;
    EXPECT_THAT(http.ask(path, body),
                HasSubstr(R"("ok":false,"remaining":0,"reset_after_ms":0,"source":"failed_closed")"));
  }
}

TEST(Degraded, ThrottleHasNoRoomForAMarkSoThatItsNoIsAnError) {
  RespBench bench(kRules);
  bench.store.instead = closed();
  EXPECT_THAT(bench.run("CL.THROTTLE k 4 5 60"),
              HasSubstr("UNAVAILABLE the store gives no answer (timeout); try again in 40 ms"));
  bench.store.instead = alone();
  EXPECT_EQ(bench.run("CL.THROTTLE k 4 5 60"), "[0 5 1 -1 0]");
}

TEST(Degraded, HttpMarksEachAnswer) {
  HttpBench bench({.rules = kRules});
  bench.store.instead = closed();
  EXPECT_THAT(bench.ask("/v1/allow", R"({"rule": "strict", "key": "k"})"),
              HasSubstr(R"("allowed":false,"limit":5,"remaining":0,"retry_after_ms":40)"));
  EXPECT_THAT(bench.ask("/v1/allow", R"({"rule": "strict", "key": "k"})"), HasSubstr(R"("source":"failed_closed")"));
}

TEST(Degraded, IsCountedByRuleAndReason) {
  RespBench bench(kRules);
  bench.store.instead = closed();
  bench.run("CL.THROTTLE k 4 5 60");
  bench.run("RATEL.ALLOW LIMIT 5/min k");
  bench.run("RATEL.PEEK LIMIT 5/min k");
  EXPECT_EQ(bench.metrics.faults(kThrottleSeries, StoreFault::kTimeout), 1U);
  EXPECT_EQ(bench.metrics.faults(kAdhocSeries, StoreFault::kTimeout), 2U);
}

TEST(Degraded, WhatWasDecidedIsCountedAlsoWhereNobodyWaitsForItAnyMore) {
  RespBench resp(kRules);
  HttpBench http({.rules = kRules});
  resp.store.is_late = http.store.is_late = true;
  // The second is decided while the first, and then the connection, is under way.
  resp.send("RATEL.ALLOW LIMIT 5/min a\r\nRATEL.ALLOW LIMIT 5/min b\r\nCL.THROTTLE c 4 5 60\r\n");
  http.send(post("/v1/allow", R"([{"limit": "5/min", "key": "a"}, {"limit": "5/min", "key": "b"}])"));
  const auto decided = [](const LoopMetrics& metrics, std::uint32_t series) {
    return metrics.decisions(series, Outcome::kAllowed, Source::kExact);
  };
  resp.store.answer(1);
  http.store.answer(1);
  EXPECT_EQ(decided(resp.metrics, kAdhocSeries), 1U);
  EXPECT_EQ(decided(http.metrics, kAdhocSeries), 1U);
  resp.session.reset();
  http.session.reset();
  while (!resp.store.held.empty()) resp.store.answer();
  http.store.answer();
  EXPECT_EQ(decided(resp.metrics, kAdhocSeries), 2U);
  EXPECT_EQ(decided(resp.metrics, kThrottleSeries), 1U);
  EXPECT_EQ(decided(http.metrics, kAdhocSeries), 2U);
}

TEST(Degraded, AnAnswersDurationIncludesTheWaitForIt) {
  RespBench resp(kRules);
  HttpBench http({.rules = kRules});
  const auto sum_us = [](const LoopMetrics& metrics) {
    Durations durations;
    metrics.durations().add_to(durations);
    return durations.sum_us;
  };
  resp.store.is_late = http.store.is_late = true;
  resp.send("RATEL.PEEK LIMIT 5/min a\r\n");
  http.send(post("/v1/peek", R"({"limit": "5/min", "key": "a"})"));
  resp.store.answer();
  http.store.answer();
  resp.metrics.sent(resp.clock.now().monotonic_us + 700);
  http.metrics.sent(http.clock.now().monotonic_us + 700);
  EXPECT_EQ(sum_us(resp.metrics), 700U);
  EXPECT_EQ(sum_us(http.metrics), 700U);
}

TEST(Degraded, AStoreIsToldOfEachRulesDeadlineAndFailureMode) {
  struct Case {
    const char* words;
    Micros deadline_us;
    FailureMode mode;
  };
  const Case cases[] = {
      {"RATEL.ALLOW strict k", 20'000, FailureMode::kDeny},
      {"RATEL.ALLOW loose k", 5'000'000, FailureMode::kAllow},
      {"RATEL.ALLOW loose,strict k", 20'000, FailureMode::kAllow},  // the mode of the first limit
      {"RATEL.ALLOW LIMIT 5/min k", 50'000, FailureMode::kDeny},
      {"CL.THROTTLE k 4 5 60", 50'000, FailureMode::kDeny},
  };
  RespBench bench(kRules, "", FailureMode::kDeny);
  for (const Case& c : cases) {
    bench.run(c.words);
    EXPECT_EQ(bench.store.deadline_us, c.deadline_us) << c.words;
    EXPECT_EQ(bench.store.on_failure, c.mode) << c.words;
  }
  HttpBench http({.rules = kRules});
  http.ask("/v1/allow", R"({"rule": "strict", "key": "k"})");
  EXPECT_EQ(http.store.deadline_us, 20'000);
  const std::pair<const char*, Micros> queries[] = {
      {"rule=loose", 5'000'000}, {"rule=loose,strict", 20'000}, {"limit=5/min", 50'000}};
  for (const auto& [query, deadline_us] : queries) {
    http.run(get("/v1/auth?" + std::string(query) + "&key=k"));
    EXPECT_EQ(http.store.deadline_us, deadline_us) << query;
  }
}

}  // namespace
}  // namespace ratel
