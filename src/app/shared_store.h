#pragma once
// A store elsewhere, as the loops of one server use it: what they share, and what each has for itself.

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
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

    /// Once a second: hands on what there is to say in the log, and publishes the counts.
    void tick(Log& log);
    /// Empty where it answers.
    std::string why_not_ready();

    /// What a scrape on any thread may read; a second old at most.
    struct Published {
      Counter opened, charged, lost;
      Counter retried, redirected, script_missing, late, clamped, healed;
      std::atomic<bool> is_up{true};
    };
    const Published& published() const { return published_; }

   private:
    SharedStore& shared_;
    EventLoop& loop_;
    SystemRandomness randomness_;
    StoreLoop remote_;
    SafeStore safe_;
    SafeStore::Stats said_;  // what was handed on to be said
    bool was_up_ = true;
    Published published_;
  };

 private:
  SharedStore(const Settings& settings, const Clock& clock, std::uint64_t seed, std::optional<TlsClient> tls);

  RedisStore::Options options();
  /// A line where the first loop stops asking, and where the last begins again.
  void loop_changed(bool is_up, const std::string& error, Log& log);
  /// What a loop answered without the store since it said so last, and why: with that of the other loops at most a line
  /// a second, however many there are.
  void say(const SafeStore::Stats& now_is, const SafeStore::Stats& was, const std::string& error, Instant now,
           Log& log);

  const Settings& settings_;
  const Clock& clock_;
  const std::uint64_t seed_;
  const std::string name_;
  const std::optional<TlsClient> tls_;
  KnownDebts debts_;
  LocalShare local_;
  NameResolver resolver_;

  // Loops tell of themselves once a second, so they seldom meet here.
  std::mutex mutex_;
  SafeStore::Stats unsaid_;
  std::string unsaid_error_;
  Micros say_us_ = 0;  // not before
  int loops_down_ = 0;
};

}  // namespace ratel
