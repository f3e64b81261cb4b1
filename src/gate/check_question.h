#pragma once
// What can be said of a question whatever store it goes to: what makes it bad, whether it grants. Pure; any thread.

#include "limit/question.h"
#include "ratel/result.h"

namespace ratel {

/// The first error. Each names the field, the value and what would be right.
Status check_question(const Question& question);

/// Whether `verb` answers to a cost with a grant of it.
constexpr bool grants_cost(Verb verb) {
  return verb != Verb::kRefund && verb != Verb::kReset && verb != Verb::kRenew && verb != Verb::kRelease;
}

}  // namespace ratel
