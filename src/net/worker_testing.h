#pragma once
// For tests: a worker whose peers have real sockets, while time is not: one thread plays the peers and turns the loop.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "net/line_testing.h"
#include "net/listen.h"
#include "net/worker.h"

namespace ratel {

class WorkerTest : public testing::Test {
 protected:
  static constexpr Micros kIdle_us = 60 * kSecond_us;

  Worker& worker() {
    if (worker_ == nullptr) {
      Worker::Options options{.limits = limits_, .drain_us = 5 * kSecond_us, .tick = {}, .turn_ended = {}};
      options.drain_began = [this](Instant) { ++drains_; };
      options.is_settled = [this] { return settled_; };
      options.accept_failed = [this](int error) { failures_.push_back(error); };
      worker_ = std::make_unique<Worker>(clock_, std::move(options), totals_);
      auto listening = small_buffers_ ? listen_on({.path = socket_path()}, {}) : listen_on({.host = "127.0.0.1"}, {});
      CHECK(listening.ok());
      address_ = listening->front().address;
      worker_->listen(std::move(listening->front().sockets[0]), *serves_, counts_);
    }
    return *worker_;
  }

  ~WorkerTest() override { unlink(socket_path().c_str()); }

  static std::string socket_path() { return testing::TempDir() + "worker_test." + std::to_string(getpid()); }

  Peer connect() {
    worker();
    Peer peer(address_);
    CHECK(peer.connected());
    turns();
    return peer;
  }

  /// Until nothing is ready any more.
  void turns() {
    for (int i = 0; i < 20; ++i) worker().loop().turn(false);
  }

  void pass(Micros us) {
    for (; us > 0; us -= kSecond_us) {
      clock_.advance_us(std::min(us, kSecond_us));
      turns();
    }
  }

  /// Reads until `size` bytes have come or the server has ended.
  std::string read(Peer& peer, std::size_t size, std::size_t at_once = 1 << 20) {
    std::string all;
    for (int idle = 0; all.size() < size && !peer.ended() && idle < 2'000;) {
      worker().loop().turn(false);
      const std::string some = peer.receive(at_once);
      all += some;
      pollfd waits{.fd = peer.fd(), .events = POLLIN, .revents = 0};
      if (some.empty()) idle += poll(&waits, 1, 1) == 0 ? 1 : 0;
    }
    return all;
  }
  std::string read_to_end(Peer& peer) { return read(peer, std::string::npos); }

  ManualClock clock_{{.monotonic_us = 1'000 * kSecond_us, .wall_us = 0}};
  ConnectionLimits limits_{.idle_us = kIdle_us, .greeting_us = 1'000 * kSecond_us};
  bool small_buffers_ = false;  // a Unix socket, on which no clock of TCP's waits for windows to open
  Totals totals_;
  LineFactory factory_;
  SessionFactory* serves_ = &factory_;  // outlives worker_
  ListenerCounts counts_;
  std::string address_;
  std::vector<int> failures_;
  int drains_ = 0;
  bool settled_ = true;  // what questions left behind
  std::unique_ptr<Worker> worker_;
};

}  // namespace ratel
