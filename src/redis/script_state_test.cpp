// What the script leaves in a real server: that it writes once, always with a TTL, nothing where it must not, and what
// it makes of state that is not ours.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/prng.h"
#include "redis/key_name.h"
#include "redis/script_testing.h"
#include "redis/store_error.h"
#include "store/store_testing.h"

namespace ratel {
namespace {

using Kind = ScriptOutcome::Kind;

const ScriptCallOptions kOptions{.prefix = "ratel"};

/// A limit of 5 of each algorithm, over an hour or its like.
struct Sort {
  std::string name;
  BoundLimit limit;
  Verb verb;          // that charges
  Micros longest_us;  // a TTL
};

const std::vector<Sort>& sorts() {
  static const std::vector<Sort> sorts{
      {"gcra", bound({.count = 5, .period_us = kHour_us}, "g"), Verb::kAllow, kHour_us},
      {"gcra with remainders", bound({.count = 7, .period_us = kHour_us, .burst = 5}, "r", kSecond_us), Verb::kAllow,
       kHour_us + kSecond_us},
      {"fixed window", bound({.algorithm = Algorithm::kFixedWindow, .count = 5, .period_us = kHour_us}, "f"),
       Verb::kAllow, kHour_us},
      {"calendar window",
       bound({.algorithm = Algorithm::kFixedWindow,
              .count = 5,
              .period_us = 30 * kDay_us,
              .calendar = CalendarUnit::kMonth},
             "k"),
       Verb::kAllow, 31 * kDay_us + kClockSlack_us},
      {"sliding window", bound({.algorithm = Algorithm::kSlidingWindow, .count = 5, .period_us = kHour_us}, "s"),
       Verb::kAllow, 2 * kHour_us},
      {"sliding log", bound({.algorithm = Algorithm::kSlidingLog, .count = 5, .period_us = kHour_us}, "l"),
       Verb::kAllow, kHour_us},
      {"concurrency", bound({.algorithm = Algorithm::kConcurrency, .count = 5}, "c"), Verb::kAcquire, kMinute_us},
  };
  return sorts;
}

class ScriptState : public testing::TestWithParam<ServerKind> {
 protected:
  static std::string key_of(const BoundLimit& limit) {
    std::string name;
    append_key_name("ratel", limit.identity, "key", name);
    return name;
  }

  Question question(Charge& charge, const BoundLimit& limit, Verb verb, std::int64_t cost) {
    charge = {.limit = &limit, .key = "key"};
    id_ = "id" + std::to_string(++ids_);
    return {.verb = verb, .charges = {&charge, 1}, .cost = cost, .lease_id = id_, .lease_us = kMinute_us};
  }
  ScriptOutcome ask(const BoundLimit& limit, Verb verb, std::int64_t cost = 1) {
    Charge charge;
    const Question asked = question(charge, limit, verb, cost);
    const ScriptOutcome outcome = store_.ask(asked, {.prefix = "ratel", .calendar_us = calendar_us_});
    if (outcome.kind != Kind::kAgain) return outcome;
    calendar_us_ = outcome.now_us;
    return store_.ask(asked, {.prefix = "ratel", .calendar_us = calendar_us_});
  }
  bool allows(const Sort& sort, std::int64_t cost = 1) {
    const ScriptOutcome outcome = ask(sort.limit, sort.verb, cost);
    EXPECT_EQ(outcome.kind, Kind::kAnswer);
    return outcome.answer.decision.allowed;
  }

  std::int64_t ttl_ms(const std::string& key) { return client_.run({"PTTL", key}).integer; }
  std::int64_t writes() {
    const std::string info = client_.run({"INFO", "persistence"}).text;
    const std::string field = "rdb_changes_since_last_save:";
    return std::atoll(info.c_str() + info.find(field) + field.size());
  }
  std::string dump(const std::string& key) { return client_.run({"DUMP", key}).text; }

  RedisServer server_{GetParam().binary};
  RedisClient client_{server_.socket()};
  ScriptStore store_{client_};
  std::string id_;
  int ids_ = 0;
  Micros calendar_us_ = kStart_us;  // wrong at first
};

// 13
TEST_P(ScriptState, EveryWriteLeavesATtlThatIsNoLongerThanTheStateNeeds) {
  Prng prng(1);
  for (const Sort& sort : sorts()) {
    const std::string key = key_of(sort.limit);
    const bool leases = sort.verb == Verb::kAcquire;
    const Verb plain[] = {Verb::kAllow, Verb::kAllow, Verb::kAtMost, Verb::kRefund, Verb::kPeek, Verb::kReset};
    const Verb of_leases[] = {Verb::kAcquire, Verb::kAcquire, Verb::kRenew, Verb::kRelease, Verb::kPeek, Verb::kReset};
    const Verb* const verbs = leases ? of_leases : plain;
    int held = 0;
    for (int i = 0; i < 200; ++i) {
      const Verb verb = verbs[prng.next() % 6];
      ids_ = static_cast<int>(prng.next() % 5);  // so that there is something to renew and to release
      const ScriptOutcome outcome = ask(sort.limit, verb, static_cast<std::int64_t>(prng.next() % 4));
      ASSERT_EQ(outcome.kind, Kind::kAnswer) << sort.name;
      EXPECT_EQ(outcome.healed, 0) << sort.name;
      const std::int64_t ttl = ttl_ms(key);
      if (ttl == -2) continue;  // no such key
      ++held;
      EXPECT_GE(ttl, 0) << sort.name;
      EXPECT_LE(ttl * kMillisecond_us, sort.longest_us + kMillisecond_us) << sort.name;
    }
    EXPECT_GT(held, 50) << sort.name;
  }
}

TEST_P(ScriptState, AReservationLeavesATtlThatLastsUntilItIsOver) {
  const BoundLimit limit{*make_limit({.count = 5, .period_us = kHour_us}, kHour_us), "reserved", "test"};
  Micros longest_us = 0;
  for (int i = 0; i < 12; ++i) {
    Charge charge;
    Question asked = question(charge, limit, Verb::kReserve, 1);
    asked.max_wait_us = kHour_us;
    const ScriptOutcome outcome = store_.ask(asked, {.prefix = "ratel", .calendar_us = calendar_us_});
    EXPECT_EQ(outcome.answer.decision.allowed, i < 10);
    const Micros left_us = client_.run({"PEXPIRETIME", key_of(limit)}).integer * kMillisecond_us - outcome.now_us;
    EXPECT_GE(left_us, outcome.answer.decision.reset_after.count());
    EXPECT_LE(left_us, 2 * kHour_us + kMillisecond_us);
    longest_us = std::max(longest_us, left_us);
  }
  EXPECT_GT(longest_us, kHour_us);
}

// 14: the key goes with the millisecond after its state has ended, never before.
TEST_P(ScriptState, AKeyOutlivesItsStateByLessThanAMillisecond) {
  for (const Sort& sort : sorts()) {
    const ScriptOutcome outcome = ask(sort.limit, sort.verb);
    ASSERT_EQ(outcome.kind, Kind::kAnswer) << sort.name;
    Micros until_us = outcome.now_us + outcome.answer.decision.reset_after.count();
    if (sort.limit.limit.calendar != CalendarUnit::kNone) until_us += kClockSlack_us;
    if (sort.limit.limit.count == 7) --until_us;  // of the pair q + r/L only q counts
    const Micros expires_us = client_.run({"PEXPIRETIME", key_of(sort.limit)}).integer * kMillisecond_us;
    EXPECT_GT(expires_us, until_us) << sort.name;
    EXPECT_LE(expires_us, until_us + kMillisecond_us) << sort.name;
  }
}

TEST_P(ScriptState, AWindowRefundedToNothingIsKeptForNoLongerThanItself) {
  const Sort& sort = sorts()[4];
  const ScriptOutcome outcome = ask(sort.limit, Verb::kAllow);
  ask(sort.limit, Verb::kRefund);
  EXPECT_EQ(client_.run({"PEXPIRETIME", key_of(sort.limit)}).integer,
            (outcome.now_us / kHour_us + 1) * kHour_us / kMillisecond_us + 1);
}

// 3, 4
TEST_P(ScriptState, WritesOnceWhereItChargesAndNeverWhereItDoesNot) {
  for (const Sort& sort : sorts()) {
    const std::string key = key_of(sort.limit);
    const bool collection = sort.name == "sliding log" || sort.name == "concurrency";
    std::int64_t before = writes();
    EXPECT_TRUE(allows(sort, 2));
    EXPECT_EQ(writes() - before, collection ? (sort.verb == Verb::kAcquire ? 4 : 2) : 1) << sort.name;
    before = writes();
    const std::string state = dump(key);
    const std::int64_t expires = client_.run({"PEXPIRETIME", key}).integer;
    EXPECT_FALSE(allows(sort, 4)) << sort.name;
    EXPECT_FALSE(allows(sort, 6)) << sort.name;
    EXPECT_TRUE(allows(sort, 0)) << sort.name;
    EXPECT_TRUE(ask(sort.limit, Verb::kPeek, 3).answer.decision.allowed) << sort.name;
    EXPECT_FALSE(ask(sort.limit, Verb::kPeek, 4).answer.decision.allowed) << sort.name;
    EXPECT_EQ(writes(), before) << sort.name;
    EXPECT_EQ(dump(key), state) << sort.name;
    EXPECT_EQ(client_.run({"PEXPIRETIME", key}).integer, expires) << sort.name;
  }
}

// 15
TEST_P(ScriptState, AKeyWithoutTtlGetsOneFromWhateverIsAskedButAPeek) {
  for (const Sort& sort : sorts()) {
    const std::string key = key_of(sort.limit);
    EXPECT_TRUE(allows(sort, 5));
    const std::int64_t ttl = ttl_ms(key);
    client_.run({"PERSIST", key});
    EXPECT_EQ(ask(sort.limit, Verb::kPeek).healed, 0) << sort.name;
    EXPECT_EQ(ttl_ms(key), -1) << sort.name;
    const ScriptOutcome outcome = ask(sort.limit, sort.verb);
    EXPECT_FALSE(outcome.answer.decision.allowed) << sort.name;
    EXPECT_EQ(outcome.healed, 1) << sort.name;
    EXPECT_GT(ttl_ms(key), 0) << sort.name;
    EXPECT_LE(ttl_ms(key), ttl) << sort.name;
    EXPECT_EQ(ask(sort.limit, sort.verb).healed, 0) << sort.name;
  }
}

TEST_P(ScriptState, AStateThatEndedWithoutATtlEndsWithTheNextQuestion) {
  const Sort& sort = sorts().front();
  client_.run({"SET", key_of(sort.limit), "1000"});
  EXPECT_EQ(ask(sort.limit, sort.verb, 6).healed, 1);
  EXPECT_LE(ttl_ms(key_of(sort.limit)), 1);
  EXPECT_NE(ttl_ms(key_of(sort.limit)), -1);
}

// 16
TEST_P(ScriptState, WhatIsNoStateOfOursIsAFaultOfThatKeyAloneAndEnds) {
  struct Case {
    std::size_t sort;
    const char* what;
    std::vector<std::string_view> plant;  // a command with KEY for the key
  };
  const std::string now = client_.run({"TIME"}).items[0].text + "000000";
  const std::string day_ahead = std::to_string(std::stoll(now) + 3 * kDay_us);
  const std::string day_ahead_and_count = day_ahead + ":3";
  const std::string day_ahead_and_counts = std::to_string((std::stoll(now) / kHour_us + 100) * kHour_us) + ":3:3";
  const std::string unaligned = std::to_string(std::stoll(now) / kHour_us * kHour_us + 1) + ":3:3";
  const std::string unaligned_start = std::to_string(std::stoll(now) + 1) + ":3";
  const std::string now_and_none = now + ":0";
  const std::string now_and_beyond = now + ":4294967296";
  const std::vector<Case> cases{
      {0, "another type", {"RPUSH", "KEY", "a"}},
      {0, "text", {"SET", "KEY", "hello"}},
      {0, "nothing", {"SET", "KEY", ""}},
      {0, "negative", {"SET", "KEY", "-5"}},
      {0, "a fraction", {"SET", "KEY", "1764547200000000.5"}},
      {0, "no number", {"SET", "KEY", "nan"}},
      {0, "infinity", {"SET", "KEY", "inf"}},
      {0, "beyond 2^53", {"SET", "KEY", "9007199254740992"}},
      {0, "a count beyond all", {"SET", "KEY", "1764547200000000:1:4294967296"}},
      {0, "a remainder that is none", {"SET", "KEY", "1764547200000000:7:7"}},
      {0, "a remainder of nothing", {"SET", "KEY", "1764547200000000:3"}},
      {0, "binary", {"SET", "KEY", std::string_view("1:2:3\0", 6)}},
      {2, "another type", {"SADD", "KEY", "a"}},
      {2, "text", {"SET", "KEY", "hello"}},
      {2, "half a pair", {"SET", "KEY", now}},
      {2, "a count of none", {"SET", "KEY", now_and_none}},
      {2, "a count beyond all", {"SET", "KEY", now_and_beyond}},
      {2, "an end that no window has", {"SET", "KEY", day_ahead_and_count}},
      {3, "text", {"SET", "KEY", "hello"}},
      {3, "no whole second", {"SET", "KEY", unaligned_start}},
      {3, "a century ahead", {"SET", "KEY", "4920220800000000:3"}},
      {4, "another type", {"HSET", "KEY", "a", "b"}},
      {4, "a pair", {"SET", "KEY", "1764547200000000:3"}},
      {4, "a start that is none", {"SET", "KEY", unaligned}},
      {4, "a start far ahead", {"SET", "KEY", day_ahead_and_counts}},
      {5, "another type", {"SET", "KEY", "1"}},
      {5, "a member that is none", {"ZADD", "KEY", now, "hello"}},
      {5, "a time far ahead", {"ZADD", "KEY", day_ahead, "3:3"}},
      {5, "a cost of none", {"ZADD", "KEY", now, "3:0"}},
      {5, "a fraction of a time", {"ZADD", "KEY", "1764547200000000.25", "3:3"}},
      {5, "a total that does not fit", {"ZADD", "KEY", now, "4503599627370496:3"}},
      {6, "another type", {"SET", "KEY", "1"}},
      {6, "an end further ahead than any lease", {"ZADD", "KEY", day_ahead, "1:id"}},
      {6, "more units than any limit has", {"ZADD", "KEY", now, "1:id", "-4294967296", "x"}},
  };
  const Sort& other = sorts()[1];
  for (const Case& c : cases) {
    const Sort& sort = sorts()[c.sort];
    SCOPED_TRACE(sort.name + ": " + c.what);
    const std::string key = key_of(sort.limit);
    client_.run({"FLUSHALL"});
    std::vector<std::string_view> words = c.plant;
    std::replace(words.begin(), words.end(), std::string_view("KEY"), std::string_view(key));
    ASSERT_NE(client_.run(words).kind, '-');
    if (c.sort == 6) client_.run({"ZADD", key, "XX", "INCR", "300000000", "1:id"});  // alive for some minutes
    const std::string state = dump(key);

    EXPECT_EQ(ask(sort.limit, Verb::kPeek).kind, Kind::kFaults);
    EXPECT_EQ(ttl_ms(key), -1) << "a peek changes nothing";
    for (int i = 0; i < 2; ++i) {
      if (sort.verb == Verb::kAllow) {
        Charge charges[] = {{.limit = &other.limit, .key = "key"}, {.limit = &sort.limit, .key = "key"}};
        const ScriptOutcome outcome =
            store_.ask({.charges = charges}, {.prefix = "ratel", .calendar_us = calendar_us_});
        EXPECT_EQ(outcome.kind, Kind::kFaults);
        EXPECT_EQ(outcome.faults, 2);
        EXPECT_EQ(ttl_ms(key_of(other.limit)), -2) << "nothing is charged";
      } else {
        EXPECT_EQ(ask(sort.limit, sort.verb).kind, Kind::kFaults);
      }
      EXPECT_EQ(dump(key), state) << "what is not ours is left alone";
      EXPECT_GT(ttl_ms(key), 0);
      EXPECT_LE(ttl_ms(key), kClockSlack_us / kMillisecond_us);
      client_.run({"PEXPIRE", key, "86400000"});  // a longer one is no better than none
    }
    EXPECT_EQ(ask(sort.limit, Verb::kReset).kind, Kind::kAnswer) << "a reset mends it";
    EXPECT_TRUE(allows(sort));
  }
}

TEST_P(ScriptState, AnErrorThatIsNotOfTheKeyIsNoFaultOfIt) {
  for (const Sort& sort : sorts()) {
    client_.run({"FLUSHALL"});
    EXPECT_TRUE(allows(sort));
    const std::string state = dump(key_of(sort.limit));
    ASSERT_EQ(client_.run({"ACL", "SETUSER", "default", "-get", "-zrange"}).text, "OK");
    Charge charge;
    const TestReply reply =
        store_.call(question(charge, sort.limit, sort.verb, 1), {.prefix = "ratel", .calendar_us = calendar_us_});
    EXPECT_EQ(reply.kind, '-') << sort.name;
    EXPECT_NE(read_store_error(reply.text).kind, StoreError::Kind::kWrongType) << reply.text;
    ASSERT_EQ(client_.run({"ACL", "SETUSER", "default", "+get", "+zrange"}).text, "OK");
    EXPECT_EQ(dump(key_of(sort.limit)), state) << sort.name;
  }
}

// Only what is read is looked at, so garbage between entries may be met late; it is a fault by then, and no error that
// would leave other keys half written.
TEST_P(ScriptState, GarbageAmongEntriesBreaksNoCall) {
  Prng prng(3);
  for (const std::size_t i : {5, 6}) {
    const Sort& sort = sorts()[i];
    const std::string key = key_of(sort.limit);
    for (int round = 0; round < 200; ++round) {
      client_.run({"DEL", key});
      for (int j = 0; j < 5; ++j) allows(sort, 1 + static_cast<std::int64_t>(prng.next() % 2));
      for (int j = 0; j < 2; ++j) {
        const TestReply members = client_.run({"ZRANGE", key, "0", "-1", "WITHSCORES"});
        const std::size_t which = prng.next() % (members.items.size() / 2) * 2;
        const std::string garbage[] = {"hello", "7", ":", "7:", "x", "c", "0:0", "99999999999999999999:1", ""};
        client_.run({"ZREM", key, members.items[which].text});
        client_.run({"ZADD", key, members.items[which + 1].text, garbage[prng.next() % 9]});
      }
      for (int j = 0; j < 4; ++j) {
        const Verb plain[] = {Verb::kAllow, Verb::kRefund, Verb::kAtMost, Verb::kPeek};
        const Verb leases[] = {Verb::kAcquire, Verb::kRelease, Verb::kRenew, Verb::kPeek};
        const Verb* const verbs = i == 5 ? plain : leases;
        const ScriptOutcome outcome =
            ask(sort.limit, verbs[prng.next() % 4], static_cast<std::int64_t>(prng.next() % 5));
        EXPECT_NE(outcome.kind, Kind::kMalformed) << sort.name;
      }
    }
  }
}

TEST_P(ScriptState, ATimeTooFarAheadIsReadAsFullAndToldAndStoredByTheNextQuestionButAPeek) {
  const Sort& sort = sorts().front();
  const std::string key = key_of(sort.limit);
  client_.run({"SET", key, "8000000000000000:3:5"});
  EXPECT_EQ(ask(sort.limit, Verb::kPeek).clamped, 1);
  EXPECT_EQ(client_.run({"GET", key}).text, "8000000000000000:3:5");
  const ScriptOutcome outcome = ask(sort.limit, Verb::kAllow);
  EXPECT_EQ(outcome.clamped, 1);
  EXPECT_FALSE(outcome.answer.decision.allowed);
  EXPECT_EQ(client_.run({"GET", key}).text, std::to_string(outcome.now_us + kHour_us));
  EXPECT_GT(ttl_ms(key), 0);
  EXPECT_LE(ttl_ms(key), kHour_us / kMillisecond_us + 1);
  EXPECT_EQ(ask(sort.limit, Verb::kAllow).clamped, 0);
}

// 50: a version that keeps one number more in a value is read by this one.
TEST_P(ScriptState, ReadsValuesThatALaterVersionWrote) {
  for (const std::size_t i : {0, 2, 3, 4}) {
    const Sort& sort = sorts()[i];
    const std::string key = key_of(sort.limit);
    EXPECT_TRUE(allows(sort, 5)) << sort.name;
    const std::string value = client_.run({"GET", key}).text + (i == 0 ? ":0:0:77" : ":77");
    client_.run({"SET", key, value, "PX", "60000"});
    const ScriptOutcome outcome = ask(sort.limit, Verb::kAllow);
    EXPECT_EQ(outcome.kind, Kind::kAnswer) << sort.name;
    EXPECT_EQ(outcome.answer.violated, 1) << sort.name;
    EXPECT_TRUE(ask(sort.limit, Verb::kRefund, 2).answer.decision.allowed) << sort.name;
    EXPECT_TRUE(allows(sort, 2)) << sort.name;
  }
}

// 39: a question that comes too late charges nobody, and does not even look.
TEST_P(ScriptState, AfterItsDeadlineNothingIsReadOrWritten) {
  for (const Sort& sort : sorts()) {
    const std::string key = key_of(sort.limit);
    for (const Verb verb : {sort.verb, Verb::kPeek, Verb::kReset}) {
      Charge charge;
      const Question asked = question(charge, sort.limit, verb, 1);
      const std::int64_t before = writes();
      const ScriptOutcome now = store_.ask(asked, {.prefix = "ratel", .deadline_us = 1, .calendar_us = calendar_us_});
      EXPECT_EQ(now.kind, Kind::kExpired) << sort.name;
      EXPECT_EQ(writes(), before);
      const Micros later_us = now.now_us + kHour_us;
      EXPECT_NE(store_.ask(asked, {.prefix = "ratel", .deadline_us = later_us, .calendar_us = now.now_us}).kind,
                Kind::kExpired);
    }
    client_.run({"SET", key, "garbage"});
    Charge charge;
    EXPECT_EQ(store_.ask(question(charge, sort.limit, sort.verb, 1), {.prefix = "ratel", .deadline_us = 1}).kind,
              Kind::kExpired);
    EXPECT_EQ(ttl_ms(key), -1);
  }
}

// 45
TEST_P(ScriptState, ACallersClockChangesNoDecision) {
  const Sort& sort = sorts()[3];
  EXPECT_TRUE(allows(sort, 5));
  for (const Micros off_us : {-kDay_us, -70 * kSecond_us, Micros{0}, 70 * kSecond_us, kDay_us, 400 * kDay_us}) {
    client_.run({"PERSIST", key_of(sort.limit)});  // which must not make it go
    calendar_us_ += off_us;
    const ScriptOutcome outcome = ask(sort.limit, Verb::kAllow);
    EXPECT_EQ(outcome.kind, Kind::kAnswer);
    EXPECT_FALSE(outcome.answer.decision.allowed);
  }
}

TEST_P(ScriptState, WhereItCouldNotWriteItIsRefusedBeforeItDecides) {
  const Sort& sort = sorts().front();
  EXPECT_TRUE(allows(sort, 5));
  Charge charge;
  const Question denied = question(charge, sort.limit, Verb::kAllow, 1);
  client_.run({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(store_.call(denied).text.substr(0, 4), "OOM ");
  client_.run({"CONFIG", "SET", "maxmemory", "0"});
  client_.run({"CONFIG", "SET", "min-replicas-to-write", "1"});
  EXPECT_EQ(store_.call(denied).text.substr(0, 11), "NOREPLICAS ");
  client_.run({"CONFIG", "SET", "min-replicas-to-write", "0"});
  client_.run({"REPLICAOF", "127.0.0.1", "1"});
  EXPECT_EQ(store_.call(denied).text.substr(0, 9), "READONLY ");
  client_.run({"REPLICAOF", "NO", "ONE"});
  EXPECT_EQ(store_.call(denied).kind, '*');
}

INSTANTIATE_TEST_SUITE_P(Servers, ScriptState, testing::ValuesIn(server_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace ratel
