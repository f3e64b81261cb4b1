#pragma once
// All of a running server but its signals and files: store, counters, and for each event loop its gate, rules and
// sessions. Built by hand, here; who reads this has read the program.
//
// Belongs to the thread that made it. What an event loop owns is touched on its thread only.

#include <memory>
#include <string>
#include <vector>

#include "app/settings.h"
#include "app/store_report.h"
#include "app/store_secrets.h"
#include "base/clock.h"
#include "lib/shared_store.h"
#include "net/random_seed.h"
#include "net/server.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "serve/http_session.h"
#include "serve/resp_session.h"
#include "store/memory_store.h"

namespace ratel {

class Engine {
 public:
  struct Options {
    int loops = 1;
    std::uint64_t max_memory_bytes = 0;
    std::uint64_t seed = 0;  // of the store alone: nothing that anybody sees may be drawn from it
  };

  /// `shared` is the store elsewhere, nullptr where counts live here. All loans.
  Engine(const Settings& settings, const Options& options, const Clock& clock, Log& log, SharedStore* shared);
  ~Engine();

  /// Waits, for at most `patience_us`, until every loop can ask the store. REQUIRES: before listen().
  void warm_up(Micros patience_us);

  /// Opens what the settings name. The error is one line.
  Status listen();

  /// The rules in force: for each loop from its next turn on. Before start(), or while it runs.
  void use(const RuleBookPtr& book);

  void start();
  void drain() { server_.drain(); }
  bool drained() const { return server_.drained(); }
  /// Waits for the loops to end, and has them say what they have not yet.
  void join();
  /// Units that were admitted without the store and not charged to it, or not surely. REQUIRES: join()ed.
  std::uint64_t uncharged() const;

  Metrics& metrics() { return metrics_; }
  /// Where it listens, as `host:port`, several with commas between; `off`.
  const std::string& resp_address() const { return resp_.address; }
  const std::string& http_address() const { return http_.address; }

 private:
  /// What one event loop has for itself.
  struct Loop {
    Loop(Engine& engine, EventLoop& loop);

    std::unique_ptr<SharedStore::Loop> shared;  // where the store is elsewhere
    StoreReport::Loop report;                   // of it
    StoreSecrets secrets;                       // of it
    Gate gate;
    Resolver resolver;
    LoopMetrics& metrics;
    SystemRandomness randomness;
    SparseLog accept_failures;
    RespSessionFactory resp;
    HttpSessionFactory http;
  };

  struct Listener {
    std::string address = "off";
    ListenerCounts counts;
  };

  Worker::Options worker_options(int loop);
  template <typename Factory>
  Status listen(const std::optional<Address>& address, bool has_secret, Factory Loop::*factory, Listener& listener);
  ServerFacts facts() const;
  void collect(std::vector<Sample>& samples) const;
  void collect_table(std::vector<Sample>& samples) const;
  void collect_store(std::vector<Sample>& samples) const;

  const Settings& settings_;
  const Clock& clock_;
  Log& log_;
  const Instant start_;
  const std::size_t held_bytes_max_;  // of input and output
  SharedStore* const shared_;
  StoreReport report_;
  MemoryStore store_;  // unused where the store is elsewhere
  Metrics metrics_;
  Listener resp_;
  Listener http_;
  bool running_ = false;
  Server server_;  // stopped before the loops end, which have descriptors on it
  std::vector<std::unique_ptr<Loop>> loops_;
};

}  // namespace ratel
