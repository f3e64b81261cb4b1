#include "redis/store_facts.h"

#include <gtest/gtest.h>

#include "redis/redis_server_testing.h"

namespace ratel {
namespace {

using Role = StoreFacts::Role;
using Mode = StoreFacts::Mode;

TEST(StoreFacts, ReadsVersions) {
  struct Case {
    std::string_view text;
    ServerVersion version;
  };
  const Case cases[] = {
      {"7.0.15", {7, 0, 15}},
      {"8.1", {8, 1, 0}},
      {"6", {6, 0, 0}},
      {"8.0.0-rc1", {8, 0, 0}},
      {"255.255.255", {255, 255, 255}},
      {"", {0, 0, 0}},
      {"v7", {0, 0, 0}},
      {"7.x", {7, 0, 0}},
      {"7..2", {7, 0, 0}},
      {"-7.1", {0, 0, 0}},
      {"99999999999.1", {0, 0, 0}},
  };
  for (const Case& c : cases) EXPECT_EQ(parse_server_version(c.text), c.version) << c.text;
}

TEST(StoreFacts, KnowsWhichServersAreTooOld) {
  struct Case {
    ServerProduct product;
    bool too_old;
    std::string_view text;
  };
  const Case cases[] = {
      {{"redis", "6.2.14"}, true, "Redis 6.2.14"},  {{"redis", "7.0.0"}, false, "Redis 7.0.0"},
      {{"redis", "5.0.7"}, true, "Redis 5.0.7"},    {{"redis", "8.0.2"}, false, "Redis 8.0.2"},
      {{"valkey", "7.2.5"}, false, "Valkey 7.2.5"}, {{"valkey", "7.1.0"}, true, "Valkey 7.1.0"},
      {{"valkey", "8.0.1"}, false, "Valkey 8.0.1"}, {{"redis", ""}, false, "Redis of unknown version"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(c.product.is_too_old(), c.too_old) << c.text;
    EXPECT_EQ(c.product.text(), c.text);
  }
}

TEST(StoreFacts, ReadsInfoLineByLine) {
  struct Case {
    const char* name;
    std::string_view info;
    void (*check)(const StoreFacts& facts);
  };
  const Case cases[] = {
      {"nothing", "",
       [](const StoreFacts& f) {
         EXPECT_EQ(f.role, Role::kUnknown);
         EXPECT_FALSE(f.maxmemory || f.evicted_keys || f.append_only || f.replicas || f.last_save_failed);
       }},
      {"lines without a colon, comments, no last newline",
       "# Server\r\n\r\nnonsense\r\n#role:slave\r\n:7\r\nrole:master",
       [](const StoreFacts& f) { EXPECT_EQ(f.role, Role::kPrimary); }},
      {"newlines alone", "role:slave\nmaxmemory:5\n",
       [](const StoreFacts& f) {
         EXPECT_EQ(f.role, Role::kReplica);
         EXPECT_EQ(f.maxmemory, 5U);
       }},
      {"numbers that are none", "maxmemory:much\r\nevicted_keys:-1\r\nconnected_slaves:2x\r\nused_memory:\r\n",
       [](const StoreFacts& f) { EXPECT_FALSE(f.maxmemory || f.evicted_keys || f.replicas || f.used_memory); }},
      {"Valkey claims a Redis version too, in either order", "redis_version:7.2.4\r\nvalkey_version:8.0.1\r\n",
       [](const StoreFacts& f) { EXPECT_EQ(f.product.text(), "Valkey 8.0.1"); }},
      {"the other order", "valkey_version:8.0.1\r\nredis_version:7.2.4\r\n",
       [](const StoreFacts& f) { EXPECT_EQ(f.product.text(), "Valkey 8.0.1"); }},
      {"modes", "server_mode:cluster\r\n", [](const StoreFacts& f) { EXPECT_EQ(f.mode, Mode::kCluster); }},
      {"another name", "redis_mode:sentinel\r\n", [](const StoreFacts& f) { EXPECT_EQ(f.mode, Mode::kSentinel); }},
      {"one status of two is bad", "rdb_last_bgsave_status:err\r\naof_last_write_status:ok\r\n",
       [](const StoreFacts& f) { EXPECT_EQ(f.last_save_failed, true); }},
      {"both are good", "rdb_last_bgsave_status:ok\r\naof_last_write_status:ok\r\n",
       [](const StoreFacts& f) { EXPECT_EQ(f.last_save_failed, false); }},
      {"replicas", "connected_slaves:2\r\nmin_slaves_good_slaves:1\r\n",
       [](const StoreFacts& f) {
         EXPECT_EQ(f.replicas, 2U);
         EXPECT_EQ(f.replicas_in_step, 1U);
       }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    StoreFacts facts;
    read_info(c.info, facts);
    c.check(facts);
  }
}

TEST(StoreFacts, ReadsConfigAsMapAndAsList) {
  for (const std::string bytes : {"%2\r\n+save\r\n+3600 1\r\n+min-replicas-to-write\r\n+1\r\n",
                                  "*4\r\n$4\r\nsave\r\n$6\r\n3600 1\r\n$21\r\nmin-replicas-to-write\r\n$1\r\n1\r\n"}) {
    RespReplyReader reader;
    std::string_view rest = bytes;
    ASSERT_EQ(reader.read(rest), RespReplyReader::Outcome::kReply);
    StoreFacts facts;
    read_config(reader.reply(), facts);
    EXPECT_EQ(facts.save_points, "3600 1");
    EXPECT_EQ(facts.min_replicas_to_write, 1U);
  }
}

class StoreFactsOf : public testing::TestWithParam<ServerKind> {};

TEST_P(StoreFactsOf, ARealServerAreAllKnown) {
  RedisServer server(GetParam().binary, {"--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru", "--appendonly",
                                         "yes", "--min-replicas-to-write", "1"});
  RedisClient client(server.socket());
  StoreFacts facts;
  read_info(client.run({"INFO"}).text, facts);
  EXPECT_EQ(facts.product.name, GetParam().name);
  EXPECT_GE(parse_server_version(facts.product.version).major, 7);
  EXPECT_FALSE(facts.product.is_too_old());
  EXPECT_EQ(facts.role, Role::kPrimary);
  EXPECT_EQ(facts.mode, Mode::kStandalone);
  EXPECT_GT(facts.used_memory.value_or(0), 100'000U);
  EXPECT_EQ(facts.maxmemory, std::uint64_t{64} << 20U);
  EXPECT_EQ(facts.eviction, "allkeys-lru");
  EXPECT_EQ(facts.evicted_keys, 0U);
  EXPECT_EQ(facts.append_only, true);
  EXPECT_EQ(facts.last_save_failed, false);
  EXPECT_EQ(facts.replicas, 0U);
  EXPECT_EQ(facts.replicas_in_step, 0U);
}

INSTANTIATE_TEST_SUITE_P(Servers, StoreFactsOf, testing::ValuesIn(server_kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ratel
