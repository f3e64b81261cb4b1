#include "ratel/connect.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "base/allocations_testing.h"
#include "net/system_clock.h"
#include "redis/redis_server_testing.h"

namespace ratel {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatient = 30s;  // where a busy machine is to prove nothing

std::string url_of(const RedisServer& server) {
  return "redis+unix://" + server.socket();
}

Limiter connected(const RedisServer& server) {
  Result<Limiter> limiter = connect(url_of(server));
  EXPECT_TRUE(limiter.ok()) << limiter.error().message;
  return *std::move(limiter);
}

TEST(Connect, AnswersEveryVerbAsInMemory) {
  const RedisServer server("redis-server");
  const Limiter limiter = connected(server);
  const RateLimit rate = *limiter.limit("2/day burst 10", {.max_wait = 24h, .deadline = kPatient});
  EXPECT_EQ(rate.allow("key", 3)->remaining, 7);
  EXPECT_EQ(rate.peek("key", 8)->allowed, false);
  EXPECT_EQ(rate.at_most("key", 9)->granted, 7);
  EXPECT_EQ(rate.reserve("key", 1, 24h)->allowed, true);
  EXPECT_EQ(rate.reserve("key", 2, 24h)->allowed, false);
  EXPECT_EQ(rate.refund("key", 3)->remaining, 2);
  EXPECT_EQ(rate.reset("key")->remaining, 10);
  EXPECT_EQ(rate.allow("key", 11)->retry_after, kNever);
  EXPECT_EQ(rate.allow("key")->source, Source::kExact);
  EXPECT_EQ(rate.allow("key", -1).error().code, ErrorCode::kBadArgument);

  const RateLimit slots = *limiter.limit("2 concurrent", {.deadline = kPatient});
  EXPECT_TRUE(slots.acquire("key", "a", 1h)->allowed);
  EXPECT_TRUE(slots.acquire("key", "b", 1h)->allowed);
  EXPECT_FALSE(slots.acquire("key", "c", 1h)->allowed);
  EXPECT_TRUE(slots.renew("key", "a", 1h)->allowed);
  EXPECT_TRUE(slots.release("key", "a")->allowed);
  EXPECT_FALSE(slots.release("key", "a")->allowed);

  const RateLimit both = *limiter.limits({"unlimited", "2/day", "5/day burst 9"}, {.deadline = kPatient});
  EXPECT_TRUE(both.allow("key", 2)->allowed);
  EXPECT_EQ(both.allow("key")->limit, 2);
  EXPECT_EQ(limiter.limit("unlimited")->allow("key")->limit, kUnlimited);
  EXPECT_EQ(limiter.why_not_exact(), "");
  EXPECT_EQ(limiter.memory_use().keys, 0u);
}

TEST(Connect, SharesCountsWithWhoeverHasThePrefix) {
  const RedisServer server("redis-server");
  struct Case {
    const char* prefix;
    bool admitted;
  };
  for (const Case& c : {Case{"ratel", true}, Case{"ratel", false}, Case{"other", true}, Case{"other", false}}) {
    const Result<Limiter> limiter = connect(url_of(server), {.key_prefix = c.prefix});
    ASSERT_TRUE(limiter.ok()) << limiter.error().message;
    EXPECT_EQ(limiter->limit("1/day", {.name = "mail", .deadline = kPatient})->allow("key")->allowed, c.admitted);
  }
}

TEST(Connect, SaysWhatIsWrong) {
  const RedisServer server("redis-server", {"--requirepass", "right"});
  const std::string url = url_of(server);
  const std::string nobody = "redis+unix://" + server.folder() + "/nobody";
  struct Case {
    std::string url;
    StoreOptions options;
    ErrorCode code;
    const char* says;
  };
  const Case cases[] = {
      {"paper://host", {}, ErrorCode::kBadArgument, "paper"},
      {url, {.ca_file = "ca.pem"}, ErrorCode::kBadArgument, "ca_file"},
      {url, {.server_name = "name"}, ErrorCode::kBadArgument, "server_name"},
      {"rediss://127.0.0.1", {.cert_file = "x"}, ErrorCode::kBadArgument, "belong together"},
      {"rediss://127.0.0.1", {.ca_file = "/nowhere/ca.pem"}, ErrorCode::kConfiguration, "/nowhere/ca.pem"},
      {url, {.key_prefix = "a b"}, ErrorCode::kBadArgument, "key_prefix"},
      {url, {.key_prefix = ""}, ErrorCode::kBadArgument, "key_prefix"},
      {url, {}, ErrorCode::kConfiguration, "NOAUTH"},
      {url, {.password = "secret"}, ErrorCode::kConfiguration, "WRONGPASS"},
      {nobody, {}, ErrorCode::kConfiguration, "No such file"},
  };
  for (const Case& c : cases) {
    const Result<Limiter> limiter = connect(c.url, c.options);
    ASSERT_FALSE(limiter.ok()) << c.url << c.says;
    EXPECT_EQ(limiter.error().code, c.code) << limiter.error().message;
    EXPECT_NE(limiter.error().message.find(c.says), std::string::npos) << limiter.error().message;
    EXPECT_EQ(limiter.error().message.find("secret"), std::string::npos) << limiter.error().message;
  }
  EXPECT_TRUE(connect(url, {.password = "right"}).ok());
  EXPECT_FALSE(connected(RedisServer("redis-server")).limit("1/s", {.deadline = 0s}).ok());
  EXPECT_FALSE(Limiter::in_memory().limit("1/s", {.deadline = 61s}).ok());
}

TEST(Connect, AnswersByTheFailureModeWhereTheStoreIsDown) {
  std::string url;
  {
    const RedisServer server("redis-server");
    url = url_of(server);
  }
  const Result<Limiter> limiter = connect(url, {.start_degraded = true});
  ASSERT_TRUE(limiter.ok()) << limiter.error().message;
  EXPECT_NE(limiter->why_not_exact().find("No such file"), std::string::npos) << limiter->why_not_exact();
  struct Case {
    FailureMode mode;
    Source source;
    bool first, second;
  };
  const Case cases[] = {{FailureMode::kLocal, Source::kLocal, true, false},
                        {FailureMode::kAllow, Source::kFailedOpen, true, true},
                        {FailureMode::kDeny, Source::kFailedClosed, false, false}};
  for (const Case& c : cases) {
    const RateLimit rate = *limiter->limit("1/day", {.on_store_failure = c.mode});
    for (const bool allowed : {c.first, c.second}) {
      const Decision decision = *rate.allow("key");
      EXPECT_EQ(decision.source, c.source);
      EXPECT_EQ(decision.allowed, allowed) << name_of(c.source);
    }
  }
}

// What a caller is told, and how soon, when the store stops, and when it goes on.
TEST(Connect, AStoppedStoreHoldsNobodyBeyondTheDeadline) {
  const RedisServer server("redis-server");
  const Limiter limiter = connected(server);
  const RateLimit rate = *limiter.limit("5/day", {.on_store_failure = FailureMode::kDeny});
  ASSERT_EQ(limiter.limit("5/day", {.deadline = kPatient})->allow("key")->source, Source::kExact);
  ASSERT_EQ(::kill(server.pid(), SIGSTOP), 0);
  for (int i = 0; i < 20; ++i) {
    const std::int64_t began_ns = monotonic_ns();
    const Decision decision = *rate.allow("key");
    EXPECT_LT(monotonic_ns() - began_ns, 1'000'000'000) << "a deadline of 50 ms";
    EXPECT_EQ(decision.source, Source::kFailedClosed);
    EXPECT_GT(decision.retry_after, 0us);
  }
  ASSERT_EQ(::kill(server.pid(), SIGCONT), 0);
  Decision decision;
  do {
    decision = *rate.peek("key");
  } while (decision.source != Source::kExact);
  EXPECT_EQ(decision.remaining, 4) << "what nobody waited for was charged";
}

TEST(Connect, ChargesBeforeItsEndWhatWasAdmittedWithoutTheStore) {
  const RedisServer server("redis-server");
  {
    const Limiter limiter = connected(server);
    const RateLimit rate = *limiter.limit("10/day", {.name = "mail"});
    ASSERT_EQ(limiter.limit("10/day", {.name = "mail", .deadline = kPatient})->allow("key")->source, Source::kExact);
    ASSERT_EQ(::kill(server.pid(), SIGSTOP), 0);
    for (int i = 0; i < 3; ++i) {
      const Decision decision = *rate.allow("key");
      EXPECT_EQ(decision.source, Source::kLocal);
      EXPECT_TRUE(decision.allowed);
    }
    ASSERT_EQ(::kill(server.pid(), SIGCONT), 0);
  }
  EXPECT_EQ(connected(server).limit("10/day", {.name = "mail", .deadline = kPatient})->peek("key")->remaining, 6);
}

TEST(Connect, SaysWhatItCouldNotCharge) {
  const RedisServer server("redis-server");
  const Limiter limiter = connected(server);
  EXPECT_EQ(limiter.settle(), 0U);
  const RateLimit rate = *limiter.limit("10/day");
  ASSERT_EQ(limiter.limit("10/day", {.deadline = kPatient})->allow("key")->source, Source::kExact);
  ASSERT_EQ(::kill(server.pid(), SIGSTOP), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rate.allow("key")->source, Source::kLocal);
  std::uint64_t by_another = 0;
  std::thread another([&] { by_another = limiter.settle(); });
  EXPECT_EQ(limiter.settle(), 3U);
  another.join();
  EXPECT_LE(by_another, 3U) << "which may have begun later";
  ASSERT_EQ(::kill(server.pid(), SIGCONT), 0);
  for (std::uint64_t left = 3; left > 0;) left = limiter.settle();  // what is lost is told once
  EXPECT_EQ(Limiter::in_memory().settle(), 0U);
}

TEST(Connect, IsForAnyThread) {
  const RedisServer server("redis-server");
  const Limiter limiter = connected(server);
  const RateLimit rate = *limiter.limit("100/day", {.deadline = kPatient});
  std::atomic<int> allowed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int question = 0; question < 50; ++question) {
        if (rate.allow("key")->allowed) ++allowed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allowed, 100);
}

TEST(Connect, AllocatesNothingPerDecision) {
  const RedisServer server("redis-server");
  const Limiter limiter = connected(server);
  const RateLimit rate = *limiter.limits({"5000/day", "7000/hour"}, {.deadline = kPatient});
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(rate.allow("key").ok());
  const std::uint64_t before = allocations_so_far();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(rate.allow("key")->source, Source::kExact);
  EXPECT_EQ(allocations_so_far(), before);
}

TEST(Connect, AForkedChildIsToldAndHarmsNobody) {
  const RedisServer server("redis-server");
  auto limiter = std::make_unique<Limiter>(connected(server));
  auto rate = std::make_unique<RateLimit>(*limiter->limit("5/day", {.deadline = kPatient}));
  ASSERT_EQ(rate->allow("key")->remaining, 4);
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<Decision> decision = rate->allow("key");
    const bool told = !decision.ok() && decision.error().code == ErrorCode::kUnavailable;
    const bool says_why = limiter->why_not_exact().find("fork") != std::string::npos;
    rate.reset();
    limiter.reset();
    ::_exit(told && says_why ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(rate->allow("key")->remaining, 3);
}

TEST(Connect, OutlivesWhatMadeIt) {
  const RedisServer server("redis-server");
  const RateLimit rate = *connected(server).limit("1/day", {.deadline = kPatient});
  EXPECT_TRUE(rate.allow("key")->allowed);
  EXPECT_FALSE(rate.allow("key")->allowed);
}

}  // namespace
}  // namespace ratel
