#pragma once
// What makes a question bad, whatever store it goes to. Pure; any thread.

#include "limit/question.h"
#include "ratel/result.h"

namespace ratel {

/// The first error. Each names the field, the value and what would be right.
Status check_question(const Question& question);

}  // namespace ratel
