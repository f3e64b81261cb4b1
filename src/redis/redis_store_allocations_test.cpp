#include <gtest/gtest.h>

#include "base/allocations_testing.h"
#include "redis/fake_redis_testing.h"
#include "redis/redis_store.h"

namespace ratel {
namespace {

/// Holds the links; what is between them and the server is in the test's hands.
class BareShell final : public Link::Shell {
 public:
  void dial(Link& link) override { links.push_back(&link); }
  void hang_up(Link&) override {}
  void wake(Link&) override {}
  std::vector<Link*> links;
};

TEST(RedisStore, AllocatesNothingForAQuestionAfterWarmUp) {
  BareShell shell;
  Prng prng(1);
  RedisStore store({.url = *parse_store_url("redis://127.0.0.1:6379")}, shell, prng);
  FakeRedis server(*parse_address("127.0.0.1:6379"));
  std::map<Link*, FakeRedis::Session> sessions;
  Micros now_us = kSecond_us;
  const auto now = [&] { return Instant{.monotonic_us = now_us, .wall_us = FakeRedis::kAhead_us + now_us}; };
  std::uint64_t allocated = 0;
  const auto counted = [&](auto&& what) {
    const std::uint64_t before = allocations_so_far();
    what();
    allocated += allocations_so_far() - before;
  };
  const auto exchange = [&] {
    for (Link* link : shell.links) {
      std::string_view output;
      counted([&] { output = link->output(); });
      const std::string replies = server.receive(sessions[link], output, now_us);
      counted([&] {
        link->wrote(output.size());
        link->receive(replies, now());
      });
    }
  };

  store.start(now());
  store.tick(now());
  for (Link* link : shell.links) link->connected(now());
  for (int round = 0; round < 3; ++round) exchange();
  ASSERT_TRUE(store.is_whole());

  const BoundLimit limit{
      .limit = *make_limit({.algorithm = Algorithm::kFixedWindow, .count = kCountMax, .period_us = kPeriodMax_us}),
      .identity = "limit",
      .label = "limit"};
  int granted = 0;
  constexpr int kTogether = 50, kRounds = 40;
  std::array<Charge, kTogether> charges;
  for (int round = 0; round < kRounds; ++round) {
    if (round == kRounds / 2) allocated = 0;
    counted([&] {
      for (int i = 0; i < kTogether; ++i) {
        const std::string_view keys[] = {"alice", "bob", "a subject that is not plain"};
        charges[i] = {.limit = &limit, .key = keys[i % 3]};
        Question question{.charges = {&charges[i], 1}, .cost = i + 1};
        store.prepare(question);
        store.ask(question, now(),
                  {.call =
                       [](void* context, std::uint64_t, const Answer& answer) {
                         *static_cast<int*>(context) += answer.fault == StoreFault::kNone ? 1 : 0;
                       },
                   .context = &granted});
      }
    });
    now_us += kMillisecond_us;
    exchange();
    counted([&] { store.tick(now()); });
  }
  EXPECT_EQ(granted, kTogether * kRounds);
  EXPECT_EQ(allocated, 0U);
}

}  // namespace
}  // namespace ratel
