#include "net/loop_thread.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/check.h"
#include "net/quiet_thread.h"

namespace ratel {

void LoopThread::Errand::finish() {
  // Told under the lock: as soon as that is free, the caller may go, and the errand with him.
  const std::lock_guard lock(mutex_);
  is_finished_ = true;
  finished_.notify_one();
}

void LoopThread::Errand::wait() {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [this] { return is_finished_; });
}

LoopThread::LoopThread(const Clock& clock, std::function<void()> turn_ended)
    : turn_ended_(std::move(turn_ended)),
      process_(::getpid()),
      loop_(clock, {.tick = [] {},
                    .turn_ended =
                        [this] {
                          begin_errands();
                          turn_ended_();
                        }}),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(wake_ && loop_.watch(wake_.get(), EPOLLIN, *this));
}

LoopThread::~LoopThread() {
  stop();
}

void LoopThread::start(Errand& first) {
  thread_ = start_quiet_thread([this, &first] {
    first.begin();
    loop_.run();
  });
  first.wait();
}

void LoopThread::stop() {
  if (!thread_.joinable()) return;
  loop_.post([this] { loop_.stop(); });
  thread_.join();
}

void LoopThread::run(Errand& errand) {
  bool sleeps;
  {
    const std::lock_guard lock(mutex_);
    // Who finds others waiting knows that they woke it.
    sleeps = first_ == nullptr;
    (sleeps ? first_ : last_->next_) = &errand;
    last_ = &errand;
  }
  if (sleeps) {
    const std::uint64_t one = 1;
    CHECK(::write(wake_.get(), &one, sizeof one) == sizeof one);
  }
  errand.wait();
}

bool LoopThread::is_here() const {
  return ::getpid() == process_;
}

void LoopThread::ready(std::uint32_t) {
  std::uint64_t count = 0;
  CHECK(::read(wake_.get(), &count, sizeof count) > 0 || errno == EAGAIN);
}

void LoopThread::begin_errands() {
  Errand* next;
  {
    const std::lock_guard lock(mutex_);
    next = std::exchange(first_, nullptr);
  }
  while (next != nullptr) {
    Errand* const errand = std::exchange(next, next->next_);  // it may be gone when it has begun
    errand->begin();
  }
}

}  // namespace ratel
