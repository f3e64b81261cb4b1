#include "gate/check_question.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ratel {
namespace {

BoundLimit bound(const std::string& label, const std::string& text, Algorithm algorithm = Algorithm::kGcra,
                 Micros max_wait_us = 0) {
  LimitSpec spec = *parse_limit(text);
  if (spec.algorithm == Algorithm::kGcra) spec.algorithm = algorithm;
  BoundLimit limit{.limit = *make_limit(spec, max_wait_us), .identity = {}, .label = label};
  limit.identity = rule_identity(label, "1", limit.limit);
  return limit;
}

const BoundLimit kLogin = bound("login", "5/min");
const BoundLimit kQueue = bound("queue", "5/min", Algorithm::kGcra, 2 * kSecond_us);
const BoundLimit kDaily = bound("daily", "5/day", Algorithm::kFixedWindow);
const BoundLimit kSlots = bound("slots", "20 concurrent");
const BoundLimit kFree = bound("free", "unlimited");
const BoundLimit kLoginAgain = kLogin;

Charge charge(const BoundLimit& limit, std::string_view key = "k") {
  return {.limit = &limit, .key = key};
}

struct Case {
  const char* name;
  Question question;
  std::vector<Charge> charges;
  const char* error;  // empty: a good question
};

TEST(CheckQuestion, NamesFieldValueAndWhatWouldBeRight) {
  const std::string longest(kKeyBytesMax, 'k');
  const std::string longer(kKeyBytesMax + 1, 'k');
  const std::string id(kLeaseIdBytesMax, 'i');
  const std::string longer_id(kLeaseIdBytesMax + 1, 'i');
  std::vector<BoundLimit> many;
  for (std::size_t i = 0; i <= kChargesMax; ++i) many.push_back(bound("rule" + std::to_string(i), "1/s"));
  std::vector<Charge> too_many;
  for (const BoundLimit& limit : many) too_many.push_back(charge(limit));
  const std::vector<Charge> most(too_many.begin(), too_many.end() - 1);

  const std::vector<Case> cases{
      {"plain", {}, {charge(kLogin)}, ""},
      {"no limits", {}, {}, "limits: expected 1 to 16, got 0"},
      {"the most limits", {}, most, ""},
      {"too many limits", {}, too_many, "limits: expected 1 to 16, got 17"},
      {"cost 0", {.cost = 0}, {charge(kLogin)}, ""},
      {"negative cost", {.cost = -1}, {charge(kLogin)}, "cost: expected 0 to 2147483647, got -1"},
      {"the highest cost", {.cost = kCostMax}, {charge(kLogin)}, ""},
      {"a higher cost", {.cost = kCostMax + 1}, {charge(kLogin)}, "cost: expected 0 to 2147483647, got 2147483648"},
      {"empty key", {}, {charge(kLogin, "")}, ""},
      {"the longest key", {}, {charge(kLogin, longest)}, ""},
      {"a longer key", {}, {charge(kLogin, longer)}, "key: expected at most 4096 bytes, got 4097"},
      {"twice the same", {}, {charge(kLogin), charge(kLogin)}, "limits: login is named twice"},
      {"twice the same by identity", {}, {charge(kLogin), charge(kLoginAgain)}, "limits: login is named twice"},
      {"two keys", {}, {charge(kLogin, "a"), charge(kLogin, "b")}, ""},
      {"two limits", {}, {charge(kLogin), charge(kDaily)}, ""},
      {"allow leases",
       {.verb = Verb::kAllow},
       {charge(kSlots)},
       "ALLOW is not for a limit of concurrency (slots); use ACQUIRE"},
      {"allow leases beside others",
       {.verb = Verb::kAllow},
       {charge(kLogin), charge(kSlots)},
       "ALLOW is not for a limit of concurrency (slots); use ACQUIRE"},
      {"atmost leases",
       {.verb = Verb::kAtMost},
       {charge(kSlots)},
       "ATMOST is not for a limit of concurrency (slots); use ACQUIRE"},
      {"refund leases",
       {.verb = Verb::kRefund},
       {charge(kSlots)},
       "REFUND is not for a limit of concurrency (slots); use RELEASE"},
      {"reserve leases",
       {.verb = Verb::kReserve},
       {charge(kSlots)},
       "RESERVE is not for a limit of concurrency (slots); use ACQUIRE"},
      {"reserve a window",
       {.verb = Verb::kReserve},
       {charge(kDaily)},
       "RESERVE is not for a limit of fixed_window (daily); use ALLOW"},
      {"acquire a rate",
       {.verb = Verb::kAcquire, .lease_id = "i", .lease_us = 1},
       {charge(kLogin)},
       "ACQUIRE is not for a limit of gcra (login); use ALLOW"},
      {"renew a rate",
       {.verb = Verb::kRenew, .lease_id = "i", .lease_us = 1},
       {charge(kLogin)},
       "RENEW is not for a limit of gcra (login); use ALLOW"},
      {"release a rate",
       {.verb = Verb::kRelease, .lease_id = "i"},
       {charge(kLogin)},
       "RELEASE is not for a limit of gcra (login); use REFUND"},
      {"peek leases", {.verb = Verb::kPeek}, {charge(kSlots)}, ""},
      {"reset leases", {.verb = Verb::kReset}, {charge(kSlots)}, ""},
      {"any verb on unlimited", {.verb = Verb::kAcquire, .lease_id = "i", .lease_us = 1}, {charge(kFree)}, ""},
      {"at most with a wait",
       {.verb = Verb::kAtMost, .max_wait_us = 3 * kSecond_us},
       {charge(kQueue)},
       "max_wait: expected 0 to 2s, got 3s"},
      {"reserve within the wait", {.verb = Verb::kReserve, .max_wait_us = 2 * kSecond_us}, {charge(kQueue)}, ""},
      {"reserve beyond the wait",
       {.verb = Verb::kReserve, .max_wait_us = 3 * kSecond_us},
       {charge(kQueue)},
       "max_wait: expected 0 to 2s, got 3s"},
      {"reserve with a negative wait",
       {.verb = Verb::kReserve, .max_wait_us = -1},
       {charge(kQueue)},
       "max_wait: expected 0 to 2s, got -1us"},
      {"acquire", {.verb = Verb::kAcquire, .lease_id = id, .lease_us = kLeaseMax_us}, {charge(kSlots)}, ""},
      {"acquire without id",
       {.verb = Verb::kAcquire, .lease_us = 1},
       {charge(kSlots)},
       "id: expected 1 to 128 bytes, got 0"},
      {"acquire with a long id",
       {.verb = Verb::kAcquire, .lease_id = longer_id, .lease_us = 1},
       {charge(kSlots)},
       "id: expected 1 to 128 bytes, got 129"},
      {"acquire for no time",
       {.verb = Verb::kAcquire, .lease_id = id, .lease_us = 0},
       {charge(kSlots)},
       "ttl: expected 1us to 1d, got 0"},
      {"renew for too long",
       {.verb = Verb::kRenew, .lease_id = id, .lease_us = kLeaseMax_us + 1},
       {charge(kSlots)},
       "ttl: expected 1us to 1d, got 86400000001us"},
      {"release without id", {.verb = Verb::kRelease}, {charge(kSlots)}, "id: expected 1 to 128 bytes, got 0"},
      {"release", {.verb = Verb::kRelease, .lease_id = id}, {charge(kSlots)}, ""},
  };
  for (const Case& c : cases) {
    std::vector<Charge> charges = c.charges;
    Question question = c.question;
    question.charges = charges;
    const Status status = check_question(question);
    EXPECT_EQ(status.ok() ? "" : status.error().message, c.error) << c.name;
    if (!status.ok()) {
      const bool verb = status.error().message.find("; use ") != std::string::npos;
      EXPECT_EQ(status.error().code, verb ? ErrorCode::kWrongVerb : ErrorCode::kBadArgument) << c.name;
    }
  }
}

}  // namespace
}  // namespace ratel
