// What RESP costs without sockets: the parser alone, and whole turns of a session. The store decides GCRA over an
// array, so that a turn's cost is the session's, with the arithmetic and without a table.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "gate/gate.h"
#include "limit/decide.h"
#include "serve/resp_session.h"

namespace ratel {
namespace {

constexpr std::size_t kBatch = 16;

class ArrayStore final : public Store {
 public:
  void prepare(Question& question) override {
    for (Charge& charge : question.charges) charge.hash[0] = std::hash<std::string_view>{}(charge.key);
  }
  void ask(const Question& question, Instant now, Completion done) override {
    const Slot slot{.cell = &cells_[question.charges[0].hash[0] % cells_.size()]};
    done(decide(question, {&slot, 1}, {.now_us = now.monotonic_us, .calendar_us = now.wall_us}));
  }

 private:
  std::vector<Cell> cells_ = std::vector<Cell>(1024);
};

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

template <typename AnyStore>
void turn(benchmark::State& state, const std::string& input) {
  AnyStore store;
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
      {.gate = gate, .resolver = resolver, .metrics = metrics, .prng = prng, .password = "", .facts = [] {
         return ServerFacts{};
       }});
  const std::unique_ptr<Session> session = factory.make("", nobody);
  Instant now{.monotonic_us = 1'759'400'000'000'000, .wall_us = 1'759'400'000'000'000};
  for (auto _ : state) {
    session->receive(input, now);
    benchmark::DoNotOptimize(session->output().data());
    session->output().clear();
    ++now.monotonic_us;
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}

void turn_without_store(benchmark::State& state) {
  turn<NullStore>(state, throttles("15"));
}
void turn_allowed(benchmark::State& state) {
  turn<ArrayStore>(state, throttles("100000000"));
}
void turn_denied(benchmark::State& state) {
  turn<ArrayStore>(state, throttles("0"));
}
void turn_of_two_limits(benchmark::State& state) {
  const std::string one = throttles("15");
  const std::string other = throttles("20");
  const std::size_t half = one.size() / 2;
  turn<ArrayStore>(state, one.substr(0, half) + other.substr(half));
}
void turn_of_rules(benchmark::State& state) {
  std::string bytes;
  for (std::size_t i = 0; i < kBatch; ++i) bytes += encode({"RATEL.ALLOW", "login", "user:" + std::to_string(i)});
  turn<ArrayStore>(state, bytes);
}
void turn_of_given_limits(benchmark::State& state) {
  std::string bytes;
  for (std::size_t i = 0; i < kBatch; ++i) {
    bytes += encode({"RATEL.ALLOW", "LIMIT", "5/min burst 10", "user:" + std::to_string(i)});
  }
  turn<ArrayStore>(state, bytes);
}
BENCHMARK(turn_without_store);
BENCHMARK(turn_allowed);
BENCHMARK(turn_denied);
BENCHMARK(turn_of_two_limits);
BENCHMARK(turn_of_rules);
BENCHMARK(turn_of_given_limits);

}  // namespace
}  // namespace ratel
