#include "redis/store_facts.h"

#include <algorithm>
#include <charconv>

namespace ratel {
namespace {

template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Of two statuses that are told apart the bad one counts.
void note_status(std::string_view status, StoreFacts& facts) {
  facts.last_save_failed = facts.last_save_failed.value_or(false) || status != "ok";
}

void read_field(std::string_view name, std::string_view value, StoreFacts& facts) {
  using Role = StoreFacts::Role;
  using Mode = StoreFacts::Mode;
  if (name == "redis_version" && facts.product.name == "redis") facts.product.version = value;
  if (name == "valkey_version") facts.product = {.name = "valkey", .version = std::string(value)};
  if (name == "redis_mode" || name == "server_mode") {
    facts.mode = value == "cluster" ? Mode::kCluster : value == "sentinel" ? Mode::kSentinel : Mode::kStandalone;
  }
  if (name == "role") facts.role = value == "master" || value == "primary" ? Role::kPrimary : Role::kReplica;
  if (name == "used_memory") facts.used_memory = number_in<std::uint64_t>(value);
  if (name == "maxmemory") facts.maxmemory = number_in<std::uint64_t>(value);
  if (name == "maxmemory_policy") facts.eviction = value;
  if (name == "evicted_keys") facts.evicted_keys = number_in<std::uint64_t>(value);
  if (name == "aof_enabled") facts.append_only = value == "1";
  if (name == "rdb_last_bgsave_status" || name == "aof_last_write_status") note_status(value, facts);
  if (name == "connected_slaves") facts.replicas = number_in<std::uint64_t>(value);
  if (name == "min_slaves_good_slaves") facts.replicas_in_step = number_in<std::uint64_t>(value);
}

}  // namespace

ServerVersion parse_server_version(std::string_view text) {
  ServerVersion version;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int* part : {&version.major, &version.minor, &version.patch}) {
    const auto [rest, error] = std::from_chars(at, end, *part);
    if (error != std::errc{} || *part < 0) {
      *part = 0;
      break;
    }
    if (rest == end || *rest != '.') break;
    at = rest + 1;
  }
  return version;
}

bool ServerProduct::is_too_old() const {
  if (version.empty()) return false;
  return parse_server_version(version) < (name == "valkey" ? ServerVersion{7, 2, 0} : ServerVersion{7, 0, 0});
}

std::string ServerProduct::text() const {
  return (name == "valkey" ? "Valkey " : "Redis ") + (version.empty() ? std::string("of unknown version") : version);
}

void read_info(std::string_view text, StoreFacts& facts) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || line.starts_with('#')) continue;
    read_field(line.substr(0, colon), line.substr(colon + 1), facts);
  }
}

void read_config(RespReply reply, StoreFacts& facts) {
  if (const auto save = reply.find("save"); save && save->kind() == RespReply::Kind::kText) {
    facts.save_points = std::string(save->text());
  }
  if (const auto min = reply.find("min-replicas-to-write")) {
    facts.min_replicas_to_write = number_in<std::uint64_t>(min->text());
  }
}

}  // namespace ratel
