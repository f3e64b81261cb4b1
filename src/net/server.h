#pragma once
// The threads: a worker each, on one set of addresses.
//
// Belongs to the thread that made it, which also listens, starts, posts, drains and joins.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "net/listen.h"
#include "net/worker.h"

namespace ratel {

class Server {
 public:
  /// The hooks of Worker::Options are called on each worker's thread; `worker_options` is asked once for each worker.
  Server(const Clock& clock, int workers, const std::function<Worker::Options(int worker)>& worker_options);
  ~Server();

  int workers() const { return static_cast<int>(workers_.size()); }

  /// Opens one address for all workers, and returns the real ones. `factories[i]` serves worker i and outlives this.
  Result<std::vector<std::string>> listen(const Address& address, bool beyond_loopback,
                                          const std::vector<SessionFactory*>& factories, ListenerCounts& counts);

  /// What all connections hold. Any thread.
  std::size_t held_bytes() const { return totals_.held_bytes.load(std::memory_order_relaxed); }

  void start();
  /// Runs `work(i)` on the thread of each worker i.
  void post(const std::function<void(int worker)>& work);
  /// Begins to drain all workers.
  void drain();
  bool drained() const { return running_.load(std::memory_order_acquire) == 0; }
  /// Waits until all have drained.
  void join();
  /// Ends at once what still runs, and all connections. The loops stay, for whoever has descriptors on them.
  void stop();
  EventLoop& loop(int worker) { return workers_[static_cast<std::size_t>(worker)]->loop(); }

 private:
  void unlink_sockets();

  Totals totals_;
  std::atomic<int> running_{0};
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
  std::vector<std::string> socket_files_;
};

}  // namespace ratel
