#pragma once
// From what a request says to the counters it means: `login,api` or `LIMIT "5/min"`, and a key, become charges.
// One a event loop; not thread-safe. Used by every protocol, so that all of them mean the same.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "limit/question.h"
#include "rules/rule_book.h"

namespace ratel {

/// What a request asks about. Reused from question to question, so that after warm-up nothing is allocated.
struct Target {
  std::vector<Charge> charges;
  std::vector<const Rule*> rules;  // one a charge; nullptr for a limit given in the question
  std::vector<std::string> keys;   // canonical addresses that charges point into (`key: ip`)
  RuleBookPtr book;                // keeps what the charges point to

  void clear();
};

class Resolver {
 public:
  /// The rules in force from now on; questions under way keep theirs.
  void use(RuleBookPtr book);
  const RuleBookPtr& book() const { return book_; }

  /// Appends the charges of one rule. Errors: unknown rule (names the nearest), a key that is no address for `key: ip`.
  Status add_rule(std::string_view name, std::string_view key, Target& target);
  /// `rule[,rule...]`.
  Status add_rules(std::string_view names, std::string_view key, Target& target);
  /// A limit given with the question; gcra unless it says `concurrent`. Parsed texts are cached, within a bound.
  Status add_limit(std::string_view text, std::string_view key, Target& target);

 private:
  RuleBookPtr book_ = std::make_shared<const RuleBook>();
};

}  // namespace ratel
