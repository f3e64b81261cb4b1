#include "net/server.h"

#include <gtest/gtest.h>

#include "net/signals.h"
#include "net/system_clock.h"
#include "net/line_testing.h"

// Here the threads are real, and so is time.

namespace ratel {
namespace {

class ServerTest : public testing::Test {
 protected:
  ~ServerTest() override { unlink(path_.c_str()); }

  void start(int workers, const Address& address) {
    server_ = std::make_unique<Server>(clock_, workers, [this](int) {
      return Worker::Options{
          .limits = {.connections_max = 64}, .tick = {}, .turn_ended = {}, .accept_failed = [this](int) { ++failed_; }};
    });
    std::vector<SessionFactory*> factories;
    factories_.resize(static_cast<std::size_t>(workers));
    for (LineFactory& factory : factories_) factories.push_back(&factory);
    auto names = server_->listen(address, false, factories, counts_);
    ASSERT_TRUE(names.ok()) << names.error().message;
    address_ = names->front();
    server_->start();
  }

  /// Blocks until `size` bytes have come, or the end.
  static std::string read(Peer& peer, std::size_t size) {
    std::string all;
    while (all.size() < size && !peer.ended()) {
      pollfd waits{.fd = peer.fd(), .events = POLLIN, .revents = 0};
      poll(&waits, 1, -1);
      all += peer.receive();
    }
    return all;
  }

  const std::string path_ = testing::TempDir() + "server_test." + std::to_string(getpid());
  SystemClock clock_;
  ListenerCounts counts_;
  std::atomic<int> failed_{0};
  std::vector<LineFactory> factories_;
  std::string address_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, EveryWorkerAnswersAndDrains) {
  for (const int workers : {1, 2, 4}) {
    for (const bool is_unix : {false, true}) {
      start(workers, is_unix ? Address{.path = path_} : Address{.host = "127.0.0.1"});
      std::vector<Peer> peers;
      for (int i = 0; i < 32; ++i) peers.emplace_back(address_);
      for (int round = 0; round < 20; ++round) {
        for (Peer& peer : peers) peer.send("ping\n");
        for (Peer& peer : peers) EXPECT_EQ(read(peer, 5), "ping\n");
      }
      EXPECT_EQ(counts_.open, peers.size());
      for (Peer& peer : peers) peer.send("last\n");
      server_->drain();
      for (Peer& peer : peers) EXPECT_EQ(read(peer, 100), "last\n");
      peers.clear();
      server_->join();
      EXPECT_TRUE(server_->drained());
      EXPECT_EQ(counts_.open, 0U);
      EXPECT_FALSE(Peer(address_).connected());
    }
  }
  EXPECT_EQ(failed_, 0);
}

TEST_F(ServerTest, WorkIsRunOnEachWorkersThread) {
  start(3, {.host = "127.0.0.1"});
  std::array<std::atomic<bool>, 3> ran{};
  std::atomic<int> left{3};
  server_->post([&](int worker) {
    ran[static_cast<std::size_t>(worker)] = true;
    --left;
    left.notify_one();
  });
  for (int now = left; now > 0; now = left) left.wait(now);
  for (const auto& one : ran) EXPECT_TRUE(one);
}

TEST_F(ServerTest, EndsAtOnceWithoutADrain) {
  start(2, {.host = "127.0.0.1"});
  Peer peer(address_);
  peer.send("later\n");
  server_.reset();
  EXPECT_EQ(read(peer, 1), "");
  EXPECT_EQ(counts_.open, 0U);
}

TEST(Signals, AreTakenOneAtATime) {
  const Signals signals;
  EXPECT_EQ(signals.wait(0), 0);
  for (const int signal : {SIGHUP, SIGTERM, SIGINT}) {
    raise(signal);
    EXPECT_EQ(signals.wait(kSecond_us), signal);
  }
  raise(SIGPIPE);
  EXPECT_EQ(signals.wait(1'000), 0);
}

TEST(SystemClock, ReadsBothClocks) {
  const SystemClock clock;
  const Instant before = clock.now();
  const std::int64_t between_ns = monotonic_ns();
  const Instant after = clock.now();
  EXPECT_LE(before.monotonic_us, between_ns / 1'000);
  EXPECT_LE(between_ns / 1'000, after.monotonic_us);
  EXPECT_GT(before.wall_us, 1'700'000'000 * kSecond_us);
}

}  // namespace
}  // namespace ratel
