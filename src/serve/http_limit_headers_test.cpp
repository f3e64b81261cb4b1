#include "serve/http_limit_headers.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

namespace ratel {
namespace {

using std::chrono::microseconds;

BoundLimit bound(std::string_view text, std::string label, Algorithm algorithm = Algorithm::kGcra) {
  LimitSpec spec = *parse_limit(text);
  spec.algorithm = algorithm;
  return {.limit = *make_limit(spec), .identity = label, .label = label};
}

struct Asked {
  explicit Asked(std::vector<BoundLimit> of) : limits(std::move(of)) {
    for (const BoundLimit& limit : limits) charges.push_back({.limit = &limit, .key = "k"});
    question.charges = charges;
  }
  std::string headers(const Answer& answer, HeaderStyle style = HeaderStyle::kRateLimit) const {
    std::string out;
    append_limit_headers(question, answer, style, out);
    append_retry_after(answer.decision, out);
    return out;
  }

  std::vector<BoundLimit> limits;
  std::vector<Charge> charges;
  Question question;
};

Answer allowed(std::int64_t remaining, Micros reset_us) {
  return {.decision = {.allowed = true, .limit = 5, .remaining = remaining, .reset_after = microseconds(reset_us)}};
}
Answer denied(std::int64_t remaining, Micros retry_us, Micros reset_us) {
  return {.decision = {.limit = 5,
                       .remaining = remaining,
                       .retry_after = microseconds(retry_us),
                       .reset_after = microseconds(reset_us)}};
}

TEST(LimitHeaders, SayWhatTheStandardsAskFor) {
  const Asked asked({bound("5/min", "login")});
  EXPECT_EQ(asked.headers(allowed(4, 12'000'000)),
            "RateLimit-Policy: \"login\";q=5;w=60\r\nRateLimit: \"login\";r=4;t=12\r\n");
  EXPECT_EQ(asked.headers(denied(0, 11'000'001, 60'000'000)),
            "RateLimit-Policy: \"login\";q=5;w=60\r\nRateLimit: \"login\";r=0;t=12\r\nRetry-After: 12\r\n");
  EXPECT_EQ(asked.headers(denied(0, 1, 60'000'000), HeaderStyle::kXRateLimit),
            "X-RateLimit-Limit: 5\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 1\r\nRetry-After: 1\r\n");
  EXPECT_EQ(asked.headers(denied(0, 1, 60'000'000), HeaderStyle::kNone), "Retry-After: 1\r\n");
  // A cost above the capacity: no waiting helps, so none is named.
  EXPECT_EQ(asked.headers(denied(5, kNever_us, 0)),
            "RateLimit-Policy: \"login\";q=5;w=60\r\nRateLimit: \"login\";r=5;t=0\r\n");
}

TEST(LimitHeaders, NameThePolicyOfEachKindOfLimit) {
  struct Case {
    BoundLimit limit;
    std::string_view policy;
  };
  const Case cases[] = {
      {bound("100/s burst 200", "a"), "\"a\";q=200;w=2"},
      {bound("100/s burst 50", "a"), "\"a\";q=50;w=1"},
      {bound("7 per 3s", "a"), "\"a\";q=7;w=3"},
      {bound("3/s burst 10", "a"), "\"a\";q=10;w=4"},
      {bound("0/min", "a"), "\"a\";q=0;w=60"},
      {bound("10000/day", "api#2", Algorithm::kFixedWindow), "\"api#2\";q=10000;w=86400"},
      {bound("5 per 1500ms", "a", Algorithm::kSlidingLog), "\"a\";q=5;w=2"},
      {bound("5/s", "a \"b\" \\ gr\u00fcn\n"), "\"a \\\"b\\\" \\\\ gr%C3%BCn%0A\";q=5;w=1"},
  };
  for (const Case& c : cases) {
    const std::string headers = Asked({c.limit}).headers(allowed(1, 0));
    EXPECT_EQ(headers.substr(0, headers.find("\r\n")), "RateLimit-Policy: " + std::string(c.policy));
  }
}

TEST(LimitHeaders, PutTheBindingLimitFirstAndLeaveOutWhatDoesNotCount) {
  Asked asked({bound("100/s", "a#1"), bound("unlimited", "a#2"), bound("10/min", "b"), bound("5/h", "watch")});
  asked.charges[3].shadow = true;
  Answer answer = allowed(3, 1'000'000);
  answer.binding = 2;
  EXPECT_EQ(asked.headers(answer),
            "RateLimit-Policy: \"b\";q=10;w=60, \"a#1\";q=100;w=1\r\nRateLimit: \"b\";r=3;t=1\r\n");
  answer.binding = 3;
  EXPECT_EQ(asked.headers(answer), "");
  answer.binding = 1;
  EXPECT_EQ(asked.headers(answer, HeaderStyle::kXRateLimit), "");
}

/// Seconds in headers never promise more than there is: waits are rounded up and at least 1 on a denial.
TEST(Invariant25, HeadersRoundInTheClientsDisfavour) {
  EXPECT_TRUE(rc::check([] {
    const Micros retry_us =
        *rc::gen::oneOf(rc::gen::inRange<Micros>(1, 3'000'000), rc::gen::inRange<Micros>(1, 1LL << 50));
    const Micros reset_us = retry_us + *rc::gen::inRange<Micros>(0, 1LL << 50);
    const std::int64_t remaining = *rc::gen::inRange<std::int64_t>(0, 1LL << 32);
    const Asked asked({bound("5/min", "login")});
    const auto number_behind = [](const std::string& text, std::string_view name) {
      const std::size_t at = text.find(name);
      RC_ASSERT(at != std::string::npos);
      return std::stoll(text.substr(at + name.size()));
    };

    const std::string denial = asked.headers(denied(remaining, retry_us, reset_us));
    const std::int64_t retry_after = number_behind(denial, "Retry-After: ");
    RC_ASSERT(retry_after >= 1);
    RC_ASSERT(retry_after * kSecond_us >= retry_us);
    RC_ASSERT((retry_after - 1) * kSecond_us < retry_us);
    RC_ASSERT(number_behind(denial, ";t=") == retry_after);
    RC_ASSERT(number_behind(denial, ";r=") == remaining);

    const std::string admission = asked.headers(allowed(remaining, reset_us), HeaderStyle::kXRateLimit);
    RC_ASSERT(number_behind(admission, "Reset: ") * kSecond_us >= reset_us);
    RC_ASSERT(number_behind(admission, "Remaining: ") == remaining);
    RC_ASSERT(admission.find("Retry-After") == std::string::npos);
  }));
}

}  // namespace
}  // namespace ratel
