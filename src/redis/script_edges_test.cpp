// The instants at which the script's answer changes, where random traces rarely come.

#include <gtest/gtest.h>

#include <string>

#include "base/prng.h"
#include "limit/calendar.h"
#include "redis/key_name.h"
#include "redis/script_testing.h"
#include "store/store_testing.h"

namespace ratel {
namespace {

using Kind = ScriptOutcome::Kind;

class ScriptEdges : public testing::TestWithParam<ServerKind> {
 protected:
  static std::string key_of(const BoundLimit& limit) {
    std::string name;
    append_key_name("ratel", limit.identity, "key", name);
    return name;
  }
  ScriptOutcome ask(const BoundLimit& limit, Micros now_us, Micros calendar_us, Verb verb = Verb::kAllow) {
    Charge charge{.limit = &limit, .key = "key"};
    return store_.ask_at({.verb = verb, .charges = {&charge, 1}}, now_us, calendar_us);
  }

  RedisServer server_{GetParam().binary};
  RedisClient client_{server_.socket()};
  ScriptStore store_{client_, script_with_clock()};
};

// Products of more than 53 bits, which differ in their last ones. A reply that decide() does not agree with is no
// answer.
TEST_P(ScriptEdges, AWaitForASlidingWindowIsTightWhereItsProductsAreLarge) {
  const Micros period_us = kPeriodMax_us;
  const BoundLimit limit =
      bound({.algorithm = Algorithm::kSlidingWindow, .count = 20'000, .period_us = period_us}, "s");
  const Micros start_us = kStart_us - kStart_us % period_us;
  Prng prng(1);
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t previous = 300 + prng.next() % 19'700;
    const std::uint64_t current = 20'000 - previous + prng.next() % previous;
    client_.run({"SET", key_of(limit),
                 std::to_string(start_us) + ":" + std::to_string(previous) + ":" + std::to_string(current)});
    const ScriptOutcome denied = ask(limit, start_us, start_us, Verb::kPeek);
    ASSERT_EQ(denied.kind, Kind::kAnswer);
    ASSERT_FALSE(denied.answer.decision.allowed);
    const Micros passes_us = start_us + denied.answer.decision.retry_after.count();
    for (const Micros now_us : {passes_us, passes_us - 1}) {
      const ScriptOutcome outcome = ask(limit, now_us, now_us, Verb::kPeek);
      ASSERT_EQ(outcome.kind, Kind::kAnswer) << previous << " " << current;
      EXPECT_EQ(outcome.answer.decision.allowed, now_us == passes_us);
    }
  }
}

TEST_P(ScriptEdges, AQuestionIsInTimeAtItsDeadline) {
  const BoundLimit limit = gcra(5, kHour_us);
  Charge charge{.limit = &limit, .key = "key"};
  const Question question{.charges = {&charge, 1}};
  for (const auto& [now_us, kind] : {std::pair{kStart_us, Kind::kAnswer}, std::pair{kStart_us + 1, Kind::kExpired}}) {
    const TestReply reply = store_.call_at(question, now_us, {.prefix = "ratel", .deadline_us = kStart_us});
    EXPECT_EQ(ScriptStore::outcome_of(question, reply).kind, kind);
  }
}

TEST_P(ScriptEdges, ATimeIsAFaultBeyondCapacityReachAndSlack) {
  const BoundLimit limit = bound({.count = 7, .period_us = kSecond_us, .burst = 3}, "g", kSecond_us);
  // The capacity time is 428571 3/7 us.
  const Micros bound_us = kStart_us + 428'571 + kSecond_us + kClockSlack_us;
  struct Case {
    std::string value;
    bool clamped;
  };
  const Case cases[] = {
      {std::to_string(bound_us), false},
      {std::to_string(bound_us) + ":3:7", false},
      {std::to_string(bound_us) + ":4:7", true},
      {std::to_string(bound_us) + ":1:5", true},  // of another count: read as the microsecond above
      {std::to_string(bound_us + 1), true},
  };
  for (const Case& c : cases) {
    client_.run({"SET", key_of(limit), c.value});
    EXPECT_EQ(ask(limit, kStart_us, kStart_us).clamped, c.clamped ? 1 : 0) << c.value;
    EXPECT_EQ(client_.run({"GET", key_of(limit)}).text == c.value, !c.clamped) << c.value;
  }
}

TEST_P(ScriptEdges, ThreeWindowsOfTheCalendarAreKnownAndNoInstantMore) {
  const BoundLimit limit = bound(
      {.algorithm = Algorithm::kFixedWindow, .count = 5, .period_us = kDay_us, .calendar = CalendarUnit::kDay}, "k");
  const CalendarWindow day = calendar_window(limit.limit, kStart_us);
  struct Case {
    Micros now_us;
    Kind kind;
  };
  const Case cases[] = {
      {day.start_us - kDay_us - 1, Kind::kAgain},
      {day.start_us - kDay_us, Kind::kAnswer},
      {day.start_us - 1, Kind::kAnswer},
      {day.start_us, Kind::kAnswer},
      {day.end_us - 1, Kind::kAnswer},
      {day.end_us, Kind::kAnswer},
      {day.end_us + kDay_us - 1, Kind::kAnswer},
      {day.end_us + kDay_us, Kind::kAgain},
  };
  for (const Case& c : cases) {
    client_.run({"FLUSHALL"});
    const ScriptOutcome outcome = ask(limit, c.now_us, day.start_us);
    ASSERT_EQ(outcome.kind, c.kind) << c.now_us - day.start_us;
    const std::string value = std::to_string(c.now_us - c.now_us % kDay_us) + ":1";
    EXPECT_EQ(client_.run({"GET", key_of(limit)}).text, c.kind == Kind::kAnswer ? value : "");
  }
}

TEST_P(ScriptEdges, AClockBehindTheStoredWindowStandsInItForTheSlackOnly) {
  const BoundLimit limit = bound(
      {.algorithm = Algorithm::kFixedWindow, .count = 5, .period_us = kDay_us, .calendar = CalendarUnit::kDay}, "k");
  const CalendarWindow day = calendar_window(limit.limit, kStart_us);
  const std::string value = std::to_string(day.end_us) + ":5";
  client_.run({"SET", key_of(limit), value});
  EXPECT_EQ(ask(limit, day.end_us - kClockSlack_us, day.start_us, Verb::kPeek).answer.violated, 1);
  EXPECT_EQ(ask(limit, day.end_us - kClockSlack_us - 1, day.start_us, Verb::kPeek).answer.violated, 0);
  // The window it stands in may be one that the caller did not tell.
  EXPECT_EQ(ask(limit, day.end_us - 1, day.start_us - kDay_us, Verb::kPeek).kind, Kind::kAgain);
  EXPECT_EQ(ask(limit, day.end_us - 1, day.start_us, Verb::kPeek).answer.violated, 1);
}

INSTANTIATE_TEST_SUITE_P(Servers, ScriptEdges, testing::ValuesIn(server_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace ratel
