#pragma once
// Where the shared store is, as people write it. Pure; any thread.
//
//   redis://[user[:password]@]host[:port][/database]          one server; rediss:// with TLS
//   redis-sentinel://[user[:password]@]host[:port],…/name[/database]   the primary that sentinels name;
//   rediss-sentinel:// redis-cluster://[user[:password]@]host[:port],…           any nodes of a cluster;
//   rediss-cluster:// redis+unix://[user[:password]@]/path[?db=N]               a Unix socket; unix:// too
//
// `valkey` stands for `redis` in each. Users, passwords, names and paths are percent-decoded. Files for TLS are
// settings of their own, not part of the URL.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "ratel/result.h"

namespace ratel {

inline constexpr std::size_t kStoreUrlBytesMax = 4096;
inline constexpr std::size_t kStoreHostsMax = 64;  // sentinels, or nodes to ask first; a handful is enough
inline constexpr int kStoreDatabaseMax = 16'383;   // Redis' own bound is a setting; 16 of them is usual

struct StoreUrl {
  enum class Topology : std::uint8_t { kStandalone, kSentinel, kCluster };

  Topology topology = Topology::kStandalone;
  bool tls = false;
  std::vector<Address> hosts;  // one, or sentinels, or nodes; at least one
  std::string user;            // empty: the default user
  std::string password;        // empty: none
  std::string service;         // of kSentinel: the primary's name there
  int database = 0;

  friend bool operator==(const StoreUrl&, const StoreUrl&) = default;
};

/// The error names the part that is wrong and its value, but never a password.
Result<StoreUrl> parse_store_url(std::string_view text);

/// For people and logs: the password is `***`. Without one, parse_store_url reads it back as the same.
std::string format_store_url(const StoreUrl& url);

}  // namespace ratel
