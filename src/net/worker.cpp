#include "net/worker.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace ratel {
namespace {

/// Empty for a Unix socket.
std::string_view text_of(const sockaddr_storage& peer, char (&text)[INET6_ADDRSTRLEN]) {
  const void* address = nullptr;
  if (peer.ss_family == AF_INET) address = &reinterpret_cast<const sockaddr_in&>(peer).sin_addr;
  if (peer.ss_family == AF_INET6) address = &reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  if (address == nullptr || inet_ntop(peer.ss_family, address, text, sizeof text) == nullptr) return {};
  return text;
}

}  // namespace

class Worker::Listener final : public EventLoop::Source {
 public:
  Listener(Worker& worker, Fd socket, SessionFactory& factory, ListenerCounts& counts)
      : worker_(worker), socket_(std::move(socket)), factory_(factory), counts_(counts) {
    resume();
  }
  ~Listener() {
    if (!paused_) worker_.loop_.forget(socket_.get());
  }

  void ready(std::uint32_t) override {
    for (int i = 0; i < kAcceptsPerTurn; ++i) {
      if (!accept()) return;
    }
  }

  /// All that the kernel has accepted for us already; they would be reset with the socket.
  void take_the_rest() {
    for (int i = 0; i < kBacklog && !paused_ && accept(); ++i) {
    }
  }

  void resume() {
    // Loops that share a socket are not all to wake for one connection. What cannot be watched now is tried again.
    if (paused_) paused_ = !worker_.loop_.watch(socket_.get(), EPOLLIN | EPOLLEXCLUSIVE, *this);
  }

 private:
  /// Whether another try makes sense.
  bool accept() {
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    Fd fd(accept4(socket_.get(), reinterpret_cast<sockaddr*>(&peer), &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd) {
      char text[INET6_ADDRSTRLEN];
      worker_.connections_.add(std::move(fd), text_of(peer, text), factory_, counts_);
      return true;
    }
    switch (errno) {
      case EAGAIN:
        return false;
      case EMFILE:
      case ENFILE:
      case ENOBUFS:
      case ENOMEM:
        pause(errno);
        return false;
      default:
        return true;  // that one peer is gone
    }
  }

  /// The connection stays in the backlog and would wake the loop over and over.
  void pause(int error) {
    counts_.accept_failures.fetch_add(1, std::memory_order_relaxed);
    paused_ = true;
    worker_.loop_.forget(socket_.get());
    if (worker_.options_.accept_failed) worker_.options_.accept_failed(error);
  }

  Worker& worker_;
  Fd socket_;
  SessionFactory& factory_;
  ListenerCounts& counts_;
  bool paused_ = true;
};

Worker::Worker(const Clock& clock, Options options, Totals& totals)
    : clock_(clock),
      options_(std::move(options)),
      loop_(clock, {.tick = [this] { tick(); }, .turn_ended = [this] { turn_ended(); }}),
      connections_(loop_, options_.limits, totals) {}

Worker::~Worker() {
  close();
}

void Worker::close() {
  listeners_.clear();
  connections_.close_all();
}

void Worker::listen(Fd socket, SessionFactory& factory, ListenerCounts& counts) {
  listeners_.push_back(std::make_unique<Listener>(*this, std::move(socket), factory, counts));
}

void Worker::drain() {
  if (std::exchange(draining_, true)) return;
  const Instant now = loop_.now();
  drain_until_us_ = now.monotonic_us + options_.drain_us;
  settle_until_us_ = now.monotonic_us + std::min(options_.settle_us, options_.drain_us);
  for (const auto& listener : listeners_) listener->take_the_rest();
  listeners_.clear();
  connections_.drain();
  if (options_.drain_began) options_.drain_began(now);
}

bool Worker::drained() const {
  if (!draining_ || !connections_.empty()) return false;
  return !options_.is_settled || loop_.now().monotonic_us >= settle_until_us_ || options_.is_settled();
}

void Worker::tick() {
  connections_.tick();
  for (const auto& listener : listeners_) listener->resume();
  if (draining_ && loop_.now().monotonic_us >= drain_until_us_) connections_.close_all();
  if (options_.tick) options_.tick(loop_.now());
}

void Worker::turn_ended() {
  if (options_.settle) options_.settle();
  connections_.turn_ended();
  if (options_.settle) options_.settle();
  if (options_.turn_ended) options_.turn_ended(clock_.now().monotonic_us);
  if (drained()) loop_.stop();
}

}  // namespace ratel
