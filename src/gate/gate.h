#pragma once
// All that stands between a question and a store. One an event loop; not thread-safe.
//
// Checks what no store should have to check, answers unlimited limits without a store, and asks the shadow rules of a
// question apart from those that count, so that they can neither deny nor be denied.

#include <memory>
#include <vector>

#include "ratel/result.h"
#include "store/store.h"

namespace ratel {

/// Outlives every answer it owes.
class Gate {
 public:
  explicit Gate(Store& store);
  ~Gate();

  /// The first error of the question, if it has one: cost, key length, the same counter twice, too many limits, a verb
  /// that does not exist for an algorithm (the text names the one that does), limits that the store cannot decide in
  /// one step. Nothing is changed by a bad question. A good one is prepared (Store::prepare): call this for all
  /// questions of a batch, then ask() for each in order.
  Status prepare(Question& question);

  /// REQUIRES: prepare() succeeded for this very question.
  ///
  /// Where charges are unlimited or shadow, the answer's indices are still those of the question. Unlimited charges
  /// deny nothing and bind nothing, unless there are no others: then limit and remaining are kUnlimited. Shadow charges
  /// add would_deny, their bits of `violated` and `faulty`, and shadow_source and shadow_fault. A no for want of a
  /// store is no would_deny. Where all are shadow the answer is theirs, but for the verdict: the whole cost is allowed,
  /// at once.
  void ask(const Question& question, Instant now, Completion done);

 private:
  class Split;

  Store& store_;
  std::vector<std::unique_ptr<Split>> all_;
  std::vector<Split*> idle_;  // reused, so that asking allocates nothing after warm-up
};

}  // namespace ratel
