#include "rules/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "limit/decide.h"
#include "rules/load_rules.h"

namespace ratel {
namespace {

Rule rule_of(std::string_view fields) {
  const RuleFile file{.name = "r.yaml", .text = "rules: { r: { " + std::string(fields) + " } }"};
  Result<std::vector<Rule>> rules = load_rules(std::span(&file, 1));
  EXPECT_TRUE(rules.ok()) << rules.error().message;
  return std::move(rules->at(0));
}

TEST(Explain, WorstMinuteIsTheAlgorithmsBound) {
  struct Case {
    std::string_view fields;
    std::optional<std::int64_t> worst;
  };
  const Case cases[] = {
      {"limit: 5/min", 10},
      {"limit: 5/min burst 1", 6},
      {"limit: 100/s burst 200", 6200},
      {"limit: 7 per 3s", 7 + 140},
      {"limit: 10000/day", 10000 + 6},
      {"limit: 4294967295/s", 4294967295 * 61},
      {"limit: 4294967295 per 1us", 4294967295 * 60'000'001},
      {"limit: 5/min, algorithm: fixed_window", 10},
      {"limit: 5/s, algorithm: fixed_window", 5 * 61},
      {"limit: 5/h, algorithm: fixed_window", 9},
      {"limit: 5 per 7s, algorithm: fixed_window", 49},
      {"limit: { limit: 5/min, calendar: true }", 10},
      {"limit: { limit: 5/month, calendar: true }", 10},
      {"limit: 100/min, algorithm: sliding_window", 199},
      {"limit: 100 per 2min, algorithm: sliding_window", 149},
      {"limit: 100/h, algorithm: sliding_window", 101},
      {"limit: 5/min, algorithm: sliding_log", 5},
      {"limit: 5/h, algorithm: sliding_log", 5},
      {"limit: 5 per 7s, algorithm: sliding_log", 45},
      {"limit: 0/min", 0},
      {"limit: unlimited", std::nullopt},
      {"limit: 20 concurrent", std::nullopt},
  };
  for (const Case& c : cases) EXPECT_EQ(worst_minute(rule_of(c.fields).limits.at(0).limit), c.worst) << c.fields;
}

/// The most that a greedy client gets out of a minute: it spends one unit at the start of a window (if `early`), waits
/// for `offset_us`, and from then on takes whatever it is given as soon as it is given it.
std::int64_t greedy_minute(const BoundLimit& bound, bool early, Micros offset_us) {
  Cell cell;
  std::unique_ptr<Record> record;
  const Slot slot{.cell = &cell, .record = &record};
  const auto take = [&](std::int64_t cost, Micros now_us) {
    Charge charge{.limit = &bound, .key = "key"};
    const Question question{.verb = Verb::kAtMost, .charges = {&charge, 1}, .cost = cost};
    return decide(question, {&slot, 1}, {.now_us = now_us, .calendar_us = now_us}).decision;
  };
  constexpr Micros kMidnight_us = 20'454 * kDay_us;
  if (early) take(1, kMidnight_us);
  const Micros start_us = kMidnight_us + offset_us;
  // What the log forgets at the minute's end belongs to the next one.
  const Micros end_us = start_us + kMinute_us - (bound.limit.algorithm == Algorithm::kSlidingLog ? 1 : 0);
  std::int64_t taken = 0;
  for (Micros now_us = start_us; now_us <= end_us;) {
    taken += take(bound.limit.capacity, now_us).granted;
    now_us += take(1, now_us).retry_after.count();
  }
  return taken;
}

TEST(Explain, WorstMinuteIsReachedAndNotExceeded) {
  struct Case {
    std::string_view fields;
    Micros period_us;
  };
  const Case cases[] = {
      {"limit: 5/min", kMinute_us},
      {"limit: 7 per 3s burst 4", 3 * kSecond_us},
      {"limit: 3 per 7min burst 2", 7 * kMinute_us},
      {"limit: 5/min, algorithm: fixed_window", kMinute_us},
      {"limit: 5/h, algorithm: fixed_window", kHour_us},
      {"limit: 5 per 7s, algorithm: fixed_window", 7 * kSecond_us},
      {"limit: 5 per 20s, algorithm: fixed_window", 20 * kSecond_us},
      {"limit: { limit: 5/min, calendar: true }", kMinute_us},
      {"limit: { limit: 5/day, calendar: true }", kDay_us},
      {"limit: 5/min, algorithm: sliding_window", kMinute_us},
      {"limit: 9 per 2min, algorithm: sliding_window", 2 * kMinute_us},
      {"limit: 5/min, algorithm: sliding_log", kMinute_us},
      {"limit: 5 per 7s, algorithm: sliding_log", 7 * kSecond_us},
      {"limit: 5/h, algorithm: sliding_log", kHour_us},
  };
  for (const Case& c : cases) {
    const Rule rule = rule_of(c.fields);
    std::int64_t most = 0;
    for (const bool early : {false, true}) {
      for (const Micros offset_us : {Micros{0}, Micros{1}, c.period_us / 2, c.period_us - 1, c.period_us}) {
        most = std::max(most, greedy_minute(rule.limits.at(0), early, offset_us));
      }
    }
    EXPECT_EQ(most, worst_minute(rule.limits.at(0).limit)) << c.fields;
  }
}

TEST(Explain, SaysItInPlainWords) {
  struct Case {
    std::string_view fields;
    std::string_view words;
  };
  const Case cases[] = {
      {"limit: 5/min",
       "r\n"
       "  5 per minute (gcra)\n"
       "    at once         5\n"
       "    sustained       5 per minute, one every 12s\n"
       "    worst minute    at most 10\n"
       "    after a denial  admitted within 12s\n"},
      {"limit: [100/s burst 200, 10000/day], key: ip, ipv6_prefix: 56",
       "r, by address (IPv6: by /56)\n"
       "  r#1: 100 per second burst 200 (gcra)\n"
       "    at once         200\n"
       "    sustained       100 per second, one every 10ms\n"
       "    worst minute    at most 6200\n"
       "    after a denial  admitted within 10ms\n"
       "  r#2: 10000 per 24 hours (gcra)\n"
       "    at once         10000\n"
       "    sustained       10000 per 24 hours, one every 8.64s\n"
       "    worst minute    at most 10006\n"
       "    after a denial  admitted within 8.64s\n"
       "  together (all must agree, or none is charged)\n"
       "    at once         200\n"
       "    worst minute    at most 6200\n"},
      {"limit: 20 concurrent, lease: 90s",
       "r\n"
       "  20 concurrent\n"
       "    at once         20 at the same time\n"
       "    sustained       as many as finish: what counts is how many are under way\n"
       "    worst minute    no bound\n"
       "    after a denial  admitted when a holder releases, or when the lease of one that died runs out (1.5m)\n"},
      {"limit: { limit: 1000000/month, calendar: true, zone: Europe/Berlin, name: monthly }, shadow: true",
       "r, shadow: it counts and denies nobody; this is what it would do\n"
       "  r#monthly: 1000000 per month (calendar fixed_window)\n"
       "    at once         1000000\n"
       "    sustained       1000000 per month\n"
       "    worst minute    at most 2000000\n"
       "    after a denial  admitted when the next month begins (Europe/Berlin)\n"},
      {"limit: { limit: 10/min, calendar: true }",
       "r\n"
       "  10 per minute (calendar fixed_window)\n"
       "    at once         10\n"
       "    sustained       10 per minute\n"
       "    worst minute    at most 20\n"
       "    after a denial  admitted when the next minute begins\n"},
      {"limit: 7 per 3s, algorithm: fixed_window",
       "r\n"
       "  7 per 3s (fixed_window)\n"
       "    at once         7\n"
       "    sustained       7 per 3s\n"
       "    worst minute    at most 147\n"
       "    after a denial  admitted when the window ends, 3s after its first hit\n"},
      {"limit: 7/h, algorithm: sliding_window",
       "r\n"
       "  7 per hour (sliding_window)\n"
       "    at once         7\n"
       "    sustained       7 per hour\n"
       "    worst minute    at most 7\n"
       "    after a denial  admitted within 1.15h\n"},
      {"limit: 7/s, algorithm: sliding_log",
       "r\n"
       "  7 per second (sliding_log)\n"
       "    at once         7\n"
       "    sustained       7 per second\n"
       "    worst minute    at most 420\n"
       "    after a denial  admitted within 1s\n"},
      {"limit: 3/month, max_wait: 36h",
       "r\n"
       "  3 per 30 days (gcra)\n"
       "    at once         3\n"
       "    sustained       3 per 30 days, one every 10d\n"
       "    worst minute    at most 3\n"
       "    after a denial  admitted within 10d\n"
       "  RESERVE books up to 1.5d ahead\n"},
      {"limit: 4000000000/s",
       "r\n"
       "  4000000000 per second (gcra)\n"
       "    at once         4000000000\n"
       "    sustained       4000000000 per second\n"
       "    worst minute    at most 244000000000\n"
       "    after a denial  admitted within 1us\n"},
      {"limit: [0/min, unlimited]",
       "r\n"
       "  r#1: 0 per minute (gcra)\n"
       "    at once         nothing\n"
       "    sustained       nothing\n"
       "    worst minute    0\n"
       "    after a denial  never admitted: 0 denies all\n"
       "  r#2: unlimited\n"
       "    at once         everything\n"
       "    sustained       everything\n"
       "    worst minute    no bound\n"
       "    after a denial  nobody is denied, and nothing is counted\n"
       "  together (all must agree, or none is charged)\n"
       "    at once         0\n"
       "    worst minute    at most 0\n"},
  };
  for (const Case& c : cases) EXPECT_EQ(explain(rule_of(c.fields)), c.words) << c.fields;
}

}  // namespace
}  // namespace ratel
