#pragma once
// Real questions to a store, one at a time and each waited for: what `doctor` measures and `show` peeks with. One
// thread, which may block.

#include <string>

#include "app/settings.h"
#include "net/random_seed.h"
#include "net/store_access.h"
#include "net/store_loop.h"

namespace ratel {

class StoreAsker {
 public:
  /// How long a first answer may take: twice what a connection may take to come to be.
  static constexpr Micros kFirst_us = 2 * kSecond_us;

  /// The access outlives it. REQUIRES: settings.store
  StoreAsker(StoreAccess& access, const Settings& settings);

  struct Asked {
    Answer answer;
    Micros took_us = 0;
  };
  /// The answer's fault says why there is none. REQUIRES: the question is valid and names no unlimited limit.
  Asked ask(Question question);
  /// Again and again until it is answered, or kFirst_us are over.
  Answer ask_at_last(const Question& question);

  /// What went wrong last, in words.
  std::string last_error(const Answer& answer);

 private:
  StoreAccess& access_;
  SystemRandomness randomness_;
  StoreLoop store_;
};

}  // namespace ratel
