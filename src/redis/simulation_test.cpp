// Many stores, servers and faults in one process, from one seed. Two phases: first with delays, cuts, halves, pauses,
// deaths, failovers, lost scripts and clocks that are set; then in peace, where everything must work
// again within a second.
//
// Throughout: each question is answered exactly once, by its deadline and a millisecond; a grant is its own (the costs
// are all different, and an answer is checked against the reply it came in); what may run once runs at most once; an
// answer that says nobody was charged is true; nothing grows.

#include <gtest/gtest.h>

#include "redis/store_rig_testing.h"

namespace ratel {
namespace {

const std::string kA = "127.0.0.1:7001", kB = "127.0.0.1:7002", kC = "127.0.0.1:7003";

/// How long after all is well every question is answered.
constexpr Micros kRecovery_us = kSecond_us;

struct World {
  World(std::string_view url, std::uint64_t seed) : rig(url, seed), chance(seed * 7919) {
    for (const std::string& node : {kA, kB, kC}) rig.network.add(node);
    for (const char* sentinel : {"127.0.0.1:1", "127.0.0.1:2"}) rig.network.add(sentinel).primary = &primary;
    if (rig.options.url.topology == StoreUrl::Topology::kCluster) {
      cluster.ranges = {
          {0, 5000, *parse_address(kA)}, {5001, 10'000, *parse_address(kB)}, {10'001, 16'383, *parse_address(kC)}};
      for (const std::string& node : {kA, kB, kC}) rig.network.at(node).cluster = &cluster;
    }
    if (rig.options.url.topology == StoreUrl::Topology::kSentinel) {
      for (const std::string& node : {kB, kC}) rig.network.at(node).replica = true;
    }
    rig.network.splits = true;
    rig.start();
  }

  std::uint64_t below(std::uint64_t bound) { return chance.next() % bound; }
  const std::string& any() { return std::array<const std::string*, 3>{&kA, &kB, &kC}[below(3)][0]; }

  void ask() {
    constexpr Verb kVerbs[] = {Verb::kAllow, Verb::kAllow, Verb::kAllow, Verb::kRefund};
    rig.ask(++cost, "key" + std::to_string(below(40)), kVerbs[below(4)],
            static_cast<Micros>(below(20) == 0 ? 1'000'000 : 5'000 + below(60'000)));
  }

  void fail_over() {
    const std::string& to = any();
    for (const std::string& node : {kA, kB, kC}) rig.network.at(node).replica = node != to;
    primary = *parse_address(to);
  }

  void move_slots() {
    FakeCluster::Range& range = cluster.ranges[below(3)];
    const Address to = *parse_address(any());
    if (below(2) == 0) {
      range.primary = to;
    } else {
      cluster.importing.clear();
      for (int key = 0; key < 40; ++key) {
        if (below(2) == 0) cluster.importing[slot_of("ratel:1:{key" + std::to_string(key) + "}:")] = to;
      }
    }
  }

  void misfortune() {
    FakeRedis& server = rig.network.at(any());
    switch (below(15)) {
      case 0:
        return rig.network.cut(any());
      case 1:
      case 12:
      case 13:
      case 14:
        return rig.network.cut_one(any());
      case 2:
        return rig.network.set_paused(any(), true);
      case 3:
        for (const std::string& node : {kA, kB, kC}) rig.network.set_paused(node, false);
        return;
      case 4:
        return rig.network.set_up(any(), false);
      case 5:
        for (const std::string& node : {kA, kB, kC}) rig.network.set_up(node, true);
        return;
      case 6:
        server.has_script = false;
        return;
      case 7:
        server.loading = !server.loading;
        return;
      case 8: {
        constexpr const char* kErrors[] = {"OOM x",        "BUSY x",     "LOADING x", "READONLY x",
                                           "NOREPLICAS x", "TRYAGAIN x", "MISCONF x"};
        server.next_error = kErrors[below(std::size(kErrors))];
        return;
      }
      case 9:
        rig.network.delay_us = static_cast<Micros>(below(2) == 0 ? 100 : below(20'000));
        return;
      case 10:
        // forward only: where a clock is set back, the late may be charged for two seconds
        server.clock_step_us += static_cast<Micros>(below(200'000));
        return;
      case 11:
        if (rig.options.url.topology == StoreUrl::Topology::kSentinel) return fail_over();
        if (rig.options.url.topology == StoreUrl::Topology::kCluster) return move_slots();
        return;
    }
  }

  void peace() {
    for (const std::string& node : {kA, kB, kC}) {
      rig.network.set_paused(node, false);
      rig.network.set_up(node, true);
      rig.network.at(node).loading = false;
      rig.network.at(node).next_error.clear();
    }
    cluster.importing.clear();
    rig.network.delay_us = 200;
  }

  int executed(const std::string& what) {
    int times = 0;
    for (const std::string& node : {kA, kB, kC}) {
      const auto& executed = rig.network.at(node).executed;
      if (const auto at = executed.find(what); at != executed.end()) times += at->second;
    }
    return times;
  }

  StoreRig rig;
  Prng chance;
  Address primary = *parse_address(kA);
  FakeCluster cluster;
  std::int64_t cost = 0;
};

void check(World& world, std::uint64_t seed) {
  for (const auto& [cost, asked] : world.rig.asked()) {
    ASSERT_EQ(asked.answers, 1) << "cost " << cost << " seed " << seed;
    ASSERT_LE(asked.answered_us, asked.due_us + kMillisecond_us) << "cost " << cost << " seed " << seed;
    const bool refund = asked.verb == Verb::kRefund;
    const int times = world.executed((refund ? "f" : "a") + std::to_string(cost));
    ASSERT_LE(times, refund ? 1 : 2) << "cost " << cost << " seed " << seed;
    switch (asked.answer.fault) {
      case StoreFault::kNone:
        ASSERT_GE(times, 1) << "cost " << cost << " seed " << seed;
        ASSERT_EQ(asked.answer.decision.granted, refund ? 0 : cost) << "seed " << seed;
        break;
      case StoreFault::kUnreachable:
      case StoreFault::kRefused:
      case StoreFault::kCrowded:
        ASSERT_EQ(times, 0) << "cost " << cost << " seed " << seed << ": it said that nobody was charged";
        break;
      case StoreFault::kBadState:
        FAIL() << "cost " << cost << " seed " << seed;
      case StoreFault::kTimeout:
      case StoreFault::kLost:
        break;
    }
  }
  ASSERT_EQ(world.rig.store->under_way(), 0U) << seed;
}

void simulate(std::string_view url, std::uint64_t seed) {
  World world(url, seed);
  for (int step = 0; step < 400; ++step) {
    for (std::uint64_t asks = world.below(12); asks > 0; --asks) world.ask();
    if (world.below(4) == 0) world.misfortune();
    world.rig.run(static_cast<Micros>(world.below(20'000)));
  }
  world.peace();
  // What asks meanwhile is what finds out where slots have moved to.
  for (Micros us = 0; us < kRecovery_us; us += kRecovery_us / 10) {
    for (int i = 0; i < 20; ++i) world.ask();
    world.rig.run(kRecovery_us / 10);
  }
  ASSERT_NO_FATAL_FAILURE(check(world, seed));
  const std::int64_t first = world.cost + 1;
  for (int i = 0; i < 100; ++i) world.ask();
  world.rig.run(2 * kSecond_us);
  ASSERT_NO_FATAL_FAILURE(check(world, seed));
  for (std::int64_t cost = first; cost <= world.cost; ++cost) {
    ASSERT_EQ(world.rig.of(cost), "granted") << "in peace; seed " << seed << ": " << world.rig.store->last_error();
  }
}

constexpr std::uint64_t kSeeds = 60;

TEST(Simulation, OneServer) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ASSERT_NO_FATAL_FAILURE(simulate("redis://127.0.0.1:7001", seed));
  }
}

TEST(Simulation, Sentinels) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ASSERT_NO_FATAL_FAILURE(simulate("redis-sentinel://127.0.0.1:1,127.0.0.1:2/mymaster", seed));
  }
}

TEST(Simulation, Clusters) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ASSERT_NO_FATAL_FAILURE(simulate("redis-cluster://127.0.0.1:7001,127.0.0.1:7002", seed));
  }
}

TEST(Simulation, FollowsFromItsSeed) {
  std::string outcomes[2];
  for (std::string& each : outcomes) {
    World world("redis-cluster://127.0.0.1:7001,127.0.0.1:7002", 5);
    for (int step = 0; step < 200; ++step) {
      world.ask();
      if (world.below(8) == 0) world.misfortune();
      world.rig.run(5'000);
    }
    for (const auto& [cost, asked] : world.rig.asked()) {
      each += std::to_string(cost) + world.rig.of(cost) + std::to_string(asked.answered_us) + "\n";
    }
  }
  EXPECT_EQ(outcomes[0], outcomes[1]);
}

}  // namespace
}  // namespace ratel
