#pragma once
// One event loop with its listeners and connections. Belongs to the thread that runs it; others may post to loop().

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/connection.h"
#include "net/event_loop.h"

namespace ratel {

class Worker {
 public:
  struct Options {
    ConnectionLimits limits;
    /// How long a drain may take before what is left is closed.
    Micros drain_us = 10 * kSecond_us;
    /// Of that, how long it goes on, when all connections are gone, for what is_settled says.
    Micros settle_us = 2 * kSecond_us;
    /// About once a second.
    std::function<void(Instant now)> tick;
    /// In each turn after what came in, and again after the answers went out, since whoever waited for room goes on
    /// then: for what questions wait for, as the connections to a store.
    std::function<void()> settle;
    /// When a drain begins.
    std::function<void(Instant now)> drain_began;
    /// In a drain: whether what was asked has left nothing to be done.
    std::function<bool()> is_settled;
    /// Last in each turn, when its answers are sent: the time (monotonic).
    std::function<void(Micros now_us)> turn_ended;
    /// A listener cannot accept (`error` is an errno) and pauses until the next tick.
    std::function<void(int error)> accept_failed;
  };

  /// `totals` are those of all workers.
  Worker(const Clock& clock, Options options, Totals& totals);
  ~Worker();

  /// Serves whoever connects. REQUIRES: before the first turn. `factory` and `counts` outlive the worker.
  void listen(Fd socket, SessionFactory& factory, ListenerCounts& counts);

  EventLoop& loop() { return loop_; }

  /// Until drain() is done.
  void run() { loop_.run(); }

  /// Takes no more connections, answers what has arrived, closes, and ends run().
  void drain();
  /// Closes all at once. REQUIRES: not running.
  void close();
  bool drained() const;

 private:
  class Listener;

  void tick();
  void turn_ended();

  const Clock& clock_;
  const Options options_;
  EventLoop loop_;
  Connections connections_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  bool draining_ = false;
  Micros drain_until_us_ = 0;
  Micros settle_until_us_ = 0;
};

}  // namespace ratel
