#include "redis/store_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ratel {
namespace {

using Topology = StoreUrl::Topology;

TEST(StoreUrl, ReadsEveryForm) {
  struct Case {
    std::string_view text;
    StoreUrl url;
    std::string_view printed;  // empty: as it was written
  };
  const Case cases[] = {
      {"redis://127.0.0.1", {.hosts = {{"127.0.0.1", 6379, ""}}}, "redis://127.0.0.1:6379"},
      {"redis://db.example:6380/3", {.hosts = {{"db.example", 6380, ""}}, .database = 3}, ""},
      {"redis://db/", {.hosts = {{"db", 6379, ""}}}, "redis://db:6379"},
      {"redis://db?db=2", {.hosts = {{"db", 6379, ""}}, .database = 2}, "redis://db:6379/2"},
      {"rediss://[::1]:7000", {.tls = true, .hosts = {{"::1", 7000, ""}}}, ""},
      {"redis://[2001:db8::1]", {.hosts = {{"2001:db8::1", 6379, ""}}}, "redis://[2001:db8::1]:6379"},
      {"valkey://h", {.hosts = {{"h", 6379, ""}}}, "redis://h:6379"},
      {"valkeys://h", {.tls = true, .hosts = {{"h", 6379, ""}}}, "rediss://h:6379"},
      {"redis://:secret@h:1", {.hosts = {{"h", 1, ""}}, .password = "secret"}, "redis://:***@h:1"},
      {"redis://us%3Aer:p%40ss%2Fw:ord@h:1",
       {.hosts = {{"h", 1, ""}}, .user = "us:er", .password = "p@ss/w:ord"},
       "redis://us%3Aer:***@h:1"},
      {"redis://u:p@ss@h:1", {.hosts = {{"h", 1, ""}}, .user = "u", .password = "p@ss"}, "redis://u:***@h:1"},
      {"redis-sentinel://a:1,b/mymaster",
       {.topology = Topology::kSentinel, .hosts = {{"a", 1, ""}, {"b", 26379, ""}}, .service = "mymaster"},
       "redis-sentinel://a:1,b:26379/mymaster"},
      {"rediss-sentinel://:x@[::1]/my%20master/7",
       {.topology = Topology::kSentinel,
        .tls = true,
        .hosts = {{"::1", 26379, ""}},
        .password = "x",
        .service = "my master",
        .database = 7},
       "rediss-sentinel://:***@[::1]:26379/my%20master/7"},
      {"redis-cluster://a:1,b:2", {.topology = Topology::kCluster, .hosts = {{"a", 1, ""}, {"b", 2, ""}}}, ""},
      {"valkeys-cluster://a:1/0",
       {.topology = Topology::kCluster, .tls = true, .hosts = {{"a", 1, ""}}},
       "rediss-cluster://a:1"},
      {"redis+unix:///run/redis.sock?db=1", {.hosts = {{"", 0, "/run/redis.sock"}}, .database = 1}, ""},
      {"unix://:pw@/run/a%3Fb", {.hosts = {{"", 0, "/run/a?b"}}, .password = "pw"}, "redis+unix://:***@/run/a%3Fb"},
      {"valkey+unix:///x", {.hosts = {{"", 0, "/x"}}}, "redis+unix:///x"},
  };
  for (const Case& c : cases) {
    const Result<StoreUrl> url = parse_store_url(c.text);
    ASSERT_TRUE(url.ok()) << c.text << ": " << url.error().message;
    EXPECT_EQ(*url, c.url) << c.text;
    EXPECT_EQ(format_store_url(*url), c.printed.empty() ? c.text : c.printed);
  }
}

TEST(StoreUrl, ErrorsNameThePartAndItsValue) {
  std::string hosts = "redis-cluster://h";
  for (std::size_t i = 0; i < kStoreHostsMax; ++i) hosts += ",h";
  struct Case {
    std::string text;
    std::string_view message;
  };
  const Case cases[] = {
      {"", "a URL was expected"},
      {"127.0.0.1:6379", "a URL was expected"},
      {"http://h", "scheme `http`: redis, rediss"},
      {"redisx://h", "scheme `redisx`"},
      {"rediss+unix:///x", "scheme `rediss+unix`"},
      {"redis://", "host: there is none"},
      {"redis:///3", "host: there is none"},
      {"redis://:6379", "host `:6379`: a name or an address"},
      {"redis://h:99999", "host `h:99999`: a port is a number"},
      {"redis://h:0", "host `h:0`: a port is a number from 1"},
      {"redis://::1", "host `::1`: an IPv6 address stands between brackets"},
      {"redis://a,b", "hosts `a,b`: one server stands here"},
      {"redis-cluster://a,,b", "host ``: a name or an address"},
      {"redis-cluster://a,", "host ``: a name or an address"},
      {hosts, "hosts: there are more than 64"},
      {"redis://user@h", "user `user` comes without a password"},
      {"redis://us%e@h", "user `us%e`: after % come"},
      {"redis://u:p%zz@h", "password: after % come"},
      {"redis://u:p/w@h", "password: a `/` in it stands as %2F"},
      {"redis://h/x", "database `x`: a number from 0 to 16383"},
      {"redis://h/16384", "database `16384`"},
      {"redis://h/-1", "database `-1`"},
      {"redis://h/1/2", "database `1/2`"},
      {"redis-cluster://h/1", "database `1`: a cluster has only database 0"},
      {"redis://h?tls=1", "parameter `tls`: only db is known"},
      {"redis-sentinel://h", "service ``: the primary's name"},
      {"redis-sentinel://h/%", "service `%`"},
      {"redis-sentinel://h/name/x", "database `x`"},
      {"redis+unix://run/x", "path `run/x`: a Unix socket is an absolute path"},
      {"redis+unix:///" + std::string(kUnixPathBytesMax, 'x'), "at most 107 bytes"},
      {"redis+unix:///x%4", "path `/x%4`: after % come"},
      {"redis://" + std::string(kStoreUrlBytesMax, 'x'), "more than 4096 bytes"},
  };
  for (const Case& c : cases) {
    const Result<StoreUrl> url = parse_store_url(c.text);
    ASSERT_FALSE(url.ok()) << c.text;
    EXPECT_THAT(url.error().message, testing::HasSubstr(c.message)) << c.text;
  }
}

TEST(StoreUrl, NoErrorAndNoPrintedFormShowsThePassword) {
  for (const std::string_view text :
       {"redis://u:hunter2@h:99999", "redis://u:hunter2%zz@h", "redis://u:hunter2@h/x", "redis://u:hunter2@a,b",
        "hunter2@h", "redis+unix://u:hunter2@x", "redis://u:hunter2@h?x=1", "redis-sentinel://u:hunter2@h",
        "redis://u:hunter2@h", "redis://u:hunter2/x@h", "redis://u:hunter2?x@h", "redis+unix://u:hunter2/x@h"}) {
    const Result<StoreUrl> url = parse_store_url(text);
    const std::string shown = url.ok() ? format_store_url(*url) : url.error().message;
    EXPECT_THAT(shown, testing::Not(testing::HasSubstr("hunter2"))) << text;
  }
}

}  // namespace
}  // namespace ratel
