// Standalone, Sentinel and Cluster, each behind a store on a fake network.

#include "redis/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redis/cluster.h"
#include "redis/sentinel.h"
#include "redis/standalone.h"
#include "redis/store_rig_testing.h"

namespace ratel {
namespace {

using testing::HasSubstr;

const std::string kA = "127.0.0.1:7001", kB = "127.0.0.1:7002", kC = "127.0.0.1:7003";

/// Whether a question is granted now.
bool works(StoreRig& rig, const std::string& key = "k") {
  static std::int64_t cost = 1'000'000;
  rig.ask(++cost, key);
  rig.run(60 * kMillisecond_us);
  return rig.of(cost) == "granted";
}

TEST(Standalone, LeavesAServerThatWasDemotedUnderOpenSockets) {
  StoreRig rig("redis://127.0.0.1:7001");
  FakeRedis& server = rig.network.add(kA);
  rig.start();
  rig.run(kSecond_us);
  server.replica = true;
  EXPECT_FALSE(works(rig));
  rig.run(10 * kSecond_us);
  EXPECT_FALSE(works(rig));
  EXPECT_THAT(rig.store->last_error(), HasSubstr("replica"));
  EXPECT_TRUE(server.executed.empty());
  server.replica = false;  // the name leads to a primary again
  rig.run(6 * kSecond_us);
  EXPECT_TRUE(works(rig));
}

TEST(Standalone, FollowsARedirectAndComesHomeWhenThatFails) {
  struct Case {
    const char* name;
    std::function<void(StoreRig&, FakeRedis& other)> fails;
  };
  const Case cases[] = {
      {"it dies", [](StoreRig& rig, FakeRedis&) { rig.network.set_up(kB, false); }},
      {"it refuses",
       [](StoreRig& rig, FakeRedis& other) {
         other.refusal = "ERR max number of clients reached";
         rig.network.cut(kB);
       }},
      {"it hangs", [](StoreRig& rig, FakeRedis&) { rig.network.set_paused(kB, true); }},
  };
  for (const Case& c : cases) {
    StoreRig rig("redis://127.0.0.1:7001");
    FakeRedis& home = rig.network.add(kA);
    FakeRedis& other = rig.network.add(kB);
    rig.start();
    home.every_error = "REDIRECT 127.0.0.1:7002";
    rig.ask(1);
    rig.run(60 * kMillisecond_us);
    EXPECT_EQ(rig.of(1), "granted") << c.name;
    EXPECT_EQ(other.executed["a1"], 1) << c.name;
    home.every_error.clear();
    c.fails(rig, other);
    for (std::int64_t cost = 2; cost < 12; ++cost) {
      rig.ask(cost);
      rig.run(100 * kMillisecond_us);
    }
    rig.ask(12);
    rig.run(60 * kMillisecond_us);
    EXPECT_EQ(rig.of(12), "granted") << c.name;
    EXPECT_EQ(home.executed["a12"], 1) << c.name;
  }
}

/// Three sentinels and two servers.
struct SentinelRig : StoreRig {
  SentinelRig() : StoreRig("redis-sentinel://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3/mymaster") {
    for (const char* sentinel : {"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"}) network.add(sentinel).primary = &primary;
    network.add(kA);
    network.add(kB).replica = true;
  }
  void fail_over() {
    network.at(kA).replica = true;
    network.at(kB).replica = false;
    primary = *parse_address(kB);
  }
  Address primary = *parse_address(kA);
};

TEST(Sentinel, FindsThePrimaryThroughTheFirstThatAnswers) {
  for (int down = 0; down < 3; ++down) {
    SentinelRig rig;
    for (int i = 1; i <= down; ++i) rig.network.set_up("127.0.0.1:" + std::to_string(i), false);
    rig.start();
    EXPECT_TRUE(works(rig)) << down;
  }
  SentinelRig rig;
  for (int i = 1; i <= 3; ++i) rig.network.set_up("127.0.0.1:" + std::to_string(i), false);
  rig.start();
  EXPECT_FALSE(works(rig));
  EXPECT_THAT(rig.store->last_error(), HasSubstr("sentinel 127.0.0.1:"));
  const int dials = rig.network.dials;
  rig.run(20 * kSecond_us);
  EXPECT_LT(rig.network.dials - dials, 200) << "rounds of three, and pauses";
  rig.network.set_up("127.0.0.1:2", true);
  rig.run(6 * kSecond_us);
  EXPECT_TRUE(works(rig));
}

TEST(Sentinel, PassesOverOneThatHangsOrKnowsNothing) {
  SentinelRig hanging;
  hanging.network.set_paused("127.0.0.1:1", true);
  hanging.start();
  EXPECT_FALSE(works(hanging));
  hanging.run(2 * Sentinel::kAnswer_us);
  EXPECT_TRUE(works(hanging));

  SentinelRig ignorant;
  const Address nobody;
  ignorant.network.at("127.0.0.1:1").primary = &nobody;
  ignorant.start();
  EXPECT_TRUE(works(ignorant));

  StoreRig wrong_name("redis-sentinel://127.0.0.1:1/other");
  wrong_name.network.add("127.0.0.1:1").primary = &nobody;
  wrong_name.start();
  EXPECT_THAT(wrong_name.store->last_error(), HasSubstr("sentinel 127.0.0.1:1: it knows no primary `other`"));
}

TEST(Sentinel, FollowsAFailoverHoweverItIsNoticed) {
  struct Case {
    const char* name;
    std::function<void(SentinelRig&)> happens;
    Micros within_us;
  };
  const Case cases[] = {
      {"the old one died", [](SentinelRig& rig) { rig.network.set_up(kA, false); }, 400 * kMillisecond_us},
      {"its connections were cut", [](SentinelRig& rig) { rig.network.cut(kA); }, 400 * kMillisecond_us},
      {"it says READONLY", [](SentinelRig& rig) { works(rig); }, 400 * kMillisecond_us},
      {"it was announced",
       [](SentinelRig& rig) {
         rig.network.push("127.0.0.1:1",
                          ">3\r\n+message\r\n+switch-master\r\n+mymaster 127.0.0.1 7001 127.0.0.1 7002\r\n");
       },
       100 * kMillisecond_us},
      {"nobody said so", [](SentinelRig&) {}, 2 * Sentinel::kPoll_us + 100 * kMillisecond_us},
  };
  for (const Case& c : cases) {
    SentinelRig rig;
    rig.start();
    ASSERT_TRUE(works(rig));
    rig.run(200 * kMillisecond_us);
    rig.fail_over();
    c.happens(rig);
    rig.run(c.within_us);
    rig.ask(1);
    rig.run(60 * kMillisecond_us);
    EXPECT_EQ(rig.of(1), "granted") << c.name;
    EXPECT_EQ(rig.network.at(kB).executed["a1"], 1) << c.name;
  }
}

TEST(Sentinel, WaitsWhereTheOneThatIsNamedIsStillAReplica) {
  SentinelRig rig;
  rig.start();
  rig.fail_over();
  rig.network.at(kB).replica = true;  // not promoted yet
  rig.network.cut(kA);
  rig.run(2 * kSecond_us);
  EXPECT_FALSE(works(rig));
  rig.network.at(kB).replica = false;
  rig.run(6 * kSecond_us);
  EXPECT_TRUE(works(rig));
}

/// Three primaries with a third of the slots each.
struct ClusterRig : StoreRig {
  explicit ClusterRig(std::string_view url = "redis-cluster://127.0.0.1:7001") : StoreRig(url) {
    for (const std::string& node : {kA, kB, kC}) network.add(node).cluster = &cluster;
    cluster.ranges = {
        {0, 5000, *parse_address(kA)}, {5001, 10'000, *parse_address(kB)}, {10'001, 16'383, *parse_address(kC)}};
  }
  /// A key of a slot of that node.
  std::string key_at(const std::string& node) const {
    for (int i = 0;; ++i) {
      std::string key = "key" + std::to_string(i);
      const FakeCluster::Range* range = cluster.range_of(slot_of(key));
      if (range != nullptr && range->primary == *parse_address(node)) return key;
    }
  }
  FakeCluster cluster;
};

TEST(Cluster, AsksTheOwnerOfEachSlot) {
  ClusterRig rig;
  rig.start();
  EXPECT_TRUE(rig.store->is_whole());
  std::int64_t cost = 0;
  for (int round = 0; round < 50; ++round) {
    for (const std::string& node : {kA, kB, kC}) rig.ask(++cost, rig.key_at(node));
  }
  rig.run(50 * kMillisecond_us);
  for (const std::string& node : {kA, kB, kC}) EXPECT_EQ(rig.network.at(node).evals, 50);
  EXPECT_EQ(rig.store->counters().redirected, 0U);
}

TEST(Cluster, FindsItsWayFromAnySeedThatLives) {
  ClusterRig rig("redis-cluster://127.0.0.1:9,127.0.0.1:8,127.0.0.1:7003");
  rig.start();
  rig.run(kSecond_us);
  for (const std::string& node : {kA, kB, kC}) EXPECT_TRUE(works(rig, rig.key_at(node))) << node;
  // all lost, and back
  for (const std::string& node : {kA, kB, kC}) rig.network.set_up(node, false);
  rig.run(20 * kSecond_us);
  EXPECT_FALSE(works(rig));
  const int dials = rig.network.dials;
  rig.run(20 * kSecond_us);
  EXPECT_LT(rig.network.dials - dials, 400) << "three nodes and the seeds, each after pauses";
  for (const std::string& node : {kA, kB, kC}) rig.network.set_up(node, true);
  rig.run(6 * kSecond_us);
  for (const std::string& node : {kA, kB, kC}) EXPECT_TRUE(works(rig, rig.key_at(node))) << node;
}

TEST(Cluster, FollowsMovedAtOnceAndAsksForTheMapOnce) {
  ClusterRig rig;
  rig.start();
  rig.run(kSecond_us);
  const std::string key = rig.key_at(kA);
  rig.cluster.ranges = {{0, 10'000, *parse_address(kB)}, {10'001, 16'383, *parse_address(kC)}};
  const auto asked = [&] {
    int sum = 0;
    for (const std::string& node : {kA, kB, kC}) sum += rig.network.at(node).slots_asked;
    return sum;
  };
  const int before = asked();
  for (std::int64_t cost = 1; cost <= 200; ++cost) rig.ask(cost, key);
  rig.run(60 * kMillisecond_us);
  for (std::int64_t cost = 1; cost <= 200; ++cost) EXPECT_EQ(rig.of(cost), "granted");
  EXPECT_EQ(rig.store->counters().redirected, 200U) << "all were under way";
  EXPECT_EQ(asked(), before + 1);
  EXPECT_TRUE(works(rig, key));
  EXPECT_EQ(rig.store->counters().redirected, 200U);
}

TEST(Cluster, FollowsAskWithoutLearningFromIt) {
  ClusterRig rig;
  rig.start();
  rig.run(kSecond_us);
  const std::string moving = rig.key_at(kA);
  rig.network.add("127.0.0.1:7004").cluster = &rig.cluster;  // not in the map, not connected to yet
  for (const std::string& to : {kB, std::string("127.0.0.1:7004")}) {
    rig.cluster.importing[slot_of(moving)] = *parse_address(to);
    const std::uint64_t redirected = rig.store->counters().redirected;
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(works(rig, moving)) << to;
    EXPECT_GE(rig.store->counters().redirected, redirected + 3) << "each time anew";
    EXPECT_EQ(rig.network.at(kA).counts.count(moving), 0U);
  }
}

TEST(Cluster, TriesAgainWhileKeysOfASlotAreApart) {
  ClusterRig rig;
  rig.start();
  const std::string key = rig.key_at(kA);
  rig.network.at(kA).every_error = "TRYAGAIN Multiple keys request during rehashing of slot";
  rig.ask(1, key);
  rig.run(30 * kMillisecond_us);
  EXPECT_EQ(rig.of(1), "waiting");
  EXPECT_GT(rig.network.at(kA).evals, 2);
  rig.network.at(kA).every_error.clear();
  rig.run(10 * kMillisecond_us);
  EXPECT_EQ(rig.of(1), "granted");
  rig.network.at(kA).every_error = "TRYAGAIN Multiple keys request during rehashing of slot";
  rig.ask(2, key);
  rig.run(60 * kMillisecond_us);
  EXPECT_EQ(rig.of(2), "refused") << "it surely was not executed";
}

TEST(Cluster, TwoHopsAreEnough) {
  ClusterRig rig;
  rig.start();
  const std::string key = rig.key_at(kA);
  for (const std::string& node : {kA, kB, kC}) {
    const std::string& next = node == kA ? kB : node == kB ? kC : kA;
    rig.network.at(node).every_error = "MOVED " + std::to_string(slot_of(key)) + " " + next;
  }
  rig.ask(1, key);
  rig.run(60 * kMillisecond_us);
  EXPECT_EQ(rig.of(1), "refused");
  EXPECT_EQ(rig.network.at(kA).evals + rig.network.at(kB).evals + rig.network.at(kC).evals, 1 + kStoreHopsMax);
}

// Behind its name is another server now, to which the old connections do not lead.
TEST(Cluster, ANodeThatSendsToItselfIsConnectedToAnew) {
  ClusterRig rig;
  rig.start();
  rig.run(kSecond_us);
  const std::string key = rig.key_at(kA);
  const int dials = rig.network.dials;
  rig.network.at(kA).next_error = "MOVED " + std::to_string(slot_of(key)) + " " + kA;
  rig.ask(1, key);
  rig.run(60 * kMillisecond_us);
  EXPECT_EQ(rig.of(1), "granted");
  EXPECT_EQ(rig.network.at(kA).executed["a1"], 1);
  EXPECT_GT(rig.network.dials, dials) << "over the connection that was sent to itself";
  // And not for ever, where the new one says so, too.
  rig.network.at(kA).every_error = "MOVED " + std::to_string(slot_of(key)) + " " + kA;
  const int dials_before = rig.network.dials;
  for (std::int64_t cost = 2; cost < 102; ++cost) {
    rig.ask(cost, key);
    rig.run(60 * kMillisecond_us);
    EXPECT_THAT(rig.of(cost), testing::AnyOf("refused", "unreachable"));
  }
  EXPECT_LT(rig.network.dials - dials_before, 60) << "each after a pause";
  rig.network.at(kA).every_error.clear();
  rig.run(6 * kSecond_us);
  EXPECT_TRUE(works(rig, key));
}

TEST(Cluster, LosesOnlyTheSlotsOfANodeThatDiesUntilItIsReplaced) {
  ClusterRig rig;
  rig.start();
  rig.run(kSecond_us);
  const std::string of_a = rig.key_at(kA), of_b = rig.key_at(kB);
  rig.network.set_up(kA, false);
  EXPECT_FALSE(works(rig, of_a));
  EXPECT_TRUE(works(rig, of_b));
  rig.network.add("127.0.0.1:7004").cluster = &rig.cluster;
  rig.cluster.ranges[0].primary = *parse_address("127.0.0.1:7004");
  rig.network.at(kB).next_error = "CLUSTERDOWN The cluster is down";  // one of the hints
  works(rig, of_b);
  rig.run(kSecond_us);
  EXPECT_TRUE(works(rig, of_a));
  EXPECT_TRUE(rig.store->is_whole());
}

TEST(Cluster, ADemotedNodeIsLeft) {
  ClusterRig rig;
  rig.start();
  rig.run(kSecond_us);
  const std::string key = rig.key_at(kA);
  rig.network.at(kA).next_error = "READONLY You can't write against a read only replica.";
  rig.cluster.ranges[0].primary = *parse_address(kB);
  rig.run(kMillisecond_us);
  rig.ask(1, key);
  rig.run(60 * kMillisecond_us);
  rig.run(kSecond_us);
  EXPECT_TRUE(works(rig, key));
}

TEST(Cluster, BelievesASmallerMapOnlyWhenItIsToldTwice) {
  ClusterRig rig;
  rig.start();
  rig.run(kSecond_us);
  const auto whole = rig.cluster.ranges;
  rig.cluster.ranges.pop_back();
  rig.network.at(kB).next_error = "CLUSTERDOWN x";
  works(rig, rig.key_at(kB));
  rig.cluster.ranges = whole;
  EXPECT_TRUE(rig.store->is_whole()) << "told once";
  rig.cluster.ranges.pop_back();
  rig.network.at(kB).next_error = "CLUSTERDOWN x";
  works(rig, rig.key_at(kB));
  rig.run(2 * kSecond_us);
  EXPECT_FALSE(rig.store->is_whole()) << "told twice";
}

TEST(Cluster, HoldsNoMoreNodesThanItsBound) {
  for (const std::size_t nodes : {kClusterNodesMax, kClusterNodesMax + 1}) {
    ClusterRig rig;
    rig.cluster.ranges.clear();
    const std::size_t each = kClusterSlots / nodes;
    for (std::size_t i = 0; i < nodes; ++i) {
      const auto port = static_cast<std::uint16_t>(i + 1 == nodes ? 7001 : 10'000 + i);  // the others do not exist
      rig.cluster.ranges.push_back({static_cast<std::uint16_t>(i * each),
                                    static_cast<std::uint16_t>((i + 1) * each - 1),
                                    {.host = "127.0.0.1", .port = port, .path = {}}});
    }
    const std::string key = rig.key_at(kA);
    rig.start();
    bool works_at_last = false;
    // Connections are not begun all at once.
    for (int second = 0; second < (nodes == kClusterNodesMax ? 60 : 2) && !works_at_last; ++second) {
      rig.run(kSecond_us);
      works_at_last = works(rig, key);
    }
    EXPECT_EQ(works_at_last, nodes == kClusterNodesMax);
  }
}

TEST(Cluster, AServerThatIsNoneIsNamedAsSuch) {
  StoreRig rig("redis-cluster://127.0.0.1:7001");
  rig.network.add(kA);
  rig.start();
  rig.run(3 * kSecond_us);
  EXPECT_FALSE(rig.store->is_whole());
  EXPECT_THAT(rig.store->last_error(), HasSubstr("cluster support disabled"));
  EXPECT_LT(rig.network.dials, 40);
}

}  // namespace
}  // namespace ratel
