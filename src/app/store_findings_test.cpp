#include "app/store_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace ratel {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Level = Finding::Level;
using Topology = StoreUrl::Topology;

/// A server that nothing can be said against.
ServerSurvey healthy() {
  ServerSurvey survey{.address = {.host = "h", .port = 1, .path = {}}};
  survey.facts = {.product = {.name = "redis", .version = "7.0.15"},
                  .role = StoreFacts::Role::kPrimary,
                  .mode = StoreFacts::Mode::kStandalone,
                  .used_memory = 10,
                  .maxmemory = 100,
                  .eviction = "noeviction",
                  .evicted_keys = 0,
                  .append_only = true,
                  .last_save_failed = false,
                  .save_points = "",
                  .replicas = 1,
                  .replicas_in_step = 1,
                  .min_replicas_to_write = 1};
  survey.clock = {.ahead_us = -100, .error_us = 50};
  survey.keys = KeySearch{.ours = 5};
  return survey;
}

std::string text_of(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    constexpr const char* kWords[] = {"OK ", "WARN ", "FAIL "};
    text += kWords[static_cast<int>(finding.level)];
    text.append(finding.check).append(": ").append(finding.value).append(" => ").append(finding.remedy).append("\n");
  }
  return text;
}

TEST(StoreFindings, OfAHealthyServerAllIsGood) {
  for (const Finding& finding : judge_server(healthy(), {.hosts = {}}, "ratel")) {
    EXPECT_EQ(finding.level, Level::kOk) << text_of({finding});
    EXPECT_THAT(finding.remedy, IsEmpty()) << text_of({finding});
    EXPECT_FALSE(finding.value.empty());
  }
}

/// One fact is changed, and one finding with it.
TEST(StoreFindings, EachFactIsJudgedForItself) {
  struct Case {
    const char* name;
    void (*change)(ServerSurvey& survey);
    Topology topology;
    std::string line;  // begins so
    std::string remedy;
  };
  const Case cases[] = {
      {"too old", [](ServerSurvey& s) { s.facts.product.version = "6.2.14"; }, Topology::kStandalone,
       "FAIL version: Redis 6.2.14 is too old", "Redis 7.0"},
      {"Valkey too old",
       [](ServerSurvey& s) {
         s.facts.product = {"valkey", "7.1.0"};
       },
       Topology::kStandalone, "FAIL version: Valkey 7.1.0", "Valkey 7.2"},
      {"no version", [](ServerSurvey& s) { s.facts.product.version.clear(); }, Topology::kStandalone,
       "WARN version: not told", ""},
      {"replica", [](ServerSurvey& s) { s.facts.role = StoreFacts::Role::kReplica; }, Topology::kStandalone,
       "FAIL role: it is a replica", "name the primary"},
      {"replica by sentinel", [](ServerSurvey& s) { s.facts.role = StoreFacts::Role::kReplica; }, Topology::kSentinel,
       "FAIL role: it is a replica", "failover"},
      {"cluster", [](ServerSurvey& s) { s.facts.mode = StoreFacts::Mode::kCluster; }, Topology::kStandalone,
       "FAIL topology: it is a node of a cluster", "redis-cluster://"},
      {"no cluster", [](ServerSurvey&) {}, Topology::kCluster, "FAIL topology: a single server", "redis://"},
      {"sentinel", [](ServerSurvey& s) { s.facts.mode = StoreFacts::Mode::kSentinel; }, Topology::kStandalone,
       "FAIL topology: it is a sentinel", "redis-sentinel://"},
      {"no bound", [](ServerSurvey& s) { s.facts.maxmemory = 0; }, Topology::kStandalone,
       "WARN memory: maxmemory is not set", "set maxmemory"},
      {"nearly full", [](ServerSurvey& s) { s.facts.used_memory = 90; }, Topology::kStandalone,
       "WARN memory:", "raise maxmemory"},
      {"not told", [](ServerSurvey& s) { s.facts.maxmemory.reset(); }, Topology::kStandalone, "WARN memory: not told",
       ""},
      {"any key", [](ServerSurvey& s) { s.facts.eviction = "allkeys-lfu"; }, Topology::kStandalone,
       "WARN eviction: allkeys-lfu may evict any key", "noeviction"},
      {"keys with TTL", [](ServerSurvey& s) { s.facts.eviction = "volatile-ttl"; }, Topology::kStandalone,
       "WARN eviction: volatile-ttl may evict what has a TTL", "noeviction"},
      {"evicted", [](ServerSurvey& s) { s.facts.evicted_keys = 7; }, Topology::kStandalone, "WARN evicted: 7 keys",
       "begun anew"},
      {"nothing kept", [](ServerSurvey& s) { s.facts.append_only = false; }, Topology::kStandalone,
       "WARN persistence: none", "appendonly yes"},
      {"snapshots unknown",
       [](ServerSurvey& s) {
         s.facts.append_only = false;
         s.facts.save_points.reset();
       },
       Topology::kStandalone, "WARN persistence: no append-only file; snapshots are not known", "config"},
      {"save failed", [](ServerSurvey& s) { s.facts.last_save_failed = true; }, Topology::kStandalone,
       "FAIL persistence: the last attempt", "disk"},
      {"replicas not waited for", [](ServerSurvey& s) { s.facts.min_replicas_to_write = 0; }, Topology::kStandalone,
       "WARN replicas: 1; min-replicas-to-write 0", "min-replicas-to-write 1"},
      {"replicas behind", [](ServerSurvey& s) { s.facts.replicas_in_step = 0; }, Topology::kStandalone,
       "FAIL replicas: 1; min-replicas-to-write 1, and only 0 in step", "NOREPLICAS"},
      {"none to take over",
       [](ServerSurvey& s) {
         s.facts.replicas = 0;
         s.facts.replicas_in_step.reset();
         s.facts.min_replicas_to_write = 0;
       },
       Topology::kSentinel, "WARN replicas: 0", "add a replica"},
      {"clock ahead", [](ServerSurvey& s) { s.clock = {.ahead_us = 1'100'001, .error_us = 100'000}; },
       Topology::kStandalone, "WARN clock: 1100.00 ms ahead of ours", "time server"},
      {"clock behind", [](ServerSurvey& s) { s.clock = {.ahead_us = -2'000'000, .error_us = 10}; },
       Topology::kStandalone, "WARN clock: 2000.00 ms behind ours", "time server"},
      {"no clock", [](ServerSurvey& s) { s.clock.reset(); }, Topology::kStandalone, "WARN clock: not told", ""},
      {"no right",
       [](ServerSurvey& s) {
         s.lacked_rights = {"zadd", "keys"};
       },
       Topology::kStandalone, "FAIL rights: lacks zadd, keys", "ACL SETUSER default +zadd ~ratel:*"},
      {"immortal", [](ServerSurvey& s) { s.keys = {.ours = 5, .immortal = 2, .example = "ratel:1:{\n}"}; },
       Topology::kStandalone, "WARN keys: 2 of 5 of ours have no TTL, as `ratel:1:{\\x0a}`", "delete"},
      {"no INFO", [](ServerSurvey& s) { s.info_error = "NOPERM x"; }, Topology::kStandalone, "WARN info:", "+info"},
      {"no CONFIG", [](ServerSurvey& s) { s.config_error = "NOPERM x"; }, Topology::kStandalone,
       "WARN config:", "+config|get"},
      {"no SCAN", [](ServerSurvey& s) { s.keys->error = "NOPERM x"; }, Topology::kStandalone,
       "WARN keys: not searched: NOPERM x", "+scan"},
      {"not reached", [](ServerSurvey& s) { s.error = "WRONGPASS x"; }, Topology::kStandalone,
       "FAIL connection: WRONGPASS x", "--store-password-file"},
  };
  for (const Case& c : cases) {
    ServerSurvey survey = healthy();
    c.change(survey);
    std::vector<Finding> findings = judge_server(survey, {.topology = c.topology, .hosts = {}}, "ratel");
    std::erase_if(findings, [](const Finding& finding) { return finding.level == Level::kOk; });
    if (c.topology != Topology::kStandalone && findings.size() > 1) {  // the healthy one is no node of a cluster
      std::erase_if(findings, [](const Finding& finding) { return finding.check == "topology"; });
    }
    EXPECT_EQ(findings.size(), 1U) << c.name << "\n" << text_of(findings);
    EXPECT_EQ(text_of(findings).substr(0, c.line.size()), c.line) << c.name;
    EXPECT_THAT(text_of(findings), HasSubstr(c.remedy)) << c.name;
  }
}

TEST(StoreFindings, OfAClockOnlyWhatIsSureCounts) {
  ServerSurvey survey = healthy();
  survey.clock = {.ahead_us = 1'100'000, .error_us = 100'000};
  EXPECT_THAT(text_of(judge_server(survey, {.hosts = {}}, "ratel")), HasSubstr("OK clock"));
}

TEST(StoreFindings, LatencyIsJudgedByTheUsualDeadline) {
  struct Case {
    std::vector<Micros> took_us;
    const char* line;
  };
  std::vector<Micros> rising;
  for (Micros i = 100; i >= 1; --i) rising.push_back(i * 100);
  const Case cases[] = {
      {{200}, "OK latency: min 0.20 ms, p50 0.20 ms, p99 0.20 ms of 1 decisions"},
      {rising, "OK latency: min 0.10 ms, p50 5.00 ms, p99 9.90 ms of 100 decisions"},
      {{100, 100, 25'000, 26'000}, "WARN latency: min 0.10 ms"},
      {{49'999, 49'999}, "WARN latency:"},
      {{100, 50'000, 50'000}, "FAIL latency:"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(text_of(judge_decisions({.error = {}, .took_us = c.took_us}, Topology::kStandalone)),
                HasSubstr(c.line));
  }
  EXPECT_EQ(text_of(judge_decisions({.error = "OOM x", .took_us = {}}, Topology::kStandalone)).substr(0, 19),
            "FAIL script: OOM x ");
}

TEST(StoreFindings, SentinelsAndSlotsAreJudgedTogether) {
  const Address a{.host = "a", .port = 1, .path = {}};
  const Address b{.host = "b", .port = 2, .path = {}};
  struct Case {
    const char* name;
    StoreServers servers;
    Topology topology;
    std::string says;
  };
  const Case cases[] = {
      {"one server", {.primaries = {a}}, Topology::kStandalone, ""},
      {"agree",
       {.primaries = {a}, .sentinels = {{a, a, {}}, {b, a, {}}}},
       Topology::kSentinel,
       "OK sentinels: 2 of 2 name a:1"},
      {"one", {.primaries = {a}, .sentinels = {{a, a, {}}}}, Topology::kSentinel, "WARN sentinels: 1 of 1 name a:1"},
      {"disagree",
       {.primaries = {a}, .sentinels = {{a, a, {}}, {b, b, {}}}},
       Topology::kSentinel,
       "WARN sentinels: 1 of 2 name a:1; b:2: names b:2"},
      {"silent",
       {.primaries = {a}, .sentinels = {{a, a, {}}, {b, {}, "refused"}}},
       Topology::kSentinel,
       "WARN sentinels: 1 of 2 name a:1; b:2: refused"},
      {"none", {.error = "it knows no primary `x`"}, Topology::kSentinel, "FAIL sentinels: it knows no primary"},
      {"whole",
       {.primaries = {a, b}, .slots = {{0, 8000, a}, {8001, 16383, b}}},
       Topology::kCluster,
       "OK cluster: 16384 of 16384 slots on 2 primaries"},
      {"a gap",
       {.primaries = {a, b}, .slots = {{0, 8000, a}, {8002, 16383, b}}},
       Topology::kCluster,
       "FAIL cluster: 16383 of 16384"},
      {"no cluster",
       {.error = "ERR This instance has cluster support disabled"},
       Topology::kCluster,
       "FAIL cluster: ERR This"},
  };
  for (const Case& c : cases) {
    const std::string text = text_of(judge_servers(c.servers, {.topology = c.topology, .hosts = {}}));
    EXPECT_EQ(text.substr(0, c.says.size()), c.says) << c.name;
    EXPECT_EQ(text.empty(), c.says.empty()) << c.name;
  }
}

}  // namespace
}  // namespace ratel
