#include "redis/redis_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "redis/script_call.h"
#include "redis/store_rig_testing.h"
#include "store/store_testing.h"

namespace ratel {
namespace {

using testing::HasSubstr;

constexpr std::string_view kServer = "127.0.0.1:6379";

TEST(RedisStore, DecidesThroughTheScript) {
  StoreRig rig("redis://127.0.0.1:6379");
  FakeRedis& server = rig.network.add(kServer);
  rig.start();
  EXPECT_TRUE(rig.store->is_whole());
  rig.ask(1);
  rig.ask(2, "other");
  EXPECT_EQ(rig.of(1), "waiting");
  rig.run(10 * kMillisecond_us);
  EXPECT_EQ(rig.of(1), "granted");
  EXPECT_EQ(rig.of(2), "granted");
  EXPECT_EQ(rig.asked().at(2).answer.decision.granted, 2);
  EXPECT_EQ(server.counts.size(), 2U);
  EXPECT_EQ(rig.store->counters().decided, 2U);
  EXPECT_EQ(rig.store->under_way(), 0U);
}

// By it the process finds what it knows of a counter, and what it admitted alone.
TEST(RedisStore, ACounterHasOneHashWhateverItIsAskedTogetherWith) {
  StoreRig rig("redis://127.0.0.1:6379");
  rig.network.add(kServer);
  rig.start();
  const BoundLimit by_user = gcra(5, kMinute_us, "user"), by_network = gcra(50, kMinute_us, "network");
  const auto network_hash = [&](std::string_view user) {
    std::array<Charge, 2> charges{Charge{.limit = &by_user, .key = user}, Charge{.limit = &by_network, .key = "net"}};
    Question question{.charges = charges};
    rig.store->prepare(question);
    return charges[1].hash;
  };
  std::array<Charge, 1> alone{Charge{.limit = &by_network, .key = "net"}};
  Question question{.charges = alone};
  rig.store->prepare(question);
  for (const std::string_view user : {"alice", "bob", "carol"}) EXPECT_EQ(network_hash(user), alone[0].hash) << user;
  // Whichever of a subject's limits comes first, the way there is the same, so that nothing is overtaken.
  std::array<Charge, 2> both{Charge{.limit = &by_user, .key = "net"}, Charge{.limit = &by_network, .key = "net"}};
  question.charges = both;
  rig.store->prepare(question);
  EXPECT_NE(both[0].hash, both[1].hash);
  EXPECT_EQ(both[0].hash[1] % kClusterSlots, alone[0].hash[1] % kClusterSlots);
}

TEST(RedisStore, EveryErrorOfAServerEndsAQuestionAsItShould) {
  struct Case {
    std::string_view error;
    std::string_view outcome;  // of the question that got it
    bool connected;            // whether another question is answered at once
  };
  const Case cases[] = {
      {"NOSCRIPT No matching script", "granted", true},
      {"MOVED 1 127.0.0.1:1", "refused", true},
      {"ASK 1 127.0.0.1:1", "refused", true},
      {"TRYAGAIN Multiple keys", "refused", true},
      {"CROSSSLOT Keys in request don't hash", "refused", true},
      {"CLUSTERDOWN The cluster is down", "refused", true},
      {"READONLY You can't write", "granted", true},  // a new connection finds a primary there
      {"REDIRECT 127.0.0.1:6379", "granted", true},
      {"MASTERDOWN Link with MASTER is down", "granted", true},
      {"LOADING Redis is loading", "refused", true},  // the other link goes on
      {"BUSY Redis is busy running a script", "refused", true},
      {"OOM command not allowed", "refused", true},
      {"MISCONF Redis is configured to save", "refused", true},
      {"NOREPLICAS Not enough good replicas", "refused", true},
      {"NOAUTH Authentication required.", "refused", true},
      {"WRONGPASS invalid", "refused", true},
      {"NOPERM this user has no permissions", "refused", true},
      {"WRONGTYPE Operation against a key", "bad state", true},
      {"ERR max number of clients reached", "refused", true},
      {"ERR Script attempted to access a non local key", "lost", true},
      {"UNBLOCKED force unblock", "lost", true},
      {"ERR user_script:7: attempt to index a nil value", "lost", true},
  };
  for (const Case& c : cases) {
    StoreRig rig("redis://127.0.0.1:6379");
    FakeRedis& server = rig.network.add(kServer);
    rig.start();
    rig.run(kSecond_us);
    server.next_error = c.error;
    rig.ask(1);
    rig.run(50 * kMillisecond_us);
    EXPECT_EQ(rig.of(1), c.outcome) << c.error;
    EXPECT_LE(server.executed["a1"], c.outcome == "granted" ? 1 : 0) << c.error;
    rig.ask(2);
    rig.run(50 * kMillisecond_us);
    EXPECT_EQ(rig.of(2) == "granted", c.connected) << c.error;
    if (c.outcome != "granted") {
      EXPECT_THAT(rig.store->last_error(), HasSubstr(c.error)) << "and says why";
    }
  }
}

TEST(RedisStore, LoadsTheScriptOnceAndThenGivesUp) {
  StoreRig rig("redis://127.0.0.1:6379");
  FakeRedis& server = rig.network.add(kServer);
  rig.start();
  server.every_error = "NOSCRIPT No matching script";
  rig.ask(1);
  rig.run(20 * kMillisecond_us);
  EXPECT_EQ(rig.of(1), "refused");
  EXPECT_EQ(server.evals, 2);
  server.every_error.clear();
  server.has_script = false;  // SCRIPT FLUSH
  for (std::int64_t cost = 2; cost < 100; ++cost) rig.ask(cost);
  rig.run(20 * kMillisecond_us);
  for (std::int64_t cost = 2; cost < 100; ++cost) EXPECT_EQ(rig.of(cost), "granted");
}

TEST(RedisStore, AnswersByTheDeadlineWhenTheServerHangs) {
  StoreRig rig("redis://127.0.0.1:6379");
  FakeRedis& server = rig.network.add(kServer);
  rig.start();
  rig.network.set_paused(kServer, true);
  const Micros started_us = rig.network.now_us;
  std::int64_t cost = 0;
  while (rig.network.now_us < started_us + 3 * kSecond_us) {
    rig.ask(++cost);
    rig.run(20 * kMillisecond_us);
  }
  rig.run(51 * kMillisecond_us);
  for (const auto& [each, asked] : rig.asked()) {
    EXPECT_EQ(asked.answers, 1) << each;
    EXPECT_LE(asked.answered_us, asked.due_us + kMillisecond_us) << each;
    EXPECT_NE(asked.answer.fault, StoreFault::kNone) << each;
  }
  EXPECT_EQ(rig.of(1), "timeout");
  rig.network.set_paused(kServer, false);
  rig.run(5 * kSecond_us);
  EXPECT_TRUE(server.executed.empty()) << "the backlog charges nobody";
  rig.ask(++cost);
  rig.run(10 * kMillisecond_us);
  EXPECT_EQ(rig.of(cost), "granted");
}

TEST(RedisStore, WhatIsLostIsAskedAgainOnceWhereThatOnlyChargesMore) {
  struct Case {
    Verb verb;
    std::string_view outcome;
    int executed;
    std::string_view letter;
  };
  const Case cases[] = {
      {Verb::kAllow, "granted", 2, "a"},
      {Verb::kRefund, "lost", 1, "f"},
      {Verb::kAtMost, "lost", 1, "m"},
  };
  for (const Case& c : cases) {
    StoreRig rig("redis://127.0.0.1:6379");
    FakeRedis& server = rig.network.add(kServer);
    rig.network.add("127.0.0.1:6380");
    rig.start();
    rig.network.delay_us = 5 * kMillisecond_us;
    rig.ask(7, "k", c.verb);
    // Cut after it ran and before its reply came, one link alone: the other is as good.
    while (server.executed.empty()) rig.run(100);
    rig.network.cut_one(kServer);
    rig.run(60 * kMillisecond_us);
    EXPECT_EQ(rig.of(7), c.outcome);
    EXPECT_EQ(server.executed[std::string(c.letter) + "7"], c.executed);
    EXPECT_EQ(rig.store->counters().retried, c.executed == 2 ? 1U : 0U);
  }
}

TEST(RedisStore, WithoutAConnectionItAnswersAtOnce) {
  StoreRig rig("redis://127.0.0.1:6379");
  rig.network.add(kServer);
  rig.start();
  rig.network.set_up(kServer, false);
  EXPECT_FALSE(rig.store->is_whole());
  EXPECT_THAT(rig.store->last_error(), HasSubstr("reset"));
  rig.run(2 * kMillisecond_us);  // it has been tried once
  rig.ask(1);
  EXPECT_EQ(rig.of(1), "unreachable");
  rig.run(20 * kSecond_us);
  EXPECT_THAT(rig.store->last_error(), HasSubstr("refused"));
  EXPECT_LT(rig.network.dials, 150) << "two links, and pauses of up to 0.8 s";
  rig.network.set_up(kServer, true);
  rig.run(kSecond_us);
  rig.ask(2);
  rig.run(10 * kMillisecond_us);
  EXPECT_EQ(rig.of(2), "granted");
}

TEST(RedisStore, AQuestionWaitsWhileAConnectionThatWasGoodIsReplaced) {
  struct Case {
    const char* name;
    Verb verb;
    bool under_way;  // when the connections end, or asked after
    std::function<void(FakeNetwork&)> happens;
    const char* outcome;
    Micros within_us;
    int executed_max;
  };
  const auto cut = [](FakeNetwork& network) { network.cut(std::string(kServer)); };
  const auto die = [](FakeNetwork& network) { network.set_up(kServer, false); };
  const auto hang = [](FakeNetwork& network) {
    network.set_paused(kServer, true);
    network.cut(kServer);
  };
  const Case cases[] = {
      {"cut, then asked", Verb::kAllow, false, cut, "granted", 5'000, 1},
      {"cut, then paid back", Verb::kRefund, false, cut, "granted", 5'000, 1},
      {"cut while it is under way", Verb::kAllow, true, cut, "granted", 8'000, 2},
      {"cut while a refund is under way", Verb::kRefund, true, cut, "lost", 0, 1},
      {"the server is dead", Verb::kAllow, false, die, "unreachable", 1'000, 0},
      {"it is dead while it is under way", Verb::kAllow, true, die, "lost", 3'000, 1},
      {"the server hangs", Verb::kAllow, false, hang, "unreachable", 51'000, 0},
  };
  for (const Case& c : cases) {
    StoreRig rig("redis://127.0.0.1:6379");
    FakeRedis& server = rig.network.add(kServer);
    rig.start();
    for (std::int64_t cost = 1; cost <= 20; ++cost) rig.ask(cost, std::to_string(cost));  // on both links
    rig.run(10 * kMillisecond_us);
    if (c.under_way) {
      rig.ask(99, "k", c.verb);
      rig.run(300);
    }
    const Micros began_us = rig.network.now_us;
    c.happens(rig.network);
    if (!c.under_way) rig.ask(99, "k", c.verb);
    rig.run(100 * kMillisecond_us);
    EXPECT_EQ(rig.of(99), c.outcome) << c.name;
    EXPECT_LE(rig.asked().at(99).answered_us, began_us + c.within_us) << c.name;
    EXPECT_LE(server.executed["a99"] + server.executed["f99"], c.executed_max) << c.name;
    EXPECT_EQ(rig.store->under_way(), 0U) << c.name;
  }
}

TEST(RedisStore, NobodyWaitsLongForAServerThatLoads) {
  StoreRig rig("redis://127.0.0.1:6379");
  FakeRedis& server = rig.network.add(kServer);
  rig.start();
  rig.run(2 * kSecond_us);
  server.loading = true;
  rig.network.cut(kServer);  // and it loads its data
  rig.ask(1, "k", Verb::kAllow, 10 * kSecond_us);
  rig.run(2 * kSecond_us);
  EXPECT_EQ(rig.of(1), "unreachable");
  EXPECT_LE(rig.asked().at(1).answered_us, rig.network.now_us - kSecond_us + 10 * kMillisecond_us);
  server.loading = false;
  rig.run(kSecond_us);
  rig.ask(2);
  rig.run(10 * kMillisecond_us);
  EXPECT_EQ(rig.of(2), "granted");
}

TEST(RedisStore, ConnectionsThatAreKilledAgainAndAgainCostNoAnswer) {
  StoreRig rig("redis://127.0.0.1:6379");
  FakeRedis& server = rig.network.add(kServer);
  rig.start();
  for (std::int64_t cost = 1; cost <= 200; ++cost) {
    if (cost % 5 == 0) rig.network.cut(kServer);
    rig.ask(cost);
    rig.run(3 * kMillisecond_us);
  }
  rig.run(50 * kMillisecond_us);
  for (std::int64_t cost = 1; cost <= 200; ++cost) {
    EXPECT_EQ(rig.of(cost), "granted") << cost;
    EXPECT_LE(server.executed["a" + std::to_string(cost)], 2) << cost;
  }
  EXPECT_LT(rig.network.dials, 100);
}

TEST(RedisStore, AServerThatRefusesIsAskedByOneLinkAtATimeAndTakenBackWithinASecond) {
  struct Case {
    const char* refusal;
    int dials_max;  // in twenty seconds
    Micros back_us;
  };
  const Case cases[] = {
      {"WRONGPASS invalid username-password pair", 75, kSecond_us},
      {"NOAUTH Authentication required.", 75, kSecond_us},
      {"ERR max number of clients reached", 25, 6 * kSecond_us},
  };
  for (const Case& c : cases) {
    StoreRig rig("redis://127.0.0.1:6379");
    FakeRedis& server = rig.network.add(kServer);
    rig.start();
    rig.run(2 * kSecond_us);
    server.refusal = c.refusal;
    rig.network.cut(kServer);
    const int dials = rig.network.dials;
    rig.run(20 * kSecond_us);
    EXPECT_THAT(rig.store->last_error(), HasSubstr(c.refusal));
    EXPECT_LE(rig.network.dials - dials, c.dials_max) << c.refusal;
    EXPECT_GE(rig.network.dials - dials, 4) << c.refusal;
    server.refusal.clear();
    rig.run(c.back_us);
    rig.ask(1);
    rig.run(10 * kMillisecond_us);
    EXPECT_EQ(rig.of(1), "granted") << c.refusal;
    rig.run(100 * kMillisecond_us);
    const int both = rig.network.dials;
    rig.network.cut_one(kServer);  // and the other goes on
    rig.ask(2);
    rig.run(10 * kMillisecond_us);
    EXPECT_EQ(rig.of(2), "granted") << c.refusal;
    rig.run(kSecond_us);
    EXPECT_EQ(rig.network.dials, both + 1) << c.refusal;
  }
}

TEST(RedisStore, StoresOfOneProcessShareABudgetOfConnections) {
  HandshakeBudget budget;
  StoreRig rig("redis://127.0.0.1:6379");
  rig.options.handshakes = &budget;
  rig.network.add(kServer);
  for (int i = 0; i < HandshakeBudget::kBurst; ++i) EXPECT_TRUE(budget.take(rig.network.now_us));
  rig.store = std::make_unique<RedisStore>(rig.options, rig.network, rig.network.prng);
  rig.store->start(rig.network.now());
  rig.run(HandshakeBudget::kInterval_us - 1);
  EXPECT_EQ(rig.network.dials, 0) << "others have spent it";
  rig.run(2 * HandshakeBudget::kInterval_us);
  EXPECT_EQ(rig.network.dials, 2);
}

TEST(RedisStore, AnAskerMayAskAgainFromItsAnswer) {
  StoreRig rig("redis://127.0.0.1:6379");
  rig.network.add(kServer);
  rig.start();
  rig.on_answer = [&](std::int64_t cost) {
    if (cost < 1000) rig.ask(cost + 1);
  };
  rig.ask(1);
  rig.run(kSecond_us / 2);
  rig.network.set_up(kServer, false);  // and while there is no connection, without end in one call
  rig.run(kMillisecond_us);
  EXPECT_EQ(rig.asked().size(), 1000U);
  EXPECT_EQ(rig.store->under_way(), 0U);
}

TEST(RedisStore, TakesNoMoreQuestionsThanItsBound) {
  StoreRig rig("redis-cluster://127.0.0.1:1");
  FakeCluster cluster;
  // Many nodes, each with less under way than one link may have.
  constexpr int kNodes = 20;
  for (int i = 0; i < kNodes; ++i) {
    const auto port = static_cast<std::uint16_t>(1 + i);
    rig.network.add("127.0.0.1:" + std::to_string(port)).cluster = &cluster;
    const std::size_t first = kClusterSlots * i / kNodes, next = kClusterSlots * (i + 1) / kNodes;
    cluster.ranges.push_back({static_cast<std::uint16_t>(first),
                              static_cast<std::uint16_t>(next - 1),
                              {.host = "127.0.0.1", .port = port, .path = {}}});
  }
  rig.start();
  rig.run(3 * kSecond_us);
  ASSERT_TRUE(rig.store->is_whole()) << rig.store->last_error();
  std::int64_t cost = 0;
  while (rig.store->counters().crowded == 0) {
    ++cost;
    rig.ask(cost, std::to_string(cost));
  }
  EXPECT_EQ(rig.store->under_way(), kStoreCallsMax);
  EXPECT_EQ(rig.of(cost), "crowded");
  rig.run(60 * kMillisecond_us);
  EXPECT_EQ(rig.store->under_way(), 0U);
}

TEST(RedisStore, MoreThanAConnectionTakesIsNoFaultOfTheStore) {
  StoreRig rig("redis://127.0.0.1:6379");
  rig.network.add(kServer);
  rig.start();
  constexpr std::int64_t kRoom = kLinkSlotsMax - kLinkSlotsReserved;
  for (std::int64_t cost = 1; cost <= kRoom + 8; ++cost) rig.ask(cost);  // of one key: on one link
  EXPECT_EQ(rig.of(kRoom), "waiting");
  EXPECT_EQ(rig.of(kRoom + 1), "crowded");
  EXPECT_EQ(rig.store->counters().crowded, 8U);
  EXPECT_EQ(rig.store->counters().unreachable, 0U);
  rig.run(60 * kMillisecond_us);
  EXPECT_EQ(rig.of(kRoom), "granted");
  rig.ask(kRoom + 9, "k", Verb::kAllow, 0);  // no time left
  EXPECT_EQ(rig.of(kRoom + 9), "crowded");
}

TEST(RedisStore, AReplyThatIsNoneOfTheScriptsPoisonsTheLink) {
  std::string too_long = "*" + std::to_string(kScriptReplyMax + 1) + "\r\n";
  for (std::size_t i = 0; i <= kScriptReplyMax; ++i) too_long += ":0\r\n";
  const std::string_view replies[] = {":1\r\n",
                                      "*0\r\n",
                                      "*2\r\n:9\r\n:1\r\n",
                                      "*2\r\n:0\r\n+x\r\n",
                                      "+OK\r\n",
                                      too_long,
                                      "*6\r\n:0\r\n:1700000001000000\r\n:8\r\n:0\r\n:-1\r\n:0\r\n"};
  for (const std::string_view reply : replies) {
    StoreRig rig("redis://127.0.0.1:6379");
    rig.network.add(kServer);
    rig.start();
    rig.network.set_paused(kServer, true);
    rig.ask(7);
    rig.run(kMillisecond_us);
    rig.network.push(kServer, std::string(reply));
    rig.run(kMillisecond_us);
    EXPECT_EQ(rig.of(7), "lost") << reply;
    rig.run(40 * kMillisecond_us);
    EXPECT_THAT(rig.store->last_error(), HasSubstr("none of the script's")) << reply;
  }
}

TEST(RedisStore, AsksAgainABoundedNumberOfTimes) {
  StoreRig rig("redis://127.0.0.1:6379");
  FakeRedis& server = rig.network.add(kServer);
  rig.start();
  rig.run(5 * kSecond_us);
  rig.network.delay_us = 1;
  rig.ask(1);
  server.always_late = true;
  rig.run(10 * kMillisecond_us);
  EXPECT_EQ(rig.of(1), "refused");
  EXPECT_EQ(server.evals, 1 + kStoreResendsMax);
}

TEST(RedisStore, FollowsAStoreWhoseClockIsSet) {
  for (const Micros step_us : {-kHour_us, -kSecond_us, kSecond_us, kHour_us}) {
    StoreRig rig("redis://127.0.0.1:6379");
    FakeRedis& server = rig.network.add(kServer);
    rig.start();
    rig.ask(1);
    rig.run(10 * kMillisecond_us);
    server.clock_step_us = step_us;
    rig.ask(2);
    rig.run(10 * kMillisecond_us);
    EXPECT_EQ(rig.of(2), "granted") << "forward: the script says it is too late, and is asked once more";
    EXPECT_EQ(rig.store->counters().late, step_us > 0 ? 1U : 0U);
    // Set back: a hanging server may charge the late until the old samples have aged.
    rig.run(3 * kSecond_us);
    rig.network.set_paused(kServer, true);
    rig.ask(3);
    rig.run(60 * kMillisecond_us);
    rig.network.set_paused(kServer, false);
    rig.run(kSecond_us / 10);
    EXPECT_EQ(rig.of(3), "timeout");
    EXPECT_EQ(server.executed.count("a3"), 0U) << step_us;
  }
}

}  // namespace
}  // namespace ratel
