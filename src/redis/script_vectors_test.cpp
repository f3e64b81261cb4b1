// Every trace of tests/vectors/, field for field, decided by the script on a real server.

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "limit/vectors_testing.h"
#include "redis/script_testing.h"

namespace ratel {
namespace {

class ScriptVectors : public testing::TestWithParam<std::tuple<ServerKind, std::string>> {};

TEST_P(ScriptVectors, Agree) {
  const auto& [kind, file] = GetParam();
  RedisServer server(kind.binary);
  RedisClient client(server.socket());
  ScriptStore store(client, script_with_clock());
  int steps = 0;
  for_each_vector(file, [&](const VectorTrace& trace) {
    const BoundLimit bound{.limit = trace.limit, .identity = "vector", .label = {}};
    client.run({"FLUSHALL"});
    for (const VectorTrace::Element step : trace.steps.get_array()) {
      if (HasFailure()) return;
      SCOPED_TRACE(simdjson::minify(step) + " of a limit of " + std::to_string(bound.limit.count));
      Charge charge{.limit = &bound, .key = "key"};
      std::string id;
      const Question question = VectorTrace::question_of(step, charge, id);
      const Micros now_us = VectorTrace::time_of(step);
      const ScriptOutcome outcome = store.ask_at(question, now_us, now_us);
      ASSERT_EQ(outcome.kind, ScriptOutcome::Kind::kAnswer);
      EXPECT_EQ(outcome.now_us, now_us);
      VectorTrace::compare(step, outcome.answer);
      ++steps;
    }
  });
  EXPECT_GT(steps, 400);
}

INSTANTIATE_TEST_SUITE_P(Traces, ScriptVectors,
                         testing::Combine(testing::ValuesIn(server_kinds()), testing::ValuesIn(vector_files())),
                         [](const auto& trace) {
                           return std::get<0>(trace.param).name + "_" + std::get<1>(trace.param);
                         });

}  // namespace
}  // namespace ratel
