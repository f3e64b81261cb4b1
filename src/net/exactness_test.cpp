// 50 connections with 1,000 questions each on a limit of 10 admit exactly 10, over real sockets and threads.
//
// Limits are per day: no machine is slow enough for one to refill within a round.

#include <gtest/gtest.h>

#include "base/prng.h"
#include "net/line_testing.h"
#include "net/server.h"
#include "net/system_clock.h"
#include "rules/load_rules.h"
#include "serve/resp_session.h"
#include "store/memory_store.h"

namespace ratel {
namespace {

constexpr int kConnections = 50;
constexpr int kQuestions = 1'000;
constexpr int kRounds = 4;  // whole programs run a hundred; these run under sanitizers
constexpr std::size_t kLimit = 10;

class Loop {
 public:
  Loop(Store& store, const RuleBookPtr& book)
      : gate_(store),
        factory_({.gate = gate_,
                  .resolver = resolver_,
                  .metrics = metrics_,
                  .randomness = prng_,
                  .password = {},
                  .facts = {}}) {
    resolver_.use(book);
  }
  SessionFactory* factory() { return &factory_; }

 private:
  Gate gate_;
  Resolver resolver_;
  LoopMetrics metrics_;
  Prng prng_{1};
  RespSessionFactory factory_;
};

struct Kind {
  std::string question;  // with the round's number between this
  std::string rest;      // and this
  std::string reply, admitted;  // how each begins
};
const Kind kKinds[] = {
    {"CL.THROTTLE round:", " 9 10 86400\r\n", "*5\r\n:", "*5\r\n:0"},
    {"RATEL.ALLOW ten round:", "\r\n", "*7\r\n:", "*7\r\n:1"},
    {"RATEL.ALLOW many round:", "\r\n", "*7\r\n:", "*7\r\n:1"},
};

int count(const std::string& text, const std::string& word) {
  int found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) ++found;
  return found;
}

void send_all(Peer& peer, std::string_view bytes) {
  while (!bytes.empty()) {
    bytes.remove_prefix(peer.send(bytes));
    pollfd waits{.fd = peer.fd(), .events = POLLOUT, .revents = 0};
    poll(&waits, 1, -1);
  }
}

std::string read_replies(Peer& peer, const std::string& reply) {
  std::string all;
  while (!peer.ended() && count(all, reply) < kQuestions) {
    pollfd waits{.fd = peer.fd(), .events = POLLIN, .revents = 0};
    poll(&waits, 1, -1);
    all += peer.receive();
  }
  return all;
}

class ExactnessTest : public testing::TestWithParam<int> {};

TEST_P(ExactnessTest, AdmitsTheLimitAndNotOneMore) {
  const RuleFile file{.name = "rules.yaml",
                      .text = "rules:\n  ten: { limit: 10/day }\n  many: { limit: [1000000/day, 10/day] }\n"};
  const SystemClock clock;
  MemoryStore store({.seed = 1, .max_memory_bytes = 64 << 20, .start = clock.now()});
  const auto book = std::make_shared<const RuleBook>(load_rules({&file, 1}).value());
  std::vector<std::unique_ptr<Loop>> loops;
  std::vector<SessionFactory*> factories;
  for (int i = 0; i < GetParam(); ++i) {
    loops.push_back(std::make_unique<Loop>(store, book));
    factories.push_back(loops.back()->factory());
  }
  ListenerCounts counts;
  Server server(clock, GetParam(), [](int) { return Worker::Options{}; });
  const auto addresses = server.listen({.host = "127.0.0.1"}, false, factories, counts);
  ASSERT_TRUE(addresses.ok());
  server.start();

  std::vector<Peer> peers;
  for (int i = 0; i < kConnections; ++i) peers.emplace_back(addresses.value().front());
  for (int round = 0; round < kRounds; ++round) {
    for (const Kind& kind : kKinds) {
      std::string questions;
      for (int i = 0; i < kQuestions; ++i) questions += kind.question + std::to_string(round) + kind.rest;
      for (Peer& peer : peers) send_all(peer, questions);
      std::size_t admitted = 0;
      for (Peer& peer : peers) {
        const std::string replies = read_replies(peer, kind.reply);
        ASSERT_EQ(count(replies, kind.reply), kQuestions);
        admitted += static_cast<std::size_t>(count(replies, kind.admitted));
      }
      EXPECT_EQ(admitted, kLimit) << kind.question << round;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Loops, ExactnessTest, testing::Values(1, 2, 4));

}  // namespace
}  // namespace ratel
