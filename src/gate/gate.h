#pragma once
// All that stands between a question and a store. One a event loop; not thread-safe.
//
// Checks what no store should have to check, answers unlimited limits without a store, and asks the shadow rules of a
// question apart from those that count, so that they can neither deny nor be denied.

#include "ratel/result.h"
#include "store/store.h"

namespace ratel {

class Gate {
 public:
  explicit Gate(Store& store) : store_(store) {}

  /// The first error of the question, if it has one: cost, key length, the same counter twice, too many limits, a verb
  /// that does not exist for an algorithm (the text names the one that does). Nothing is changed by a bad question.
  /// A good one is prepared (Store::prepare): call this for all questions of a batch, then ask() for each in order.
  Status prepare(Question& question);

  /// REQUIRES: prepare() succeeded for this very question.
  void ask(const Question& question, Instant now, Completion done);

 private:
  Store& store_;
};

}  // namespace ratel
