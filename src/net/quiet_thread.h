#pragma once
// Threads of a library, in a program that knows nothing of them.

#include <signal.h>

#include <functional>
#include <thread>
#include <utility>

#include "base/check.h"

namespace ratel {

/// A thread that is given no signal: the program's handlers run on the program's threads, and what is written to a
/// socket whose peer is gone is an error there and not the end of the process.
/// Throws as std::thread does, where the system has none to give.
inline std::thread start_quiet_thread(std::function<void()> body) {
  class NoSignals {
   public:
    NoSignals() {
      sigset_t all;
      sigfillset(&all);
      CHECK(pthread_sigmask(SIG_SETMASK, &all, &before_) == 0);
    }
    ~NoSignals() { CHECK(pthread_sigmask(SIG_SETMASK, &before_, nullptr) == 0); }

   private:
    sigset_t before_;
  };
  const NoSignals inherited;
  return std::thread(std::move(body));
}

}  // namespace ratel
