#pragma once
// One thread's turn: wait, read the clock, tell each ready descriptor's owner, run what was posted.
//
// Straight on epoll. Asio's reactor asks the kernel once more for each request (async_read_some tries to read before it
// waits, async_wait arms the descriptor anew), and at one request a turn a system call is a tenth of all there is.
//
// Everything but post() belongs to the thread that calls turn().

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "base/clock.h"
#include "net/fd.h"

namespace ratel {

class EventLoop {
 public:
  /// What one read brings at most: what a socket buffer usually holds; more only makes other connections wait.
  static constexpr std::size_t kScratchBytes = 64 * 1024;

  /// The owner of a descriptor.
  class Source {
   public:
    /// `events` as epoll gives them. May watch, change and forget its own descriptor, and destroy itself.
    virtual void ready(std::uint32_t events) = 0;

   protected:
    ~Source() = default;
  };

  struct Hooks {
    /// About once a second, also when nothing else happens.
    std::function<void()> tick;
    /// Last in each turn.
    std::function<void()> turn_ended;
  };

  EventLoop(const Clock& clock, Hooks hooks);

  /// Level-triggered. REQUIRES: `source` lives until forget(). False where the system watches no more descriptors.
  [[nodiscard]] bool watch(int fd, std::uint32_t events, Source& source);
  void change(int fd, std::uint32_t events, Source& source);
  void forget(int fd);

  /// The same all through a turn.
  Instant now() const { return now_; }

  /// Room for what one read brings; a loan for the length of a Source::ready.
  std::span<char> scratch() { return scratch_; }

  /// Runs `work` on the loop's thread, soon. For control only: it locks, allocates and wakes. Any thread.
  void post(std::function<void()> work);

  /// Ends the wait after this turn by then, for whoever has deadlines finer than the tick; to the millisecond above.
  void wake_by(Micros monotonic_us) { wake_us_ = std::min(wake_us_, monotonic_us); }

  /// One turn; waits at most until the next tick, or not at all.
  void turn(bool wait = true);

  /// Turns until stop().
  void run();
  void stop() { stopped_ = true; }

 private:
  void run_posted();

  static constexpr std::size_t kEventsMax = 256;

  const Clock& clock_;
  const Hooks hooks_;
  Fd epoll_;
  Fd wake_;  // an eventfd
  Instant now_;
  Micros next_tick_us_;
  Micros wake_us_ = INT64_MAX;  // of this turn alone
  bool stopped_ = false;
  std::vector<char> scratch_;

  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;  // by control, so a handful
};

}  // namespace ratel
