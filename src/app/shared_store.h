#pragma once
// A store elsewhere, as the loops of one server use it: what they share, and what each has for itself.

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "app/settings.h"
#include "gate/safe_store.h"
#include "net/name_resolver.h"
#include "net/random_seed.h"
#include "net/store_loop.h"
#include "net/tls_client.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "store/known_debts.h"
#include "store/local_share.h"

namespace ratel {

/// Of the process. Belongs to the thread that made it; loops use what it hands them.
class SharedStore {
 public:
  /// How many counters this process remembers the debt of, should it have to decide alone: 5 MiB.
  static constexpr std::size_t kKnownDebts = 131'072;

  /// The error is of a file for TLS. REQUIRES: settings.store.
  static Result<std::unique_ptr<SharedStore>> make(const Settings& settings, const Clock& clock, std::uint64_t seed);

  /// One real question, asked and answered, or the error, in words that say what to change.
  Status probe();

  /// As people may see it, without the password.
  const std::string& name() const { return name_; }
  const LocalShare& local() const { return local_; }

  /// What one event loop has for itself: its connections, its breaker. Belongs to that loop's thread once it runs.
  class Loop {
   public:
    Loop(SharedStore& shared, EventLoop& loop);

    Store& store() { return safe_; }
    /// The store itself, without failure modes.
    RedisStore& remote() { return remote_.store(); }
    /// In each turn, after whatever asks and before what has been answered is sent.
    void turn_ended();

    /// Once a second: says in the log what was answered without the store, and publishes the counts.
    void tick(Log& log);
    /// Empty where it answers.
    std::string why_not_ready();

    /// What a scrape on any thread may read; a second old at most.
    struct Published {
      std::array<Counter, kStoreFaultCount> faults;
      Counter opened, charged, lost;
      Counter retried, redirected, script_missing, late, clamped, healed;
      std::atomic<int> state{0};  // SafeStore::State
    };
    const Published& published() const { return published_; }

   private:
    EventLoop& loop_;
    SystemRandomness randomness_;
    StoreLoop remote_;
    SafeStore safe_;
    SafeStore::Stats said_;  // what the log has said of
    Published published_;
  };

 private:
  SharedStore(const Settings& settings, const Clock& clock, std::uint64_t seed, std::optional<TlsClient> tls);

  RedisStore::Options options();

  const Settings& settings_;
  const Clock& clock_;
  const std::uint64_t seed_;
  const std::string name_;
  const std::optional<TlsClient> tls_;
  KnownDebts debts_;
  LocalShare local_;
  NameResolver resolver_;
};

}  // namespace ratel
