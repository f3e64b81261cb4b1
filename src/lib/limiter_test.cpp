#include "ratel/limiter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/allocations_testing.h"

namespace ratel {
namespace {

using namespace std::chrono_literals;

TEST(Limiter, AnswersEveryVerb) {
  const Limiter limiter = Limiter::in_memory();
  const RateLimit rate = *limiter.limit("2/day burst 10", {.max_wait = 24h});
  EXPECT_EQ(rate.allow("key", 3)->remaining, 7);
  EXPECT_EQ(rate.peek("key", 8)->allowed, false);
  EXPECT_EQ(rate.at_most("key", 9)->granted, 7);
  EXPECT_EQ(rate.reserve("key", 1, 24h)->allowed, true);
  EXPECT_EQ(rate.reserve("key", 2, 24h)->allowed, false);
  EXPECT_EQ(rate.refund("key", 3)->remaining, 2);
  EXPECT_EQ(rate.reset("key")->remaining, 10);
  EXPECT_EQ(rate.allow("key", 11)->retry_after, kNever);

  const RateLimit slots = *limiter.limit("2 concurrent");
  EXPECT_TRUE(slots.acquire("key", "a", 1h)->allowed);
  EXPECT_TRUE(slots.acquire("key", "b", 1h)->allowed);
  EXPECT_FALSE(slots.acquire("key", "c", 1h)->allowed);
  EXPECT_TRUE(slots.renew("key", "a", 1h)->allowed);
  EXPECT_TRUE(slots.release("key", "a")->allowed);
  EXPECT_FALSE(slots.release("key", "a")->allowed);
  EXPECT_TRUE(slots.acquire("key", "c", 1h)->allowed);
}

TEST(Limiter, ReadsLimits) {
  struct Case {
    const char* text;
    LimitOptions options;
    const char* error;  // empty: none
    std::int64_t limit;
  };
  const Case cases[] = {
      {"5/min", {}, "", 5},
      {"5/min burst 10", {}, "", 10},
      {"unlimited", {}, "", kUnlimited},
      {"100/day", {.algorithm = "fixed_window", .calendar = true, .zone = "Europe/Vienna"}, "", 100},
      {"7 per 3s", {.algorithm = "sliding_log"}, "", 7},
      {"5/min", {.algorithm = "sliding_widnow"}, "sliding_widnow", 0},
      {"7 per 3s", {.algorithm = "fixed_window", .calendar = true}, "calendar", 0},
      {"0.5/s", {}, "1 per 2s", 0},
      {"5/min", {.max_wait = std::chrono::hours(24 * 400)}, "max_wait", 0},
  };
  const Limiter limiter = Limiter::in_memory();
  for (const Case& c : cases) {
    const Result<RateLimit> limit = limiter.limit(c.text, c.options);
    ASSERT_EQ(limit.ok(), std::string(c.error).empty()) << c.text << (limit.ok() ? "" : limit.error().message);
    if (limit.ok()) {
      EXPECT_EQ(limit->allow("key")->limit, c.limit) << c.text;
    } else {
      EXPECT_NE(limit.error().message.find(c.error), std::string::npos) << limit.error().message;
    }
  }
}

TEST(Limiter, AnswersBadQuestionsWithErrors) {
  const Limiter limiter = Limiter::in_memory();
  const RateLimit rate = *limiter.limit("5/min");
  const RateLimit slots = *limiter.limit("5 concurrent");
  const std::string long_key(4097, 'k');
  EXPECT_EQ(rate.allow("key", -1).error().code, ErrorCode::kBadArgument);
  EXPECT_EQ(rate.allow("key", std::int64_t{1} << 31).error().code, ErrorCode::kBadArgument);
  EXPECT_EQ(rate.allow(long_key).error().code, ErrorCode::kBadArgument);
  EXPECT_EQ(rate.reserve("key", 1, 1s).error().code, ErrorCode::kBadArgument);
  EXPECT_EQ(rate.acquire("key", "id", 1s).error().code, ErrorCode::kWrongVerb);
  EXPECT_EQ(slots.allow("key").error().code, ErrorCode::kWrongVerb);
  EXPECT_EQ(slots.acquire("key", "", 1s).error().code, ErrorCode::kBadArgument);
  EXPECT_EQ(slots.acquire("key", "id", 25h).error().code, ErrorCode::kBadArgument);
  EXPECT_FALSE(limiter.limits({}).ok());
  EXPECT_EQ(limiter.memory_use().keys, 0u);
}

TEST(Limiter, GrantsNothingToARefundOfTheUnlimited) {
  const RateLimit rate = *Limiter::in_memory().limit("unlimited");
  EXPECT_EQ(rate.allow("key", 3)->granted, 3);
  EXPECT_EQ(rate.refund("key", 3)->granted, 0);
  EXPECT_EQ(rate.reset("key")->granted, 0);
}

TEST(Limiter, SpendsSeveralLimitsTogether) {
  const Limiter limiter = Limiter::in_memory();
  const RateLimit both = *limiter.limits({"unlimited", "2/day", "5/day burst 9"}, {.name = "both"});
  EXPECT_TRUE(both.allow("key", 2)->allowed);
  const Decision denied = *both.allow("key");
  EXPECT_FALSE(denied.allowed);
  EXPECT_EQ(denied.limit, 2);
}

// Which no question could be answered with.
TEST(Limiter, RefusesTheSameCounterTwice) {
  const Limiter limiter = Limiter::in_memory();
  for (const char* again : {"5/min", "5 per 60s", "5/min burst 5"}) {
    const Result<RateLimit> twice = limiter.limits({"5/min", "10/h", again});
    ASSERT_FALSE(twice.ok()) << again;
    EXPECT_EQ(twice.error().message, "limits: 5/min is named twice");
  }
  EXPECT_TRUE(limiter.limits({"5/min", "5/h"})->allow("key").ok());
  EXPECT_TRUE(limiter.limits({"5/min", "5/min"}, {.name = "by place"})->allow("key").ok());
}

TEST(Limiter, SharesCountsByNameOrText) {
  const Limiter limiter = Limiter::in_memory();
  struct Case {
    const char* text;
    const char* name;
    bool shares;  // the counts of "1/day" without a name
  };
  EXPECT_TRUE(limiter.limit("1/day")->allow("key")->allowed);
  for (const Case& c : {Case{"1/day", "", true}, Case{"1 per day", "", true}, Case{"1/day", "other", false},
                        Case{"1 per 2d", "", false}}) {
    EXPECT_NE(limiter.limit(c.text, {.name = c.name})->peek("key")->allowed, c.shares) << c.text << c.name;
  }
  const Limiter copy = limiter;
  EXPECT_FALSE(copy.limit("1/day")->allow("key")->allowed);
  EXPECT_TRUE(Limiter::in_memory().limit("1/day")->allow("key")->allowed);
}

TEST(Limiter, NeverReadsOneLimitsDebtByAnothersNumbers) {
  const Limiter limiter = Limiter::in_memory();
  const RateLimit patient = *limiter.limit("1/min", {.max_wait = 1h});
  const RateLimit hasty = *limiter.limit("1/min");
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(patient.reserve("key", 1, 1h)->allowed);
  EXPECT_TRUE(hasty.allow("key")->allowed) << "another counter";
  EXPECT_FALSE(patient.allow("key")->allowed) << "forgiven";

  EXPECT_TRUE(limiter.limit("1/min", {.name = "mail"}).ok());
  EXPECT_TRUE(limiter.limit("1 per min", {.name = "mail"}).ok());
  struct Case {
    const char* text;
    LimitOptions options;
  };
  const Case cases[] = {
      {"2/min", {.name = "mail"}},
      {"1/min burst 2", {.name = "mail"}},
      {"1/min", {.name = "mail", .max_wait = 1s}},
      {"1/min", {.name = "mail", .algorithm = "sliding_log"}},
  };
  for (const Case& c : cases) {
    const Result<RateLimit> other = limiter.limit(c.text, c.options);
    ASSERT_FALSE(other.ok()) << c.text;
    EXPECT_NE(other.error().message.find("'mail'"), std::string::npos) << other.error().message;
  }
}

TEST(Limiter, BoundsTheNamesItKnows) {
  const Limiter limiter = Limiter::in_memory();
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(limiter.limit("1/min", {.name = std::to_string(i)}).ok());
  EXPECT_FALSE(limiter.limit("1/min", {.name = "one more"}).ok());
  EXPECT_TRUE(limiter.limit("1/min", {.name = "0"}).ok());
}

TEST(Limiter, StaysWithinItsMemory) {
  const Limiter limiter = Limiter::in_memory({.max_memory_bytes = 0});
  const RateLimit rate = *limiter.limit("1/day");
  for (int i = 0; i < 50'000; ++i) EXPECT_TRUE(rate.allow(std::to_string(i)).ok());
  const MemoryUse use = limiter.memory_use();
  EXPECT_EQ(use.max_bytes, std::uint64_t{1} << 20);
  EXPECT_LE(use.bytes, use.max_bytes);
  EXPECT_EQ(use.keys + use.forgotten, 50'000u);
  EXPECT_GT(use.forgotten, 0u);
}

TEST(Limiter, TidiesAwayNothingThatCounts) {
  const Limiter limiter = Limiter::in_memory();
  const RateLimit rate = *limiter.limit("1/day");
  for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(rate.allow(std::to_string(i))->allowed);
  for (int i = 0; i < 10; ++i) limiter.tidy();
  for (int i = 0; i < 1'000; ++i) EXPECT_FALSE(rate.allow(std::to_string(i))->allowed);
}

TEST(Limiter, OutlivesWhatMadeIt) {
  const RateLimit rate = *Limiter::in_memory().limit("1/day");
  EXPECT_TRUE(rate.allow("key")->allowed);
  EXPECT_FALSE(rate.allow("key")->allowed);
}

TEST(Limiter, AllocatesNothingPerDecision) {
  const Limiter limiter = Limiter::in_memory();
  const RateLimit rate = *limiter.limits({"5/day", "7/hour"});
  const RateLimit window = *limiter.limit("7/hour", {.algorithm = "sliding_window"});
  const std::uint64_t before = allocations_so_far();
  for (const char* key : {"a", "b", "c", "a", "b", "c"}) {
    EXPECT_TRUE(rate.allow(key).ok());
    EXPECT_TRUE(window.allow(key).ok());
  }
  EXPECT_EQ(allocations_so_far(), before);
}

TEST(Limiter, IsForAnyThread) {
  const Limiter limiter = Limiter::in_memory();
  const RateLimit rate = *limiter.limit("100/day");
  std::atomic<int> allowed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int question = 0; question < 100; ++question) {
        if (rate.allow("key")->allowed) ++allowed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allowed, 100);
}

}  // namespace
}  // namespace ratel
