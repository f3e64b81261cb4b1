#pragma once
// The signals a server lives by, taken one at a time by the thread that controls it.

#include <signal.h>

#include "base/micros.h"

namespace ratel {

/// Holds back SIGTERM, SIGINT and SIGHUP in this thread and those it starts later, for wait() to take, and ignores
/// SIGPIPE. One in a process, made before any other thread.
class Signals {
 public:
  Signals();

  /// The next signal, or 0 when none came within the time.
  int wait(Micros at_most_us) const;

 private:
  sigset_t taken_;
};

}  // namespace ratel
