#include "net/loop_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "net/system_clock.h"

namespace ratel {
namespace {

/// Done in the turn that begins it, or a turn later.
class Note final : public LoopThread::Errand {
 public:
  Note(std::vector<LoopThread::Errand*>& later, bool at_once) : later_(later), at_once_(at_once) {}

  void begin() override {
    on = std::this_thread::get_id();
    if (at_once_) return finish();
    later_.push_back(this);
  }

  std::thread::id on;

 private:
  std::vector<LoopThread::Errand*>& later_;
  const bool at_once_;
};

TEST(LoopThread, DoesErrandsOfManyThreadsOnItsOwn) {
  const SystemClock clock;
  std::vector<LoopThread::Errand*> later;  // of the loop's thread
  LoopThread* its_own = nullptr;
  LoopThread thread(clock, [&] {
    if (later.empty()) return;
    // In another turn, since nothing else would wake the loop.
    its_own->loop().post([&] {
      for (LoopThread::Errand* errand : std::exchange(later, {})) errand->finish();
    });
  });
  its_own = &thread;
  Note first(later, true);
  thread.start(first);
  EXPECT_NE(first.on, std::this_thread::get_id());

  std::atomic<int> elsewhere{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&, at_once = i % 2 == 0] {
      for (int errand = 0; errand < 500; ++errand) {
        Note note(later, at_once);
        thread.run(note);
        if (note.on != first.on) ++elsewhere;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(elsewhere, 0);
  thread.stop();
  thread.stop();
}

TEST(LoopThread, TakesNoSignals) {
  class Mask final : public LoopThread::Errand {
   public:
    void begin() override {
      pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
      finish();
    }
    sigset_t blocked{};
  };
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  const SystemClock clock;
  LoopThread thread(clock, [] {});
  Mask mask;
  thread.start(mask);
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int signal : {SIGPIPE, SIGTERM, SIGCHLD, SIGUSR1}) {
    EXPECT_EQ(sigismember(&mask.blocked, signal), 1) << signal;
    EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal)) << signal;
  }
}

}  // namespace
}  // namespace ratel
