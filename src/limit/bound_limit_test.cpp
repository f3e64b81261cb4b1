#include "limit/bound_limit.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace ratel {
namespace {

Limit limit(const std::string& text, Algorithm algorithm = Algorithm::kGcra, bool calendar = false,
            const std::string& zone = "") {
  LimitSpec spec = *parse_limit(text);
  if (spec.algorithm == Algorithm::kGcra) spec.algorithm = algorithm;
  if (calendar) {
    spec.calendar = calendar_unit(spec.period_us);
    spec.zone = zone;
  }
  return *make_limit(spec);
}

TEST(Identity, IsOfPlaceAndAlgorithmAndNeverOfNumbers) {
  EXPECT_EQ(rule_identity("api", "1", limit("5/min")), rule_identity("api", "1", limit("900/h burst 7")));
  EXPECT_EQ(rule_identity("api", "1", limit("5 concurrent")), rule_identity("api", "1", limit("7 concurrent")));
  for (const Algorithm window : {Algorithm::kFixedWindow, Algorithm::kSlidingWindow, Algorithm::kSlidingLog}) {
    EXPECT_EQ(rule_identity("api", "1", limit("5/min", window)), rule_identity("api", "1", limit("7/min", window)));
    EXPECT_NE(rule_identity("api", "1", limit("5/min", window)), rule_identity("api", "1", limit("5/h", window)));
  }
}

// 26
TEST(Identity, IsAnotherForAnotherCounter) {
  const std::vector<std::string> identities{
      rule_identity("api", "1", limit("5/min")),
      rule_identity("api", "2", limit("5/min")),
      rule_identity("api", "daily", limit("5/min")),
      rule_identity("login", "1", limit("5/min")),
      rule_identity("", "", limit("5/min")),
      rule_identity("api1:1", "", limit("5/min")),
      // without lengths, or without what ends a length, these would be the same
      rule_identity("a:b", "", limit("5/min")),
      rule_identity("a", "b:", limit("5/min")),
      rule_identity("10abcdefgh", "Z", limit("5/min")),
      rule_identity("0", "abcdefgh1Z", limit("5/min")),
      rule_identity("api", "1", limit("5 concurrent")),
      rule_identity("api", "1", limit("5/day", Algorithm::kFixedWindow)),
      rule_identity("api", "1", limit("5/h", Algorithm::kFixedWindow)),
      rule_identity("api", "1", limit("5/day", Algorithm::kSlidingWindow)),
      rule_identity("api", "1", limit("5/day", Algorithm::kSlidingLog)),
      rule_identity("api", "1", limit("5/day", Algorithm::kFixedWindow, true)),
      rule_identity("api", "1", limit("5/day", Algorithm::kFixedWindow, true, "Asia/Tokyo")),
      adhoc_identity("5/min", limit("5/min")),
      adhoc_identity("6/min", limit("6/min")),
      adhoc_identity("5/min", limit("5/min", Algorithm::kFixedWindow)),
      std::string(throttle_identity()),
  };
  EXPECT_EQ(std::set<std::string>(identities.begin(), identities.end()).size(), identities.size());
}

TEST(Identity, KnowsUtcByBothItsNames) {
  EXPECT_EQ(rule_identity("api", "1", limit("5/day", Algorithm::kFixedWindow, true, "UTC")),
            rule_identity("api", "1", limit("5/day", Algorithm::kFixedWindow, true)));
}

// 26: whatever bytes names are made of, two pairs never run together.
RC_GTEST_PROP(Identity, NeverRunsTogether, ()) {
  const auto name = rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab:1{}#\0", 8)));
  const std::string rule = *name;
  const std::string which = *name;
  const std::string other_rule = *name;
  const std::string other_which = *name;
  const Limit any = limit("5/min");
  const bool same = rule == other_rule && which == other_which;
  RC_ASSERT((rule_identity(rule, which, any) == rule_identity(other_rule, other_which, any)) == same);
}

}  // namespace
}  // namespace ratel
