#include "net/signals.h"

#include <cerrno>
#include <initializer_list>

#include "base/check.h"

namespace ratel {

Signals::Signals() {
  sigemptyset(&taken_);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&taken_, signal);
  CHECK(pthread_sigmask(SIG_BLOCK, &taken_, nullptr) == 0);
  CHECK(::signal(SIGPIPE, SIG_IGN) != SIG_ERR);
}

int Signals::wait(Micros at_most_us) const {
  const timespec time{.tv_sec = at_most_us / kSecond_us, .tv_nsec = at_most_us % kSecond_us * 1'000};
  const int signal = sigtimedwait(&taken_, nullptr, &time);
  CHECK(signal > 0 || errno == EAGAIN || errno == EINTR);
  return signal > 0 ? signal : 0;
}

}  // namespace ratel
