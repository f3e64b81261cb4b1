// Every store-independent trace of tests/vectors/, field for field.

#include <gtest/gtest.h>

#include <string>

#include "limit/decide.h"
#include "limit/vectors_testing.h"

namespace ratel {
namespace {

class Vectors : public testing::TestWithParam<std::string> {};

TEST_P(Vectors, Agree) {
  int steps = 0;
  for_each_vector(GetParam(), [&](const VectorTrace& trace) {
    const BoundLimit bound{.limit = trace.limit, .identity = {}, .label = {}};
    Cell cell;
    std::unique_ptr<Record> record;
    const Slot slot{.cell = &cell, .record = &record};
    for (const VectorTrace::Element step : trace.steps.get_array()) {
      if (HasFailure()) return;
      SCOPED_TRACE(simdjson::minify(step) + " of a limit of " + std::to_string(bound.limit.count));
      Charge charge{.limit = &bound};
      std::string id;
      const Question question = VectorTrace::question_of(step, charge, id);
      const Micros now_us = VectorTrace::time_of(step);
      VectorTrace::compare(step, decide(question, {&slot, 1}, {.now_us = now_us, .calendar_us = now_us}));
      ++steps;
    }
  });
  EXPECT_GT(steps, 400);
}

INSTANTIATE_TEST_SUITE_P(Traces, Vectors, testing::ValuesIn(vector_files()),
                         [](const auto& trace) { return trace.param; });

}  // namespace
}  // namespace ratel
