#include "serve/resolver.h"

#include <gtest/gtest.h>

#include "base/prng.h"
#include "rules/load_rules.h"

namespace ratel {
namespace {

RuleBookPtr book_of(std::string text) {
  const RuleFile file{.name = "rules.yaml", .text = std::move(text)};
  Result<std::vector<Rule>> rules = load_rules({&file, 1});
  EXPECT_TRUE(rules.ok()) << rules.error().message;
  return std::make_shared<const RuleBook>(std::move(*rules));
}

constexpr const char* kRules = R"(
rules:
  login: { limit: 5/min }
  api: { limit: [100/s burst 200, 10000/day] }
  watch: { limit: 3/min, shadow: true }
  client: { limit: 10/min, key: ip }
  network: { limit: 10/min, key: ip, ipv6_prefix: 48 }
  books: { limit: 5/min, max_wait: 2s }
  orders: { limit: 5/min, max_wait: 3s }
  watched_books: { limit: 5/min, max_wait: 1s, shadow: true }
  free: { limit: unlimited }
  slots: { limit: 20 concurrent, lease: 10s }
  more_slots: { limit: 20 concurrent, lease: 40s }
)";

TEST(Resolver, MakesChargesOfRules) {
  Resolver resolver;
  resolver.use(book_of(kRules));
  Target target;
  ASSERT_TRUE(resolver.add_rules("login,api,watch", "k", target));
  ASSERT_EQ(target.charges.size(), 4U);
  const char* labels[] = {"login", "api#1", "api#2", "watch"};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(target.charges[i].limit->label, labels[i]);
    EXPECT_EQ(target.charges[i].key, "k");
    EXPECT_EQ(target.charges[i].shadow, i == 3);
    EXPECT_EQ(target.rules[i]->name, std::string(labels[i]).substr(0, i == 1 || i == 2 ? 3 : std::string::npos));
  }
}

TEST(Resolver, MakesOneKeyOfAnAddressHoweverWritten) {
  struct Case {
    const char *rule, *key, *expected;
  };
  const Case cases[] = {
      {"client", "192.0.2.1", "192.0.2.1"},
      {"client", "::ffff:192.0.2.1", "192.0.2.1"},
      {"client", "2001:DB8:1:2:3::1", "2001:db8:1:2::/64"},
      {"network", "2001:DB8:1:2:3::1", "2001:db8:1::/48"},
  };
  Resolver resolver;
  resolver.use(book_of(kRules));
  Target target;
  for (const Case& c : cases) {
    target.clear();
    ASSERT_TRUE(resolver.add_rule(c.rule, c.key, target)) << c.key;
    EXPECT_EQ(target.charges[0].key, c.expected) << c.key;
  }
  Target several;
  ASSERT_TRUE(resolver.add_rules("client,login,network", "2001:db8::1", several));
  EXPECT_EQ(several.charges[0].key, "2001:db8::/64");
  EXPECT_EQ(several.charges[1].key, "2001:db8::1");
  EXPECT_EQ(several.charges[2].key, "2001:db8::/48");
}

TEST(Resolver, NamesWhatIsWrong) {
  std::string many = "login";
  for (std::size_t i = 1; i < kChargesMax; ++i) many += ",login";
  const std::string long_text(kLimitTextBytesMax + 1, ' ');
  struct Case {
    bool is_limit;
    std::string text;
    ErrorCode code;
    std::string message;
  };
  const Case cases[] = {
      {false, "lgoin", ErrorCode::kUnknownRule, "unknown rule `lgoin`: did you mean `login`?"},
      {false, "payments", ErrorCode::kUnknownRule, "unknown rule `payments`"},
      {false, "", ErrorCode::kUnknownRule, "unknown rule ``"},
      {false, "login,", ErrorCode::kUnknownRule, "unknown rule ``"},
      {false, ",login", ErrorCode::kUnknownRule, "unknown rule ``"},
      {false, "login, api", ErrorCode::kUnknownRule, "unknown rule ` api`: did you mean `api`?"},
      {false, "client", ErrorCode::kBadArgument,
       "invalid key `k`: rule `client` is for IP addresses, and this is none"},
      {false, many + ",login", ErrorCode::kBadArgument, "too many limits: a question may name at most 16"},
      {true, "5/mn", ErrorCode::kBadArgument, "limit `5/mn`: position 3: expected a unit"},
      {true, long_text, ErrorCode::kBadArgument, "is longer than 128 bytes"},
  };
  Resolver resolver;
  resolver.use(book_of(kRules));
  for (const Case& c : cases) {
    Target target;
    const Status status =
        c.is_limit ? resolver.add_limit(c.text, "k", target) : resolver.add_rules(c.text, "k", target);
    ASSERT_FALSE(status) << c.text;
    EXPECT_EQ(status.error().code, c.code) << c.text;
    EXPECT_NE(status.error().message.find(c.message), std::string::npos) << status.error().message;
  }
  Target full;
  EXPECT_TRUE(resolver.add_rules(many, "k", full));
  EXPECT_EQ(full.charges.size(), kChargesMax);
  EXPECT_FALSE(resolver.add_limit("5/min", "k", full));
}

TEST(Resolver, IdentifiesALimitGivenInTheQuestionByWhatItMeans) {
  Resolver resolver;
  Target target;
  ASSERT_TRUE(resolver.add_limit("60/min", "k", target));
  ASSERT_TRUE(resolver.add_limit(" 60 per  1m ", "k", target));
  ASSERT_TRUE(resolver.add_limit("61/min", "k", target));
  EXPECT_EQ(target.charges[0].limit->identity, target.charges[1].limit->identity);
  EXPECT_NE(target.charges[0].limit->identity, target.charges[2].limit->identity);
  EXPECT_EQ(target.charges[0].limit->label, "60/min");
  EXPECT_EQ(target.rules[0], nullptr);
}

TEST(Resolver, ALimitOutlivesItsPlaceInTheCache) {
  Resolver resolver;
  Target target;
  ASSERT_TRUE(resolver.add_limit("7/min", "k", target));
  for (int count = 8; count < 20'000; ++count) {
    Target other;
    ASSERT_TRUE(resolver.add_limit(std::to_string(count) + "/min", "k", other));
    EXPECT_EQ(other.charges[0].limit->limit.count, count);
  }
  EXPECT_EQ(target.charges[0].limit->label, "7/min");
  Target again;
  ASSERT_TRUE(resolver.add_limit("7/min", "k", again));
  EXPECT_EQ(again.charges[0].limit->limit.count, 7);
}

TEST(Resolver, AQuestionKeepsTheBookItBeganWith) {
  Resolver resolver;
  resolver.use(book_of(kRules));
  Target target;
  ASSERT_TRUE(resolver.add_rule("login", "k", target));
  resolver.use(book_of("rules: { login: { limit: 6/min } }"));
  EXPECT_EQ(target.charges[0].limit->limit.count, 5);
  target.clear();
  ASSERT_TRUE(resolver.add_rule("login", "k", target));
  EXPECT_EQ(target.charges[0].limit->limit.count, 6);
}

TEST(Resolver, KnowsHowFarAheadAndHowLong) {
  struct Case {
    const char* rules;
    Micros max_wait_us, lease_us;
  };
  const Case cases[] = {
      {"books", 2 * kSecond_us, 30 * kSecond_us},
      {"orders,books", 2 * kSecond_us, 30 * kSecond_us},
      {"books,login", 0, 30 * kSecond_us},
      {"books,watch", 2 * kSecond_us, 30 * kSecond_us},  // a shadow rule holds nobody up
      {"watched_books", kMaxWaitMax_us, 30 * kSecond_us},
      {"books,free", 2 * kSecond_us, 30 * kSecond_us},
      {"slots", 0, 10 * kSecond_us},
      {"more_slots,slots", 0, 10 * kSecond_us},
  };
  Resolver resolver;
  resolver.use(book_of(kRules));
  for (const Case& c : cases) {
    Target target;
    ASSERT_TRUE(resolver.add_rules(c.rules, "k", target)) << c.rules;
    EXPECT_EQ(max_wait_of(target), c.max_wait_us) << c.rules;
    EXPECT_EQ(lease_of(target), c.lease_us) << c.rules;
  }
  Target target;
  ASSERT_TRUE(resolver.add_limit("20 concurrent", "k", target));
  EXPECT_EQ(lease_of(target), 30 * kSecond_us);
}

TEST(Resolver, LeaseIdsAreUniformDigits) {
  Prng prng(1);
  std::string one, other;
  make_lease_id(prng, one);
  make_lease_id(prng, other);
  EXPECT_EQ(one.size(), 32U);
  EXPECT_EQ(one.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(one, other);
}

TEST(Resolver, CountsDecisionsForTheRuleOfTheBindingLimit) {
  Rule rule;
  rule.series = 7;
  Target target;
  target.rules = {nullptr, &rule};
  target.charges.resize(2);
  struct Case {
    Verb verb;
    bool is_counted;
  };
  const Case cases[] = {
      {Verb::kAllow, true},   {Verb::kAtMost, true}, {Verb::kReserve, true},
      {Verb::kAcquire, true}, {Verb::kPeek, false},  {Verb::kRefund, false},
      {Verb::kReset, false},  {Verb::kRenew, false}, {Verb::kRelease, false},
  };
  for (const Case& c : cases) {
    LoopMetrics metrics;
    Answer answer;
    answer.decision.allowed = true;
    count_answer(metrics, target, c.verb, answer);
    answer.binding = 1;
    answer.decision.allowed = false;
    count_answer(metrics, target, c.verb, answer);
    EXPECT_EQ(metrics.decisions(kAdhocSeries, Outcome::kAllowed, Source::kExact), c.is_counted ? 1U : 0U);
    EXPECT_EQ(metrics.decisions(7, Outcome::kDenied, Source::kExact), c.is_counted ? 1U : 0U);
  }
}

TEST(Resolver, CountsWhatAShadowRuleSaysForThatRule) {
  Rule enforced;
  enforced.series = 7;
  Rule denying;
  denying.series = 8;
  denying.shadow = true;
  Rule allowing;
  allowing.series = 9;
  allowing.shadow = true;
  Target target;
  target.rules = {&denying, &denying, &enforced, &allowing};
  for (const Rule* rule : target.rules) target.charges.push_back({.shadow = rule->shadow});
  LoopMetrics metrics;
  Answer answer;
  answer.decision.allowed = true;
  answer.decision.would_deny = true;
  answer.violated = 0b10;
  answer.binding = 2;
  count_answer(metrics, target, Verb::kAllow, answer);
  struct Case {
    std::uint32_t series;
    Outcome outcome;
    std::uint64_t count;
  };
  const Case cases[] = {
      {7, Outcome::kAllowed, 1}, {7, Outcome::kWouldDeny, 0}, {8, Outcome::kWouldDeny, 1},
      {8, Outcome::kAllowed, 0}, {9, Outcome::kAllowed, 1},   {9, Outcome::kWouldDeny, 0},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(metrics.decisions(c.series, c.outcome, Source::kExact), c.count) << c.series;
  }
}

TEST(Resolver, CountsADegradedAnswerForWhomeverItConcerns) {
  constexpr auto kNone = StoreFault::kNone, kTimeout = StoreFault::kTimeout, kBadState = StoreFault::kBadState;
  struct Case {
    const char* what;
    StoreFault fault, shadow_fault;
    std::uint16_t faulty;
    std::uint8_t binding;
    std::uint32_t series[2];  // what has the count, one for each fault
  };
  // Charges: 0 of shadow rule 9, 1 of rule 7, 2 and 3 of rule 8, 4 of shadow rule 10.
  const Case cases[] = {
      {"the binding rule's", kTimeout, kNone, 0, 2, {8, 0}},
      {"the faulty one's, whichever binds", kBadState, kNone, 0b00010, 2, {7, 0}},
      {"the first of the faulty ones'", kBadState, kNone, 0b01010, 2, {7, 0}},
      {"not the shadow rule's with a fault of its own", kBadState, kBadState, 0b00101, 1, {8, 9}},
      {"not the binding rule's where a shadow rule's part failed", kNone, kBadState, 0b10000, 1, {0, 10}},
  };
  Rule rules[4];
  for (std::uint32_t i = 0; i < 4; ++i) rules[i].series = 7 + i, rules[i].shadow = i >= 2;
  Target target;
  target.rules = {&rules[2], &rules[0], &rules[1], &rules[1], &rules[3]};
  for (const Rule* rule : target.rules) target.charges.push_back({.shadow = rule->shadow});
  for (const Case& c : cases) {
    for (const Verb verb : {Verb::kAllow, Verb::kPeek, Verb::kRefund, Verb::kReset, Verb::kRenew, Verb::kRelease}) {
      LoopMetrics metrics;
      count_answer(metrics, target, verb,
                   {.binding = c.binding, .fault = c.fault, .faulty = c.faulty, .shadow_fault = c.shadow_fault});
      std::uint64_t all = 0;
      for (std::uint32_t series = 0; series < 12; ++series) {
        for (std::size_t f = 0; f < kStoreFaultCount; ++f) all += metrics.faults(series, static_cast<StoreFault>(f));
      }
      EXPECT_EQ(all, (c.fault != kNone ? 1U : 0U) + (c.shadow_fault != kNone ? 1U : 0U)) << c.what;
      if (c.fault != kNone) {
        EXPECT_EQ(metrics.faults(c.series[0], c.fault), 1U) << c.what;
      }
      if (c.shadow_fault != kNone) {
        EXPECT_EQ(metrics.faults(c.series[1], c.shadow_fault), 1U) << c.what;
      }
    }
  }
  // Each shadow rule makes a decision of its own, by a source of its own.
  LoopMetrics metrics;
  count_answer(
      metrics, target, Verb::kAllow,
      {.decision = {.allowed = true}, .binding = 1, .shadow_source = Source::kLocal, .shadow_fault = kTimeout});
  EXPECT_EQ(metrics.decisions(7, Outcome::kAllowed, Source::kExact), 1U);
  for (const std::uint32_t series : {9U, 10U}) {
    EXPECT_EQ(metrics.decisions(series, Outcome::kAllowed, Source::kLocal), 1U);
    EXPECT_EQ(metrics.faults(series, kTimeout), 1U);
  }
}

}  // namespace
}  // namespace ratel
