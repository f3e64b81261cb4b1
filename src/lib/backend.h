#pragma once
// Where the counts of a Limiter are. Any thread may call anything.

#include <cstdint>

#include "limit/question.h"
#include "ratel/limiter.h"

namespace ratel {

class Backend {
 public:
  virtual ~Backend() = default;

  /// REQUIRES: check_question() has nothing to say, and none of the limits is unlimited.
  virtual Result<Decision> ask(Question& question) = 0;
  virtual std::string why_not_exact() { return {}; }
  virtual std::uint64_t settle() { return 0; }
  virtual MemoryUse memory_use() const { return {}; }
  virtual void tidy() {}
};

}  // namespace ratel
