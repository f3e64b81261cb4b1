// Every store-independent trace of tests/vectors/, field for field.

#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>

#include "limit/decide.h"

namespace ratel {
namespace {

using simdjson::dom::element;

std::int64_t number(element object, std::string_view field, std::int64_t otherwise = 0) {
  std::int64_t value = 0;
  return object[field].get(value) == simdjson::SUCCESS ? value : otherwise;
}

std::string text(element object, std::string_view field) {
  std::string_view value;
  return object[field].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
}

LimitSpec spec_of(std::string_view file, element trace) {
  LimitSpec spec{.count = number(trace, "limit"),
                 .period_us = number(trace, "period_us"),
                 .burst = number(trace, "burst"),
                 .zone = text(trace, "zone")};
  if (file.starts_with("fixed") || file.starts_with("calendar")) spec.algorithm = Algorithm::kFixedWindow;
  if (file.starts_with("sliding_window")) spec.algorithm = Algorithm::kSlidingWindow;
  if (file.starts_with("sliding_log")) spec.algorithm = Algorithm::kSlidingLog;
  if (file.starts_with("concurrency")) spec.algorithm = Algorithm::kConcurrency;
  if (!text(trace, "unit").empty()) {
    const Result<LimitSpec> window = parse_limit("1/" + text(trace, "unit"));
    spec.period_us = window->period_us;
    spec.calendar = calendar_unit(spec.period_us);
  }
  return spec;
}

Verb verb_of(std::string_view name) {
  struct Case {
    std::string_view name;
    Verb verb;
  };
  for (const Case& c :
       {Case{"allow", Verb::kAllow}, Case{"atmost", Verb::kAtMost}, Case{"peek", Verb::kPeek},
        Case{"refund", Verb::kRefund}, Case{"reset", Verb::kReset}, Case{"reserve", Verb::kReserve},
        Case{"acquire", Verb::kAcquire}, Case{"renew", Verb::kRenew}, Case{"release", Verb::kRelease}}) {
    if (c.name == name) return c.verb;
  }
  ADD_FAILURE() << "unknown verb " << name;
  return Verb::kAllow;
}

/// What the step says of the answer, and what the answer says, in the same words.
void compare(element step, const Answer& answer) {
  const auto expect = [&](std::string_view field, std::int64_t actual) {
    std::int64_t wanted = 0;
    bool truth = false;
    if (step[field].get(truth) == simdjson::SUCCESS)
      wanted = truth ? 1 : 0;
    else if (step[field].get(wanted) != simdjson::SUCCESS)
      return;
    EXPECT_EQ(wanted, actual) << field;
  };
  const Decision& decision = answer.decision;
  expect("allowed", decision.allowed ? 1 : 0);
  expect("ok", answer.ok ? 1 : 0);
  expect("granted", decision.granted);
  expect("retry_after", decision.retry_after.count());
  expect("remaining", decision.remaining);
  expect("reset_after", decision.reset_after.count());
  expect("delay", decision.delay.count());
}

class Vectors : public testing::TestWithParam<std::string> {};

TEST_P(Vectors, Agree) {
  simdjson::dom::parser parser;
  simdjson::dom::document_stream traces;
  const std::string path = std::string(RATEL_SOURCE_DIR) + "/tests/vectors/" + GetParam() + ".jsonl";
  ASSERT_EQ(parser.load_many(path, 4 << 20).get(traces), simdjson::SUCCESS) << path;
  int steps = 0;
  for (auto document : traces) {
    const element trace = document.value();
    const Result<Limit> limit = make_limit(spec_of(GetParam(), trace), number(trace, "max_wait_us"));
    ASSERT_TRUE(limit.ok()) << limit.error().message;
    const BoundLimit bound{.limit = *limit, .identity = {}, .label = {}};
    Cell cell;
    std::unique_ptr<Record> record;
    const Slot slot{.cell = &cell, .record = &record};
    for (const element step : trace["steps"].get_array()) {
      SCOPED_TRACE(simdjson::minify(step) + " of a limit of " + std::to_string(bound.limit.count));
      Charge charge{.limit = &bound};
      const std::string id = text(step, "id");
      const Micros now_us = number(step, "t");
      const Question question{.verb = verb_of(text(step, "verb")),
                              .charges = {&charge, 1},
                              .cost = number(step, "cost", 1),
                              .max_wait_us = number(step, "max_wait"),
                              .lease_id = id,
                              .lease_us = number(step, "lease")};
      compare(step, decide(question, {&slot, 1}, {.now_us = now_us, .calendar_us = now_us}));
      ++steps;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(steps, 400);
}

INSTANTIATE_TEST_SUITE_P(Traces, Vectors,
                         testing::Values("gcra", "gcra_bounds", "gcra_clock", "gcra_reserve", "fixed_window",
                                         "calendar_window", "sliding_window", "sliding_window_bounds", "sliding_log",
                                         "concurrency"),
                         [](const auto& trace) { return trace.param; });

}  // namespace
}  // namespace ratel
