// What HTTP costs without sockets: the parser and the JSON reader alone, and whole turns of a session. The store
// answers at once and decides nothing, so that a turn's cost is the session's.

#include <benchmark/benchmark.h>

#include <string>

#include "base/prng.h"
#include "gate/gate.h"
#include "serve/http_session.h"

namespace ratel {
namespace {

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

constexpr std::string_view kQuestion = R"({"rule":"api","key":"user:12345"})";

std::string post(std::string_view headers, std::string_view body) {
  return "POST /v1/allow HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n" + std::string(headers) +
         "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

/// As wrk sends it, and as a client library does.
const std::string kPlain = post("", kQuestion);
const std::string kUsual = post(
    "User-Agent: python-requests/2.28.1\r\nAccept-Encoding: gzip, deflate\r\nAccept: */*\r\nConnection: keep-alive\r\n",
    kQuestion);

void parse(benchmark::State& state, const std::string& request) {
  HttpParser parser;
  for (auto _ : state) {
    std::string_view bytes = request;
    benchmark::DoNotOptimize(parser.parse(bytes));
    benchmark::DoNotOptimize(parser.parse(bytes));
  }
}
BENCHMARK_CAPTURE(parse, plain, kPlain);
BENCHMARK_CAPTURE(parse, usual, kUsual);

class Ignore final : public JsonObjects {
 public:
  void begin(bool) override {}
  void object(std::span<const JsonValue> values) override { benchmark::DoNotOptimize(values.data()); }
  void bad_object(JsonFault) override {}
};

void read_json(benchmark::State& state) {
  JsonReader reader;
  Ignore ignore;
  std::string body(kQuestion);
  for (auto _ : state) {
    benchmark::DoNotOptimize(reader.read(body, find_http_route("/v1/allow")->fields, kHttpQuestionsMax, ignore));
  }
}
BENCHMARK(read_json);

Rule rule() {
  BoundLimit limit{.limit = *make_limit(*parse_limit("1000000/s")), .identity = "api", .label = "api"};
  return {.name = "api", .limits = {limit}};
}

void turn(benchmark::State& state, const std::string& request, std::int64_t questions) {
  NullStore store;
  Gate gate(store);
  Resolver resolver;
  resolver.use(std::make_shared<const RuleBook>(std::vector<Rule>{rule()}));
  LoopMetrics metrics;
  Prng prng(1);
  HttpSessionFactory factory({.gate = gate,
                              .resolver = resolver,
                              .metrics = metrics,
                              .randomness = prng,
                              .token = {},
                              .allowed_hosts = {},
                              .auth = {.trusted_hops = 1},
                              .why_not_ready = {},
                              .metrics_text = {}});
  Nobody nobody;
  const std::unique_ptr<Session> session = factory.make("", nobody);
  const Instant now{.monotonic_us = 1, .wall_us = 1'759'400'000'000'000};
  for (auto _ : state) {
    session->receive(request, now);
    benchmark::DoNotOptimize(session->output().data());
    session->output().clear();
  }
  state.SetItemsProcessed(state.iterations() * questions);
}

std::string array_of(std::int64_t questions) {
  std::string body = "[";
  for (std::int64_t i = 0; i < questions; ++i) body += (i == 0 ? "" : ",") + std::string(kQuestion);
  return post("", body + "]");
}

const std::string kHundred = array_of(100);
const std::string kAuth =
    "GET /v1/auth?rule=api&key=ip HTTP/1.0\r\nHost: 127.0.0.1:8080\r\nConnection: keep-alive\r\n"
    "X-Forwarded-For: 198.51.100.7\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n\r\n";
const std::string kHealth = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n";

BENCHMARK_CAPTURE(turn, allow, kPlain, 1);
BENCHMARK_CAPTURE(turn, allow_usual, kUsual, 1);
BENCHMARK_CAPTURE(turn, array_of_100, kHundred, 100);
BENCHMARK_CAPTURE(turn, auth, kAuth, 1);
BENCHMARK_CAPTURE(turn, health, kHealth, 1);

}  // namespace
}  // namespace ratel
