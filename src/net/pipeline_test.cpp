// More answers than a connection's output may hold, to a peer that takes them at once: all of them arrive.

#include "base/prng.h"
#include "net/worker_testing.h"
#include "serve/http_session.h"
#include "serve/resp_session.h"
#include "store/memory_store.h"

namespace ratel {
namespace {

constexpr std::size_t kCommands = 8'000;

class PipelineTest : public WorkerTest {
 protected:
  /// The answers to so many of one command, counted by a text that each has once.
  std::size_t answers_to(const std::string& command, const std::string& mark) {
    std::string commands;
    for (std::size_t i = 0; i < kCommands; ++i) commands += command;
    Peer peer = connect();
    std::size_t count = 0;
    std::string rest;
    for (int idle = 0; count < kCommands && !peer.ended() && idle < 1'000;) {
      commands.erase(0, peer.send(commands));
      worker().loop().turn(false);
      const std::string some = peer.receive(1 << 20);
      rest += some;
      std::size_t begin = 0;
      for (std::size_t at = 0; (at = rest.find(mark, begin)) != std::string::npos; begin = at + mark.size()) ++count;
      rest.erase(0, begin);
      pollfd waits{.fd = peer.fd(), .events = POLLIN, .revents = 0};
      if (some.empty()) idle += poll(&waits, 1, 1) == 0 ? 1 : 0;
    }
    return count;
  }

  MemoryStore store_{{.seed = 1, .max_memory_bytes = 1 << 20, .start = clock_.now()}};
  Gate gate_{store_};
  Resolver resolver_;
  LoopMetrics metrics_;
  Prng prng_{1};
};

TEST_F(PipelineTest, AllOfItArrivesOverHttp) {
  const std::string text = std::string(2'000, '#') + "the end\n";
  HttpSessionFactory factory({.gate = gate_,
                              .resolver = resolver_,
                              .metrics = metrics_,
                              .randomness = prng_,
                              .token = {},
                              .allowed_hosts = {},
                              .auth = {},
                              .why_not_ready = {},
                              .metrics_text = [&text] { return text; }});
  serves_ = &factory;
  EXPECT_EQ(answers_to("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "the end\n"), kCommands);
  worker_.reset();
}

TEST_F(PipelineTest, AllOfItArrivesOverResp) {
  RespSessionFactory factory({.gate = gate_,
                              .resolver = resolver_,
                              .metrics = metrics_,
                              .randomness = prng_,
                              .password = {},
                              .facts = [] { return ServerFacts{}; }});
  serves_ = &factory;
  EXPECT_EQ(answers_to("INFO\r\n", "redis_version:"), kCommands);
  worker_.reset();
}

}  // namespace
}  // namespace ratel
