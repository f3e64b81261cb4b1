#pragma once
// What a server tells of itself in INFO and CONFIG GET. Pure; any thread.
//
// Redis and Valkey of all versions, and what imitates them: a field that is missing or unreadable stays unknown.
// Whether a fact is good or bad is not judged here.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/resp_reply.h"

namespace ratel {

struct ServerVersion {
  int major = 0;
  int minor = 0;
  int patch = 0;

  friend auto operator<=>(const ServerVersion&, const ServerVersion&) = default;
};

/// `7.0.15`, `8.1`, `8.0.0-rc1`; without numbers all is 0.
ServerVersion parse_server_version(std::string_view text);

/// What runs there: `redis`, `valkey`. Anything else counts as the Redis whose version it claims.
struct ServerProduct {
  std::string name = "redis";
  std::string version;  // as it is said; empty: unknown

  /// The oldest that the decision script runs on: Redis 7.0, Valkey 7.2. False where the version is unknown.
  bool is_too_old() const;
  /// `Redis 7.0.15`.
  std::string text() const;
};

struct StoreFacts {
  enum class Role : std::uint8_t { kUnknown, kPrimary, kReplica };
  enum class Mode : std::uint8_t { kUnknown, kStandalone, kCluster, kSentinel };

  ServerProduct product;
  Role role = Role::kUnknown;
  Mode mode = Mode::kUnknown;

  std::optional<std::uint64_t> used_memory;
  std::optional<std::uint64_t> maxmemory;  // 0: none is set
  std::string eviction;                    // maxmemory-policy; empty: unknown
  std::optional<std::uint64_t> evicted_keys;

  std::optional<bool> append_only;
  std::optional<bool> last_save_failed;    // of the snapshot or of the append-only file
  std::optional<std::string> save_points;  // of CONFIG: when snapshots are taken; empty: never

  std::optional<std::uint64_t> replicas;
  std::optional<std::uint64_t> replicas_in_step;       // told only where some are needed
  std::optional<std::uint64_t> min_replicas_to_write;  // of CONFIG
};

/// The text of INFO.
void read_info(std::string_view text, StoreFacts& facts);
/// The reply to CONFIG GET, a map or a list of names and values.
void read_config(RespReply reply, StoreFacts& facts);

}  // namespace ratel
