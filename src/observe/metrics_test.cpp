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

TEST(Metrics, TheHistogramCountsEachQuestionOfATurn) {
  Metrics metrics;
  LoopMetrics& loop = metrics.add_loop();
  loop.answered(1);  // a turn without a question
  for (int i = 0; i < 3; ++i) loop.decided(kThrottleSeries, true, false, Source::kExact);
  loop.answered(1);
  loop.decided(kThrottleSeries, true, false, Source::kExact);
  loop.answered(2);
  loop.decided(kThrottleSeries, true, false, Source::kExact);
  loop.answered(2 * kSecond_us);
  const std::string text = metrics.text();
  for (const char* line : {"_bucket{le=\"1e-06\"} 3\n", "_bucket{le=\"2e-06\"} 4\n", "_bucket{le=\"1e-05\"} 4\n",
                           "_bucket{le=\"1\"} 4\n", "_bucket{le=\"+Inf\"} 5\n", "_count 5\n"}) {
    EXPECT_THAT(text, HasSubstr(std::string("ratel_answer_duration_seconds") + line));
  }
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
