#include "observe/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace ratel {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Metrics, CountsDegradedDecisionsByRuleAndReason) {
  Metrics metrics;
  LoopMetrics& loop = metrics.add_loop();
  loop.degraded(metrics.series("login"), StoreFault::kTimeout);
  loop.degraded(kThrottleSeries, StoreFault::kBadState);
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr(R"_(ratel_degraded_decisions_total{rule="(cl.throttle)",reason="bad_state"} 1)_"));
  EXPECT_THAT(text, HasSubstr(R"_(ratel_degraded_decisions_total{rule="login",reason="timeout"} 1)_"));
}

TEST(Metrics, WhereAStoreCanFailTheRowsOfThatAreThereFromTheStart) {
  for (const bool can_fail : {false, true}) {
    Metrics metrics(can_fail);
    metrics.add_loop();
    metrics.series("login");
    const std::string text = metrics.text();
    for (const char* rule : {"login", "(cl.throttle)", "(in question)", "(other rules)"}) {
      for (const char* reason : {"unreachable", "refused", "timeout", "lost", "bad_state", "crowded"}) {
        const std::string row =
            "ratel_degraded_decisions_total{rule=\"" + std::string(rule) + "\",reason=\"" + reason + "\"} 0\n";
        EXPECT_EQ(text.find(row) != std::string::npos, can_fail) << row;
      }
    }
    EXPECT_THAT(text, Not(HasSubstr("\"none\"")));
  }
}

TEST(Metrics, CountsDecisionsByRuleAnswerAndSource) {
  Metrics metrics;
  LoopMetrics& one = metrics.add_loop();
  LoopMetrics& two = metrics.add_loop();
  const std::uint32_t login = metrics.series("login");
  struct Case {
    std::uint32_t series;
    bool allowed, would_deny;
    Source source;
    const char* line;
  };
  const Case cases[] = {
      {login, true, false, Source::kExact, R"_({rule="login",answer="allowed",source="exact"} 2)_"},
      {login, false, false, Source::kExact, R"_({rule="login",answer="denied",source="exact"} 2)_"},
      {login, true, true, Source::kExact, R"_({rule="login",answer="would_deny",source="exact"} 2)_"},
      {login, true, false, Source::kFailedOpen, R"_({rule="login",answer="allowed",source="failed_open"} 2)_"},
      {kThrottleSeries, true, false, Source::kExact, R"_({rule="(cl.throttle)",answer="allowed",source="exact"} 2)_"},
      {kAdhocSeries, false, false, Source::kExact, R"_({rule="(in question)",answer="denied",source="exact"} 2)_"},
      {kOtherSeries, false, false, Source::kLocal, R"_({rule="(other rules)",answer="denied",source="local"} 2)_"},
  };
  for (const Case& c : cases) {
    one.decided(c.series, c.allowed, c.would_deny, c.source);
    two.decided(c.series, c.allowed, c.would_deny, c.source);
  }
  const std::string text = metrics.text();
  for (const Case& c : cases) EXPECT_THAT(text, HasSubstr(std::string("ratel_decisions_total") + c.line + "\n"));
  EXPECT_THAT(text, Not(HasSubstr("prepaid")));
}

TEST(Metrics, ARowBelongsToTheNameForEver) {
  Metrics metrics;
  const std::uint32_t login = metrics.series("login");
  const std::uint32_t api = metrics.series("api");
  EXPECT_NE(login, api);
  EXPECT_EQ(metrics.series("login"), login);
  EXPECT_GT(login, kOtherSeries);
}

TEST(Metrics, RulesAboveTheBoundShareARow) {
  Metrics metrics;
  std::uint32_t last = 0;
  for (std::uint32_t i = kOtherSeries + 1; i < kSeriesMax; ++i) last = metrics.series("rule" + std::to_string(i));
  EXPECT_EQ(last, kSeriesMax - 1);
  EXPECT_EQ(metrics.series("one more"), kOtherSeries);
  EXPECT_EQ(metrics.series("another"), kOtherSeries);
  EXPECT_EQ(metrics.series("rule3"), 3U);
}

TEST(Metrics, TheHistogramCountsEachQuestionFromItsTurnToThatOfItsAnswer) {
  Metrics metrics;
  LoopMetrics& loop = metrics.add_loop();
  loop.sent(1);  // a turn without a question
  for (int i = 0; i < 3; ++i) loop.answered(10);
  loop.sent(11);
  // Those that waited for a store, beside one that did not.
  loop.answered(11);
  loop.answered(100);
  loop.answered(11);
  loop.sent(102);
  loop.answered(100);
  loop.sent(100 + 2 * kSecond_us);
  const std::string text = metrics.text();
  for (const char* line : {"_bucket{le=\"1e-06\"} 3\n", "_bucket{le=\"2e-06\"} 4\n", "_bucket{le=\"5e-05\"} 4\n",
                           "_bucket{le=\"0.0001\"} 6\n", "_bucket{le=\"1\"} 6\n", "_bucket{le=\"+Inf\"} 7\n",
                           "_sum 2.000187\n", "_count 7\n"}) {
    EXPECT_THAT(text, HasSubstr(std::string("ratel_answer_duration_seconds") + line));
  }
}

TEST(Metrics, TheHistogramTellsABoundedNumberOfTurnsApart) {
  Metrics metrics;
  LoopMetrics& loop = metrics.add_loop();
  for (std::size_t turn = 0; turn < LoopMetrics::kTurnsMax + 5; ++turn) loop.answered(static_cast<Micros>(turn));
  loop.sent(1'000);
  const std::uint64_t turns = LoopMetrics::kTurnsMax;
  Durations durations;
  loop.durations().add_to(durations);
  EXPECT_EQ(durations.sum_us, turns * 1'000 - turns * (turns - 1) / 2 + 5 * (1'000 - (turns - 1)));
}

TEST(Metrics, CountsRejectedInputs) {
  Metrics metrics;
  LoopMetrics& loop = metrics.add_loop();
  const char* names[] = {"protocol",     "unknown_command",  "bad_argument", "unknown_rule",
                         "unauthorized", "forbidden_origin", "too_large"};
  for (std::size_t i = 0; i < kRejectedCount; ++i) {
    for (std::size_t n = 0; n <= i; ++n) loop.rejected(static_cast<Rejected>(i));
  }
  const std::string text = metrics.text();
  for (std::size_t i = 0; i < kRejectedCount; ++i) {
    EXPECT_THAT(text, HasSubstr("ratel_rejected_inputs_total{reason=\"" + std::string(names[i]) + "\"} " +
                                std::to_string(i + 1) + "\n"));
  }
}

TEST(Metrics, IsWhollyTheExpositionFormat) {
  Metrics metrics;
  metrics.add_loop();
  metrics.series("a\\\"b");
  const auto gauge = [](const char* name, const char* label, double value) {
    return Sample{.name = name, .help = "Help.", .labels = {{"l", label}}, .value = value};
  };
  metrics.collect([&](std::vector<Sample>& samples) {
    samples = {gauge("ratel_b", "1", 0.25), gauge("ratel_a", "1", 1e15), gauge("ratel_b", "2", 0)};
  });
  std::string text = metrics.text();
  for (const char* line : {"ratel_decisions_total{rule=\"a\\\\\\\"b\",answer=\"denied\",source=\"exact\"} 0\n",
                           "ratel_b{l=\"1\"} 0.25\nratel_b{l=\"2\"} 0\n", "ratel_a{l=\"1\"} 1000000000000000\n",
                           "ratel_answer_duration_seconds_sum 0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  // Each family has one head, and nothing stands before it or after another's.
  std::vector<std::string> families;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("# HELP ")) continue;
    const std::string name = line.substr(7, line.find(' ', 7) - 7);
    families.push_back(name);
    ASSERT_TRUE(std::getline(lines, line) && line.starts_with("# TYPE " + name + " "));
  }
  EXPECT_THAT(families, testing::ElementsAre("ratel_decisions_total", "ratel_degraded_decisions_total",
                                             "ratel_answer_duration_seconds", "ratel_rejected_inputs_total", "ratel_a",
                                             "ratel_b"));
}

TEST(Metrics, CollectorsReportHistograms) {
  Metrics metrics;
  Durations durations;
  for (const Micros took_us : {1, 2, 3, 2'000'000}) durations.add(took_us);
  metrics.collect([&](std::vector<Sample>& samples) {
    samples.push_back({.name = "ratel_h", .help = "Help.", .kind = Sample::Kind::kHistogram, .durations = durations});
  });
  const std::string text = metrics.text();
  for (const char* line : {"# TYPE ratel_h histogram\nratel_h_bucket{le=\"1e-06\"} 1\n", "ratel_h_bucket{le=\"1\"} 3\n",
                           "ratel_h_bucket{le=\"+Inf\"} 4\nratel_h_sum 2.000006\nratel_h_count 4\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(Metrics, CollectorsReportAtEachScrape) {
  Metrics metrics;
  double entries = 1;
  metrics.collect([&](std::vector<Sample>& samples) {
    samples.push_back({.name = "ratel_table_entries", .help = "Keys.", .kind = Sample::Kind::kGauge, .value = entries});
  });
  for (const char* listener : {"resp", "ht\"tp\n"}) {
    metrics.collect([=](std::vector<Sample>& samples) {
      samples.push_back({.name = "ratel_connections_total",
                         .help = "Accepted.",
                         .kind = Sample::Kind::kCounter,
                         .labels = {{"listener", listener}},
                         .value = 7});
    });
  }
  std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("# HELP ratel_table_entries Keys.\n# TYPE ratel_table_entries gauge\n"
                              "ratel_table_entries 1\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE ratel_connections_total counter\nratel_connections_total{listener=\"resp\"} 7\n"
                              "ratel_connections_total{listener=\"ht\\\"tp\\n\"} 7\n"));
  entries = 2;
  EXPECT_THAT(metrics.text(), HasSubstr("\nratel_table_entries 2\n"));
}

}  // namespace
}  // namespace ratel
