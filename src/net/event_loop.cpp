#include "net/event_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/check.h"

namespace ratel {

EventLoop::EventLoop(const Clock& clock, Hooks hooks)
    : clock_(clock),
      hooks_(std::move(hooks)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      now_(clock.now()),
      next_tick_us_(now_.monotonic_us + kSecond_us),
      scratch_(kScratchBytes) {
  CHECK(epoll_ && wake_);
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  CHECK(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) == 0);
}

bool EventLoop::watch(int fd, std::uint32_t events, Source& source) {
  epoll_event event{.events = events, .data = {.ptr = &source}};
  return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void EventLoop::change(int fd, std::uint32_t events, Source& source) {
  epoll_event event{.events = events, .data = {.ptr = &source}};
  CHECK(epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) == 0);
}

void EventLoop::forget(int fd) { CHECK(epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr) == 0); }

void EventLoop::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
  }
  const std::uint64_t one = 1;
  CHECK(write(wake_.get(), &one, sizeof one) == sizeof one);
}

void EventLoop::run_posted() {
  std::uint64_t count = 0;
  if (read(wake_.get(), &count, sizeof count) < 0) return;
  std::vector<std::function<void()>> posted;
  {
    const std::lock_guard lock(mutex_);
    posted.swap(posted_);
  }
  for (auto& work : posted) work();
}

void EventLoop::turn(bool wait) {
  const Micros wait_us = std::max<Micros>(std::min(next_tick_us_, wake_us_) - now_.monotonic_us, 0);
  const int timeout_ms = wait ? static_cast<int>(ceil_div(wait_us, 1'000)) : 0;
  wake_us_ = INT64_MAX;
  std::array<epoll_event, kEventsMax> events;
  const int n = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  CHECK(n >= 0 || errno == EINTR);
  now_ = clock_.now();

  bool woken = false;
  for (int i = 0; i < n; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.ptr == nullptr) {
      woken = true;
    } else {
      static_cast<Source*>(event.data.ptr)->ready(event.events);
    }
  }
  // Work that is posted may destroy sources, so it waits until every event of this turn has met its own.
  if (woken) run_posted();
  if (now_.monotonic_us >= next_tick_us_) {
    next_tick_us_ = now_.monotonic_us + kSecond_us;
    hooks_.tick();
  }
  hooks_.turn_ended();
}

void EventLoop::run() {
  while (!stopped_) turn();
}

}  // namespace ratel
