#include "app/store_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "redis/rights.h"
#include "redis/store_advice.h"
#include "rules/errors.h"

namespace ratel {
namespace {

using Level = Finding::Level;
using Topology = StoreUrl::Topology;

/// A clock that is further off misleads whoever compares logs. Decisions use the store's clock alone.
constexpr Micros kClockAhead_us = kSecond_us;
/// With less room than this, the bound is near.
constexpr double kMemoryUsedMost = 0.9;
/// Of the deadline that a rule has unless it says another one.
constexpr Micros kDeadline_us = 50 * kMillisecond_us;

Finding ok(std::string_view check, std::string value) {
  return {.level = Level::kOk, .check = check, .value = std::move(value), .remedy = {}};
}

Finding warn(std::string_view check, std::string value, std::string remedy) {
  return {.level = Level::kWarn, .check = check, .value = std::move(value), .remedy = std::move(remedy)};
}

Finding failed(std::string_view check, std::string value, std::string remedy) {
  return {.level = Level::kFail, .check = check, .value = std::move(value), .remedy = std::move(remedy)};
}

Finding failed(std::string_view check, const std::string& error, Topology topology) {
  return failed(check, error, std::string(store_advice(error, topology)));
}

Finding untold(std::string_view check) {
  return warn(check, "not told by this server", "find out by its own means");
}

std::string mib(std::uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string ms(Micros us) {
  return fmt::format("{:.2f} ms", static_cast<double>(us) / 1'000);
}

Finding version(const StoreFacts& facts) {
  if (facts.product.version.empty()) return untold("version");
  if (facts.product.is_too_old()) {
    return failed("version", facts.product.text() + " is too old", "run Redis 7.0 or Valkey 7.2, or later");
  }
  return ok("version", facts.product.text());
}

Finding role(const StoreFacts& facts, Topology topology) {
  switch (facts.role) {
    case StoreFacts::Role::kPrimary:
      return ok("role", "primary");
    case StoreFacts::Role::kReplica:
      return failed("role", "it is a replica", topology);
    case StoreFacts::Role::kUnknown:
      break;
  }
  return untold("role");
}

Finding mode(const StoreFacts& facts, Topology topology) {
  const bool wants_cluster = topology == Topology::kCluster;
  switch (facts.mode) {
    case StoreFacts::Mode::kCluster:
      return wants_cluster ? ok("topology", "a node of a cluster, as the URL says")
                           : failed("topology", "it is a node of a cluster", topology);
    case StoreFacts::Mode::kStandalone:
      return wants_cluster ? failed("topology", "a single server: cluster support disabled", topology)
                           : ok("topology", "a single server, as the URL says");
    case StoreFacts::Mode::kSentinel:
      return failed("topology", "it is a sentinel", topology);
    case StoreFacts::Mode::kUnknown:
      break;
  }
  return untold("topology");
}

Finding memory(const StoreFacts& facts) {
  if (!facts.maxmemory || !facts.used_memory) return untold("memory");
  const std::string used = mib(*facts.used_memory);
  if (*facts.maxmemory == 0) {
    return warn("memory", fmt::format("maxmemory is not set; {} are used", used),
                "set maxmemory below what the machine has: when memory runs out the kernel ends the server, and all "
                "counts with it");
  }
  const std::string value = fmt::format("{} of {} are used", used, mib(*facts.maxmemory));
  if (static_cast<double>(*facts.used_memory) < kMemoryUsedMost * static_cast<double>(*facts.maxmemory)) {
    return ok("memory", value);
  }
  return warn("memory", value, "raise maxmemory: when it is reached, counters are evicted or questions refused (OOM)");
}

Finding eviction(const StoreFacts& facts) {
  if (facts.eviction.empty()) return untold("eviction");
  if (facts.eviction == "noeviction") return ok("eviction", "noeviction");
  const bool any = facts.eviction.starts_with("allkeys");
  return warn(
      "eviction",
      facts.eviction + (any ? " may evict any key, counters too" : " may evict what has a TTL, as counters have"),
      "set maxmemory-policy noeviction, on a server for ratel alone: a counter that is evicted begins anew, and "
      "its key may pass again");
}

Finding evicted(const StoreFacts& facts) {
  if (!facts.evicted_keys) return untold("evicted");
  if (*facts.evicted_keys == 0) return ok("evicted", "no key since the server started");
  return warn("evicted", fmt::format("{} keys since the server started", *facts.evicted_keys),
              "raise maxmemory and set maxmemory-policy noeviction: counters among them have begun anew");
}

Finding persistence(const StoreFacts& facts) {
  if (facts.last_save_failed.value_or(false)) {
    return failed("persistence", "the last attempt to save failed",
                  "make room on its disk and see its log: unless told otherwise it takes no writes until it can save");
  }
  if (facts.append_only.value_or(false)) return ok("persistence", "append-only file");
  if (!facts.save_points) return warn("persistence", "no append-only file; snapshots are not known", "see `config`");
  if (facts.save_points->empty()) {
    return warn("persistence", "none",
                "set appendonly yes, or accept that a restart of the server forgets all counts, so that every key may "
                "pass a whole limit once more");
  }
  return ok("persistence",
            fmt::format("snapshots (save {}): a restart sets counts back to the last one", *facts.save_points));
}

Finding replicas(const StoreFacts& facts, Topology topology) {
  if (!facts.replicas) return untold("replicas");
  const std::uint64_t wanted = facts.min_replicas_to_write.value_or(0);
  const std::uint64_t in_step = facts.replicas_in_step.value_or(*facts.replicas);
  std::string value = fmt::format("{}; min-replicas-to-write {}", *facts.replicas,
                                  facts.min_replicas_to_write ? std::to_string(wanted) : std::string("is not known"));
  if (wanted > in_step) {
    return failed("replicas", fmt::format("{}, and only {} in step", value, in_step),
                  "bring replicas back, or lower min-replicas-to-write: all writes are refused (NOREPLICAS)");
  }
  if (*facts.replicas == 0) {
    if (topology == Topology::kStandalone) return ok("replicas", std::move(value));
    return warn("replicas", std::move(value), "add a replica: there is none to take over");
  }
  if (facts.min_replicas_to_write && wanted == 0) {
    return warn("replicas", std::move(value),
                "set min-replicas-to-write 1 and min-replicas-max-lag 10: a primary that is cut off from its replicas "
                "goes on counting, beside the one that takes over");
  }
  return ok("replicas", std::move(value));
}

Finding clock(const ServerSurvey& survey) {
  if (!survey.clock) return untold("clock");
  const auto [ahead_us, error_us] = *survey.clock;
  const Micros off_us = std::abs(ahead_us);
  std::string value =
      fmt::format("{} {} ours, give or take {}", ms(off_us), ahead_us < 0 ? "behind" : "ahead of", ms(error_us));
  if (off_us - error_us <= kClockAhead_us) return ok("clock", std::move(value));
  return warn("clock", std::move(value),
              "let both machines follow a time server: decisions use the store's clock alone, but windows of the "
              "calendar begin by it, and after a failover another one counts");
}

Finding keys(const ServerSurvey& survey) {
  const KeySearch& keys = *survey.keys;
  if (!keys.error.empty()) {
    return warn("keys", "not searched: " + keys.error, "grant its user +scan and +pttl, or run doctor as another one");
  }
  const std::string searched =
      keys.all ? std::string() : fmt::format(", of the first {} of all keys", kKeysSearchedMax);
  if (keys.ours == 0) return ok("keys", "none of ours" + searched);
  if (keys.immortal == 0) return ok("keys", fmt::format("{} of ours{}; all have a TTL", keys.ours, searched));
  return warn(
      "keys",
      fmt::format("{} of {} of ours{} have no TTL, as {}", keys.immortal, keys.ours, searched, quote(keys.example)),
      "delete those that are no counters: ratel writes none without TTL, and gives a counter that lost it one "
      "when it is next asked about");
}

Finding sentinel(const StoreServers& servers) {
  std::size_t agree = 0;
  std::string others;
  for (const SentinelAnswer& answer : servers.sentinels) {
    if (answer.primary && *answer.primary == servers.primaries.front()) {
      ++agree;
    } else {
      others += fmt::format("; {}: {}", format_address(answer.sentinel),
                            answer.primary ? "names " + format_address(*answer.primary) : answer.error);
    }
  }
  std::string value =
      fmt::format("{} of {} name {}", agree, servers.sentinels.size(), format_address(servers.primaries.front()));
  if (agree == servers.sentinels.size() && agree > 1) return ok("sentinels", std::move(value));
  if (others.empty()) {
    return warn("sentinels", std::move(value), "name all sentinels in the URL: when this one is lost, none is known");
  }
  return warn("sentinels", value + others, "bring those back that do not answer, and see that all watch one primary");
}

Finding cluster(const StoreServers& servers, Topology topology) {
  SlotMap map;
  for (const SlotRange& range : servers.slots) {
    for (std::size_t slot = range.first; slot <= range.last; ++slot) map.set(static_cast<std::uint16_t>(slot), 0);
  }
  std::string value =
      fmt::format("{} of {} slots on {} primaries", map.covered(), kClusterSlots, servers.primaries.size());
  if (map.covered() == kClusterSlots) return ok("cluster", std::move(value));
  return failed("cluster", std::move(value), std::string(store_advice("CLUSTERDOWN", topology)));
}

}  // namespace

std::string grant(std::span<const std::string> lacked_rights, const std::string& user, std::string_view prefix) {
  return fmt::format("ACL SETUSER {} {}", user.empty() ? "default" : user, acl_rules(lacked_rights, prefix));
}

std::vector<Finding> judge_memory(const StoreFacts& facts) {
  return {memory(facts), eviction(facts)};
}

std::vector<Finding> judge_servers(const StoreServers& servers, const StoreUrl& url) {
  const bool is_cluster = url.topology == Topology::kCluster;
  if (servers.primaries.empty()) return {failed(is_cluster ? "cluster" : "sentinels", servers.error, url.topology)};
  switch (url.topology) {
    case Topology::kStandalone:
      break;
    case Topology::kSentinel:
      return {sentinel(servers)};
    case Topology::kCluster:
      return {cluster(servers, url.topology)};
  }
  return {};
}

std::vector<Finding> judge_server(const ServerSurvey& survey, const StoreUrl& url, std::string_view prefix) {
  if (!survey.error.empty()) return {failed("connection", survey.error, url.topology)};
  const StoreFacts& facts = survey.facts;
  std::vector<Finding> findings;
  findings.push_back(ok("connection", fmt::format("user {}, database {}, {}", url.user.empty() ? "default" : url.user,
                                                  url.database, url.tls ? "with TLS" : "without TLS")));
  if (survey.info_error.empty()) {
    findings.push_back(version(facts));
    findings.push_back(role(facts, url.topology));
    findings.push_back(mode(facts, url.topology));
    findings.push_back(memory(facts));
    findings.push_back(eviction(facts));
    findings.push_back(evicted(facts));
    findings.push_back(persistence(facts));
    findings.push_back(replicas(facts, url.topology));
  } else {
    findings.push_back(warn("info", "version, role, memory, persistence, replicas are not known: " + survey.info_error,
                            "grant its user +info, or run doctor as another one"));
  }
  if (!survey.config_error.empty()) {
    findings.push_back(warn("config", "save points, min-replicas-to-write are not known: " + survey.config_error,
                            "grant its user +config|get, or run doctor as another one"));
  }
  findings.push_back(clock(survey));
  if (survey.lacked_rights.empty()) {
    findings.push_back(ok("rights", "all that decisions need"));
  } else {
    findings.push_back(failed("rights", fmt::format("lacks {}", fmt::join(survey.lacked_rights, ", ")),
                              grant(survey.lacked_rights, url.user, prefix)));
  }
  if (survey.keys) findings.push_back(keys(survey));
  return findings;
}

std::vector<Finding> judge_decisions(const DecisionTrial& trial, Topology topology) {
  if (!trial.error.empty()) return {failed("script", trial.error, topology)};
  std::vector<Micros> took_us = trial.took_us;
  std::sort(took_us.begin(), took_us.end());
  const auto at = [&](std::size_t percent) { return took_us[(took_us.size() - 1) * percent / 100]; };
  std::string value =
      fmt::format("min {}, p50 {}, p99 {} of {} decisions", ms(at(0)), ms(at(50)), ms(at(99)), took_us.size());
  Finding latency = ok("latency", value);
  if (at(50) >= kDeadline_us) {
    latency = failed("latency", value,
                     "bring ratel and the store closer together, or give rules a longer `deadline` than 50ms: half of "
                     "the questions are answered without the store");
  } else if (at(99) >= kDeadline_us / 2) {
    latency = warn("latency", value,
                   "see what slows the store or the way to it: questions that take longer than a rule's `deadline` "
                   "(50ms unless set) are answered without it");
  }
  return {ok("script", "loaded, and decides"), std::move(latency)};
}

}  // namespace ratel
