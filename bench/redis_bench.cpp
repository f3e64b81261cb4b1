// What a question to Redis costs ratel's own thread, but for the system calls: from ask() to the answer. The argument
// is how many are asked in one turn.

#include <benchmark/benchmark.h>

#include <vector>

#include "base/prng.h"
#include "redis/redis_store.h"
#include "wire/resp_writer.h"

namespace ratel {
namespace {

class BareShell final : public Link::Shell {
 public:
  void dial(Link& link) override { links.push_back(&link); }
  void hang_up(Link&) override {}
  void wake(Link&) override {}
  std::vector<Link*> links;
};

void ask(benchmark::State& state) {
  BareShell shell;
  Prng prng(1);
  RedisStore store({.url = *parse_store_url("redis://127.0.0.1:6379")}, shell, prng);
  Micros now_us = kSecond_us;
  constexpr Micros kAhead_us = 1'700'000'000'000'000;
  const auto now = [&] { return Instant{.monotonic_us = now_us, .wall_us = kAhead_us + now_us}; };
  store.start(now());
  store.tick(now());
  for (Link* link : shell.links) {
    link->connected(now());
    for (const char* replies : {"%1\r\n+role\r\n+master\r\n",
                                "+OK\r\n+OK\r\n+OK\r\n*1\r\n+master\r\n+sha\r\n*2\r\n+1700000001\r\n+0\r\n+PONG\r\n"}) {
      link->wrote(link->output().size());
      link->receive(replies, now());
    }
  }
  const BoundLimit limit{.limit = *make_limit({.count = 100, .period_us = kSecond_us, .burst = 200}),
                         .identity = "R3:api1:14:gcra0:",
                         .label = "api"};
  std::string reply;
  RespWriter(reply, RespVersion::k2).integers({0, kAhead_us + now_us, 1, 0, -1, 0});
  std::string replies;
  std::vector<Charge> charges(static_cast<std::size_t>(state.range(0)));
  std::int64_t allowed = 0;
  for (auto _ : state) {
    now_us += 10;
    for (Charge& charge : charges) {
      charge = {.limit = &limit, .key = "user:1234567"};
      Question question{.charges = {&charge, 1}};
      store.prepare(question);
      store.ask(question, now(),
                {.call =
                     [](void* context, std::uint64_t, const Answer& answer) {
                       *static_cast<std::int64_t*>(context) += answer.decision.allowed ? 1 : 0;
                     },
                 .context = &allowed});
    }
    for (Link* link : shell.links) {
      const std::size_t owed = link->owed();
      link->wrote(link->output().size());
      replies.clear();
      for (std::size_t i = 0; i < owed; ++i) replies += reply;
      link->receive(replies, now());
    }
    if (now_us >= store.next_us()) store.tick(now());
  }
  if (allowed != state.iterations() * state.range(0)) state.SkipWithError("an answer was none");
  state.SetItemsProcessed(allowed);
}

BENCHMARK(ask)->Arg(1)->Arg(16)->Arg(256);

}  // namespace
}  // namespace ratel
