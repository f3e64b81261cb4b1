#pragma once
// An event loop on a thread of its own, and callers on any other threads who have something done there and wait for it.

#include <sys/types.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "net/event_loop.h"
#include "net/fd.h"

namespace ratel {

class LoopThread final : private EventLoop::Source {
 public:
  /// What a caller waits for; his, on his stack. So nothing is allocated, and no more wait than there are threads.
  class Errand {
   public:
    virtual ~Errand() = default;

    /// On the loop's thread, in a turn soon.
    virtual void begin() = 0;
    /// On the loop's thread, once, in begin() or later. The errand is gone when this returns.
    void finish();

   private:
    friend class LoopThread;
    void wait();

    Errand* next_ = nullptr;
    std::mutex mutex_;
    std::condition_variable finished_;
    bool is_finished_ = false;
  };

  /// `turn_ended` is called last in each turn, after the errands of it were begun.
  LoopThread(const Clock& clock, std::function<void()> turn_ended);
  /// Stopped.
  ~LoopThread();

  EventLoop& loop() { return loop_; }

  /// Starts the thread, and has `first` done on it, which may turn the loop to that end. Once.
  void start(Errand& first);
  /// Ends the thread after its turn. REQUIRES: no caller waits, and none will.
  void stop();

  /// Has the errand done and waits for its end, however long that takes. Any thread but the loop's own. REQUIRES:
  /// started, and is_here().
  void run(Errand& errand);

  /// Whether the thread exists in this process: a child that was forked has only the thread that forked.
  bool is_here() const;

 private:
  void ready(std::uint32_t events) override;
  void begin_errands();

  const std::function<void()> turn_ended_;
  const pid_t process_;
  EventLoop loop_;
  Fd wake_;  // an eventfd

  std::mutex mutex_;
  Errand* first_ = nullptr;  // those that nobody has begun yet, in the order they came
  Errand* last_ = nullptr;

  std::thread thread_;
};

}  // namespace ratel
