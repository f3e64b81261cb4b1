#include "redis/store_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ratel {
namespace {

using testing::HasSubstr;
using Topology = StoreUrl::Topology;

TEST(StoreAdvice, SaysWhatToChange) {
  struct Case {
    std::string_view error;
    Topology topology;
    std::string_view says;  // a word of the advice; empty: there is none
  };
  const Case cases[] = {
      {"WRONGPASS invalid username-password pair or user is disabled.", Topology::kStandalone, "--store-password-file"},
      {"NOAUTH HELLO must be called with the client already authenticated", Topology::kCluster,
       "--store-password-file"},
      {"127.0.0.1:7000: NOPERM User x has no permissions to run the 'script|load' command", Topology::kCluster,
       "ratel doctor"},
      {"ERR ACL failure in script: User lim has no permissions to run the 'zadd' command", Topology::kStandalone,
       "ratel doctor"},
      {"ERR DB index is out of range", Topology::kStandalone, "databases"},
      {"it is a node of a cluster", Topology::kSentinel, "redis-cluster://"},
      {"MOVED 7 127.0.0.1:7001", Topology::kStandalone, "redis-cluster://"},
      {"MOVED 7 127.0.0.1:7001", Topology::kCluster, ""},
      {"ERR This instance has cluster support disabled", Topology::kCluster, "redis://"},
      {"it is a sentinel", Topology::kStandalone, "redis-sentinel://"},
      {"it is a replica", Topology::kStandalone, "name the primary"},
      {"it is a replica", Topology::kSentinel, "failover"},
      {"it is Redis 6.2.14, which is too old", Topology::kStandalone, "Redis 7.0"},
      {"TLS: IP address mismatch", Topology::kStandalone, "--store-server-name"},
      {"TLS: error:0A00045C:SSL routines::tlsv13 alert certificate required", Topology::kStandalone,
       "--store-cert-file"},
      {"TLS: self-signed certificate", Topology::kStandalone, "--store-ca-file"},
      {"TLS: the other side does not speak it, or hung up", Topology::kStandalone, "rediss://"},
      {"the server hung up", Topology::kStandalone, "rediss://"},
      {"Connection reset by peer", Topology::kStandalone, "rediss://"},
      {"cannot connect: Connection refused", Topology::kStandalone, "address"},
      {"cannot resolve `nowhere`: Name or service not known", Topology::kStandalone, "address"},
      {"sentinel 127.0.0.1:26379: NOAUTH HELLO must be called", Topology::kSentinel, "--store-sentinel-password-file"},
      {"ERR something new", Topology::kStandalone, ""},
      {"", Topology::kStandalone, ""},
  };
  for (const Case& c : cases) {
    const std::string_view advice = store_advice(c.error, c.topology);
    EXPECT_THAT(std::string(advice), HasSubstr(std::string(c.says))) << c.error;
    EXPECT_EQ(advice.empty(), c.says.empty()) << c.error;
  }
}

TEST(StoreAdvice, StandsBehindTheErrorOnOneLine) {
  EXPECT_EQ(with_store_advice("LOADING Redis is loading the dataset in memory.", Topology::kStandalone),
            "LOADING Redis is loading the dataset in memory: wait until it has loaded its data");
  EXPECT_EQ(with_store_advice("ERR something new.", Topology::kStandalone), "ERR something new.");
}

}  // namespace
}  // namespace ratel
