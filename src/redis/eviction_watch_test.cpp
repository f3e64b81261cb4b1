#include "redis/eviction_watch.h"

#include <gtest/gtest.h>

#include "redis/store_rig_testing.h"

namespace ratel {
namespace {

TEST(EvictionWatch, CountsWhatServersEvictWhileItWatches) {
  StoreRig rig("redis-cluster://10.0.0.1:7001");
  FakeRedis& one = rig.network.add("10.0.0.1:7001");
  FakeRedis& other = rig.network.add("10.0.0.2:7001");
  FakeCluster cluster{.ranges = {{0, 8191, one.address}, {8192, 16383, other.address}}, .importing = {}};
  one.cluster = other.cluster = &cluster;
  one.evicted_keys = 100;
  rig.start();
  rig.run(20 * kSecond_us);
  EXPECT_EQ(rig.store->evictions_seen(), 0U);

  rig.store->watch_evictions(rig.network.now());
  rig.run(EvictionWatch::kApart_us);
  EXPECT_EQ(rig.store->evictions_seen(), 0U) << "what was before";
  one.evicted_keys += 5;
  other.evicted_keys += 2;
  rig.run(EvictionWatch::kApart_us);
  EXPECT_EQ(rig.store->evictions_seen(), 7U);
  one.evicted_keys = 1;  // it has begun anew
  rig.run(EvictionWatch::kApart_us);
  EXPECT_EQ(rig.store->evictions_seen(), 7U);
  one.evicted_keys = 2;
  rig.run(EvictionWatch::kApart_us);
  EXPECT_EQ(rig.store->evictions_seen(), 8U);
}

TEST(EvictionWatch, AsksSoonWhereItBeginsBeforeThereIsAConnection) {
  StoreRig rig("redis://10.0.0.1:7001");
  FakeRedis& server = rig.network.add("10.0.0.1:7001");
  rig.store = std::make_unique<RedisStore>(rig.options, rig.network, rig.network.prng);
  rig.store->watch_evictions(rig.network.now());
  rig.store->start(rig.network.now());
  rig.run(kSecond_us);
  server.evicted_keys = 3;
  rig.run(EvictionWatch::kApart_us);
  EXPECT_EQ(rig.store->evictions_seen(), 3U);
}

TEST(EvictionWatch, AServerThatDoesNotSayIsAskedOn) {
  StoreRig rig("redis://10.0.0.1:7001");
  FakeRedis& server = rig.network.add("10.0.0.1:7001");
  server.info_error = "NOPERM this user has no permissions to run the 'info' command";
  rig.start();
  rig.store->watch_evictions(rig.network.now());
  rig.run(2 * EvictionWatch::kApart_us);
  EXPECT_EQ(rig.store->evictions_seen(), 0U);
  rig.ask(1);
  rig.run(10 * kMillisecond_us);
  EXPECT_EQ(rig.of(1), "granted");
  server.info_error.clear();
  rig.run(EvictionWatch::kApart_us);
  server.evicted_keys = 3;
  rig.run(EvictionWatch::kApart_us);
  EXPECT_EQ(rig.store->evictions_seen(), 3U);
}

TEST(EvictionWatch, WhatIsEvictedWhileAServerDoesNotSayIsCountedWhenItDoes) {
  StoreRig rig("redis://10.0.0.1:7001");
  FakeRedis& server = rig.network.add("10.0.0.1:7001");
  rig.start();
  rig.store->watch_evictions(rig.network.now());
  rig.run(EvictionWatch::kApart_us / 2);
  server.info_error = "LOADING Redis is loading the dataset in memory";
  server.evicted_keys = 3;
  rig.run(EvictionWatch::kApart_us);
  EXPECT_EQ(rig.store->evictions_seen(), 0U);
  server.info_error.clear();
  rig.run(EvictionWatch::kApart_us);
  EXPECT_EQ(rig.store->evictions_seen(), 3U);
}

}  // namespace
}  // namespace ratel
