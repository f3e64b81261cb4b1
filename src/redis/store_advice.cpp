#include "redis/store_advice.h"

#include <optional>

namespace ratel {
namespace {

using Topology = StoreUrl::Topology;

struct Row {
  std::string_view holds;
  std::string_view advice;
  std::optional<Topology> only;
};

constexpr std::string_view kPassword = "give the store's user in --store, and its password in --store-password-file";
constexpr std::string_view kSentinelPassword =
    "give the sentinels' user in --store-sentinel-user, and its password in --store-sentinel-password-file";
constexpr std::string_view kRights = "grant its user what decisions need; `ratel doctor` names what is missing";
constexpr std::string_view kCluster = "begin the URL with redis-cluster:// (with TLS rediss-cluster://)";
constexpr std::string_view kPrimary = "name the primary in --store, or the sentinels that know it (redis-sentinel://)";
constexpr std::string_view kTooOld = "run Redis 7.0 or Valkey 7.2, or later, there";
constexpr std::string_view kProtocol =
    "see that the address is that of a Redis server, and that it speaks TLS if the URL says so (rediss://) and only "
    "then";
constexpr std::string_view kNoAnswer =
    "see that it runs, that no firewall is between, and that it speaks TLS if the URL says so (rediss://) and only "
    "then";
constexpr std::string_view kReached = "see that it runs, and that the address in --store is right";

// The first that fits counts.
constexpr Row kRows[] = {
    {"WRONGPASS", kPassword, {}},
    {"invalid password", kPassword, {}},
    {"NOAUTH", kPassword, {}},
    {"NOPERM", kRights, {}},
    {"ACL failure in script", kRights, {}},
    {"The user executing the script", kRights, {}},
    {"DB index is out of range", "name a database that it has (`databases` in its configuration; 16 unless set)", {}},
    {"SELECT is not allowed", "name no database: a cluster has only one", {}},
    {"it is a node of a cluster", kCluster, {}},
    {"MOVED ", kCluster, Topology::kStandalone},
    {"it is a sentinel",
     "begin the URL with redis-sentinel:// and end it with the primary's name, as in /mymaster",
     {}},
    {"cluster support disabled", "begin the URL with redis:// (with TLS rediss://)", {}},
    {"it knows no primary", "end the URL with the name that the sentinels watch the primary by", {}},
    {"unknown command 'SENTINEL'", "name sentinels in the URL, whose port is 26379 unless set, not servers", {}},
    {"it is a replica", "see whether a failover is under way: the sentinels name a replica", Topology::kSentinel},
    {"it is a replica", kPrimary, {}},
    {"READONLY", kPrimary, {}},
    {"too old", kTooOld, {}},
    {"Error compiling script", kTooOld, {}},
    {"LOADING", "wait until it has loaded its data", {}},
    {"BUSY ", "find out which script keeps it busy, and end that with SCRIPT KILL", {}},
    {"OOM ", "raise its maxmemory, or give ratel a server of its own", {}},
    {"MISCONF", "make room on its disk: it takes no writes while it cannot save", {}},
    {"NOREPLICAS", "bring its replicas back, or lower min-replicas-to-write", {}},
    {"CLUSTERDOWN", "bring the cluster's primaries back", {}},
    {"max number of clients", "raise its maxclients", {}},
    {"certificate required", "give our certificate in --store-cert-file, and its key in --store-key-file", {}},
    {"certificate", "give who vouches for its certificate in --store-ca-file", {}},
    {"mismatch", "give the name that its certificate is for in --store-server-name", {}},
    {"TLS:", kProtocol, {}},
    {"it is no RESP", kProtocol, {}},
    {"a reply that nothing was asked for", kProtocol, {}},
    {"the server hung up", kProtocol, {}},
    {"reset by peer", kProtocol, {}},
    {"no answer in time", kNoAnswer, {}},
    {"refused", kReached, {}},
    {"cannot resolve", kReached, {}},
    {"cannot connect", kReached, {}},
    {"no connection in time", kNoAnswer, {}},
};

}  // namespace

std::string_view store_advice(std::string_view error, Topology topology) {
  for (const Row& row : kRows) {
    if (error.find(row.holds) == std::string_view::npos || row.only.value_or(topology) != topology) continue;
    // So begins what a sentinel has to say.
    return row.advice == kPassword && error.starts_with("sentinel ") ? kSentinelPassword : row.advice;
  }
  return {};
}

std::string with_store_advice(std::string_view error, Topology topology) {
  const std::string_view advice = store_advice(error, topology);
  if (!advice.empty() && error.ends_with('.')) error.remove_suffix(1);
  std::string line(error);
  if (!advice.empty()) line.append(": ").append(advice);
  return line;
}

}  // namespace ratel
