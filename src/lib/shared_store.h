#pragma once
// A store elsewhere, as the loops of one process use it: what they share, and what each has for itself. The server's
// and the library's alike.

#include <memory>
#include <optional>
#include <string>

#include "gate/heartbeat.h"
#include "gate/safe_store.h"
#include "net/name_resolver.h"
#include "net/random_seed.h"
#include "net/store_loop.h"
#include "net/tls_client.h"
#include "store/known_debts.h"
#include "store/local_share.h"

namespace ratel {

/// Of the process. Belongs to the thread that made it; loops use what it hands them.
class SharedStore {
 public:
  /// Of the memory for counts, what the debts that the store told of may take: enough for 131,072 counters at most. The
  /// rest is for what the process decides about alone, up to LocalShare's own bound.
  static constexpr std::size_t kDebtsShare = 16;  // one byte in so many
  static constexpr std::size_t kDebtsMax = 131'072;

  struct Options {
    StoreUrl url;
    TlsClientOptions tls;  // where the URL says so
    std::string sentinel_user;
    std::string sentinel_password;
    std::string key_prefix;
    std::uint64_t max_memory_bytes = 1 << 30;  // for counts; more than some 70 MiB is never taken
  };
  /// The error is of a file for TLS. REQUIRES: is_key_prefix(options.key_prefix).
  static Result<std::unique_ptr<SharedStore>> make(Options options, const Clock& clock);

  /// As people may see it, without the password.
  const std::string& name() const { return name_; }
  LocalShare& local() { return local_; }
  const HandshakeBudget& handshakes() const { return handshakes_; }

  /// What one event loop has for itself: its connections, its breaker. Belongs to that loop's thread once it runs.
  class Loop {
   public:
    Loop(SharedStore& shared, EventLoop& loop);

    /// This loop tells the store from now on that the process lives, and watches it. For one of a process's loops.
    void keep_heartbeat();

    Store& store() { return safe_; }
    const SafeStore& safe() const { return safe_; }
    const std::string& key_prefix() const { return shared_.options_.key_prefix; }
    /// The store itself, without failure modes.
    RedisStore& remote() { return remote_.store(); }
    /// The process ends: what was admitted without the store is charged to it now, if ever.
    void hurry() { safe_.hurry(); }
    /// In each turn, after whatever asks and before what has been answered is sent.
    void turn_ended();
    /// Empty where it answers.
    std::string why_not_ready();

    /// Turns the loop until one real question was asked and answered; else the error, in words that say what to change.
    /// REQUIRES: nobody else turns the loop.
    Status probe();
    /// Turns the loop until every question has a connection, for at most so long.
    void warm_up(Micros patience_us);

   private:
    /// The time of the loop's turn, which reads no clock.
    class TurnClock final : public Clock {
     public:
      explicit TurnClock(const EventLoop& loop) : loop_(loop) {}
      Instant now() const override { return loop_.now(); }

     private:
      const EventLoop& loop_;
    };

    SharedStore& shared_;
    EventLoop& loop_;
    const TurnClock turn_;
    SystemRandomness randomness_;
    StoreLoop remote_;
    SafeStore safe_;
    std::optional<Heartbeat> heartbeat_;
    Micros tidy_us_ = 0;  // when what the process decided about alone is looked through next
  };

  /// The same on a loop that lives no longer.
  Status probe();

 private:
  SharedStore(Options options, const Clock& clock, std::optional<TlsClient> tls);

  RedisStore::Options redis_options();

  const Options options_;
  const Clock& clock_;
  const std::uint64_t seed_;
  const std::string name_;
  const std::optional<TlsClient> tls_;
  KnownDebts debts_;
  LocalShare local_;
  NameResolver resolver_;
  HandshakeBudget handshakes_;
};

}  // namespace ratel
