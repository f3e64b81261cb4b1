#pragma once
// Reads the traces of tests/vectors/ (their README says what they mean). For the tests of whatever decides questions.

#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>
#include <vector>

#include "limit/limit.h"
#include "limit/question.h"

namespace ratel {

/// One line: a limit, and what was asked of it with what answers.
struct VectorTrace {
  using Element = simdjson::dom::element;

  Limit limit;
  Element steps;

  /// The question of a step. It refers to `charge` and `id`.
  static Question question_of(Element step, Charge& charge, std::string& id) {
    id = text(step, "id");
    return {.verb = verb_of(text(step, "verb")),
            .charges = {&charge, 1},
            .cost = number(step, "cost", 1),
            .max_wait_us = number(step, "max_wait"),
            .lease_id = id,
            .lease_us = number(step, "lease")};
  }

  static Micros time_of(Element step) { return number(step, "t"); }

  /// What the step says of the answer, and what the answer says, in the same words.
  static void compare(Element step, const Answer& answer) {
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

  static std::int64_t number(Element object, std::string_view field, std::int64_t otherwise = 0) {
    std::int64_t value = 0;
    return object[field].get(value) == simdjson::SUCCESS ? value : otherwise;
  }

  static std::string text(Element object, std::string_view field) {
    std::string_view value;
    return object[field].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
  }

  static LimitSpec spec_of(std::string_view file, Element trace) {
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

  static Verb verb_of(std::string_view name) {
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
};

/// All files, by their names without `.jsonl`.
inline std::vector<std::string> vector_files() {
  return {"gcra",           "gcra_bounds",           "gcra_clock",  "gcra_reserve", "fixed_window", "calendar_window",
          "sliding_window", "sliding_window_bounds", "sliding_log", "concurrency"};
}

/// The root of the work tree; made by cmake.
extern const char* const kSourceDir;

/// Calls `visit` with each trace of a file; the trace is a loan. A file that cannot be read fails the test.
template <typename Visit>
void for_each_vector(const std::string& file, Visit visit) {
  simdjson::dom::parser parser;
  simdjson::dom::document_stream traces;
  const std::string path = std::string(kSourceDir) + "/tests/vectors/" + file + ".jsonl";
  ASSERT_EQ(parser.load_many(path, 4 << 20).get(traces), simdjson::SUCCESS) << path;
  for (auto document : traces) {
    const VectorTrace::Element trace = document.value();
    const Result<Limit> limit =
        make_limit(VectorTrace::spec_of(file, trace), VectorTrace::number(trace, "max_wait_us"));
    ASSERT_TRUE(limit.ok()) << limit.error().message;
    visit(VectorTrace{*limit, trace["steps"]});
  }
}

}  // namespace ratel
