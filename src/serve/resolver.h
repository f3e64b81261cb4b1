#pragma once
// From what a request says to the counters it means: `login,api` or `LIMIT "5/min"`, and a key, become charges.
// One a event loop; not thread-safe. Used by every protocol, so that all of them mean the same.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/randomness.h"
#include "limit/question.h"
#include "observe/metrics.h"
#include "rules/rule_book.h"

namespace ratel {

/// The longest text of a limit given in a question; the longest sensible one has a third of that.
inline constexpr std::size_t kLimitTextBytesMax = 128;

/// What a request asks about. Reused from question to question, so that after warm-up nothing is allocated.
///
/// The charges point to the key that was handed to the Resolver, which is the caller's to keep, and to limits that the
/// target itself keeps alive.
struct Target {
  std::vector<Charge> charges;
  std::vector<const Rule*> rules;  // one a charge; nullptr for a limit given in the question
  std::vector<std::string> keys;   // canonical addresses that charges point into (`key: ip`); the first keys_used
  std::size_t keys_used = 0;
  std::vector<std::shared_ptr<const BoundLimit>> limits;  // given in the question; shared with the cache of texts
  RuleBookPtr book;                                       // keeps what the charges point to

  /// Ready for the next question. Keeps the book, which the next one most often needs again: to let go of it and take
  /// it again are writes to a count that all loops share.
  void clear();
  /// At rest: lets go of the book unless it is the one in force.
  void rest(const RuleBook* in_force) {
    if (book.get() != in_force) book.reset();
  }
};

/// How far ahead a RESERVE of this may book: the least max_wait of the limits that count. Neither a shadow rule nor an
/// unlimited one holds anybody up.
Micros max_wait_of(const Target& target);
/// How long an answer may take: the least of its rules; of a limit given in the question, as of a rule that says
/// nothing.
Micros deadline_of(const Target& target);
/// How long a lease of this lives unless told: the least of its rules; of a limit given in the question, as of a rule
/// that says nothing.
Micros lease_of(const Target& target);
/// 128 random bits as 32 hexadecimal digits.
void make_lease_id(Randomness& randomness, std::string& id);

/// Counts an answer for the rule of its binding limit, and what each shadow rule would have said for that rule. As a
/// decision counts only what decides: a peek, a refund, a reset, a renewal and a release do not. As degraded counts
/// whatever the store did not answer: for the rule of the binding limit or, where what stands under a key is to blame,
/// of the first such key; and for each shadow rule so.
void count_answer(LoopMetrics& metrics, const Target& target, Verb verb, const Answer& answer);

class Resolver {
 public:
  /// `without_rule` is the failure mode of questions that name none.
  explicit Resolver(FailureMode without_rule = FailureMode::kLocal);

  FailureMode failure_mode_without_rule() const { return without_rule_; }

  /// The rules in force from now on; questions under way keep theirs.
  void use(RuleBookPtr book) { book_ = std::move(book); }
  const RuleBookPtr& book() const { return book_; }

  /// Appends the charges of one rule. Errors: unknown rule (names the nearest), a key that is no address for `key: ip`,
  /// more limits than a question may name. After an error the target holds nothing of use.
  Status add_rule(std::string_view name, std::string_view key, Target& target);
  /// `rule[,rule...]`.
  Status add_rules(std::string_view names, std::string_view key, Target& target);
  /// A limit given with the question; gcra unless it says `concurrent`. Parsed texts are cached, within a bound.
  Status add_limit(std::string_view text, std::string_view key, Target& target);

 private:
  /// A text's place is a hash of it; the newcomer takes the place. So the cache is bounded without any bookkeeping.
  struct CachedText {
    std::string text;
    std::shared_ptr<const BoundLimit> limit;
  };

  const FailureMode without_rule_;
  RuleBookPtr book_ = std::make_shared<const RuleBook>();
  std::vector<CachedText> cache_;
};

}  // namespace ratel
