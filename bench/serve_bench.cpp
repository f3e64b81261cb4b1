// What RESP costs without sockets: the parser alone, and whole turns of a session. The store decides GCRA over an
// array, so that a turn's cost is the session's, with the arithmetic and without a table.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/prng.h"
#include "gate/gate.h"
#include "serve/resp_session.h"
#include "store/memory_store.h"

namespace ratel {
namespace {

constexpr std::size_t kBatch = 16;
constexpr Instant kStart{.monotonic_us = 1'759'400'000'000'000, .wall_us = 1'759'400'000'000'000};

class NullStore final : public Store {
 public:
  void prepare(Question&) override {}
  void ask(const Question&, Instant, Completion done) override { done(answer_); }

 private:
  Answer answer_{.decision = {.allowed = true, .limit = 16, .remaining = 15, .reset_after = std::chrono::seconds(2)}};
};

struct Nobody final : SessionFactory::Outlet {
  void wake() override {}
};

std::string encode(const std::vector<std::string>& arguments) {
  std::string bytes = "*" + std::to_string(arguments.size()) + "\r\n";
  for (const std::string& argument : arguments) {
    bytes += "$" + std::to_string(argument.size()) + "\r\n" + argument + "\r\n";
  }
  return bytes;
}

/// As redis-benchmark sends them.
std::string throttles(const std::string& burst) {
  std::string bytes;
  for (std::size_t i = 0; i < kBatch; ++i) {
    bytes += encode({"CL.THROTTLE", "key:00000000" + std::to_string(1000 + i * 37), burst, "30", "60"});
  }
  return bytes;
}

void parse(benchmark::State& state) {
  const std::string input = throttles("15");
  RespParser parser;
  for (auto _ : state) {
    std::string_view rest = input;
    while (!rest.empty()) {
      const RespParser::Parsed parsed = parser.parse(rest);
      benchmark::DoNotOptimize(parser.arguments().data());
      rest.remove_prefix(parsed.consumed);
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}
BENCHMARK(parse);

/// Answers each turn's input in turn.
void turns(benchmark::State& state, Store& store, const std::vector<std::string>& inputs) {
  Gate gate(store);
  Resolver resolver;
  LoopMetrics metrics;
  Prng prng(1);
  Nobody nobody;
  std::vector<Rule> rules(1);
  rules[0].name = "login";
  const Result<Limit> limit = make_limit({.count = 1'000'000, .period_us = kMinute_us, .burst = 1'000'000});
  rules[0].limits = {{.limit = *limit, .identity = "login", .label = "login"}};
  resolver.use(std::make_shared<const RuleBook>(std::move(rules)));
  RespSessionFactory factory(
      {.gate = gate, .resolver = resolver, .metrics = metrics, .randomness = prng, .password = "", .facts = [] {
         return ServerFacts{};
       }});
  const std::unique_ptr<Session> session = factory.make("", nobody);
  Instant now = kStart;
  std::size_t next = 0;
  for (auto _ : state) {
    session->receive(inputs[next], now);
    next = next + 1 == inputs.size() ? 0 : next + 1;
    benchmark::DoNotOptimize(session->output().data());
    session->output().clear();
    ++now.monotonic_us;
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}

void in_memory(benchmark::State& state, const std::vector<std::string>& inputs) {
  MemoryStore store({.seed = 1, .max_memory_bytes = std::size_t{256} << 20, .start = kStart});
  turns(state, store, inputs);
}

void without_store(benchmark::State& state) {
  NullStore store;
  turns(state, store, {throttles("15")});
}
void allowed(benchmark::State& state) {
  in_memory(state, {throttles("100000000")});
}
void denied(benchmark::State& state) {
  in_memory(state, {throttles("0")});
}
void two_limits(benchmark::State& state) {
  const std::string one = throttles("15");
  const std::string other = throttles("20");
  const std::size_t half = one.size() / 2;
  in_memory(state, {one.substr(0, half) + other.substr(half)});
}
void a_hundred_thousand_keys(benchmark::State& state) {
  Prng prng(2);
  std::vector<std::string> inputs(100'000 / kBatch);
  for (std::string& input : inputs) {
    for (std::size_t i = 0; i < kBatch; ++i) {
      const std::string key = "key:" + std::to_string(1'000'000'000'000 + prng.next() % 100'000);
      input += encode({"CL.THROTTLE", key, "15", "30", "60"});
    }
  }
  in_memory(state, inputs);
}
void rules(benchmark::State& state) {
  std::string input;
  for (std::size_t i = 0; i < kBatch; ++i) input += encode({"RATEL.ALLOW", "login", "user:" + std::to_string(i)});
  in_memory(state, {input});
}
void given_limits(benchmark::State& state) {
  std::string input;
  for (std::size_t i = 0; i < kBatch; ++i) {
    input += encode({"RATEL.ALLOW", "LIMIT", "5/min burst 10", "user:" + std::to_string(i)});
  }
  in_memory(state, {input});
}
BENCHMARK(without_store);
BENCHMARK(allowed);
BENCHMARK(denied);
BENCHMARK(two_limits);
BENCHMARK(a_hundred_thousand_keys);
BENCHMARK(rules);
BENCHMARK(given_limits);

}  // namespace
}  // namespace ratel
