#pragma once
// Decides alone, while the shared store cannot, with this process's share of each limit: limit / processes, beginning
// with the share of the debt that the store last told of. Keeps book of what it admits, so that it can be charged to
// the store when that is back.
//
// What it admitted keeps counting here when it was charged to the store, too, until it has come back: the store may be
// unable to take it, or fail again at once, and nobody is to begin afresh for that.
//
// One a process, shared by its loops: thread-safe. Holds a bounded number of counters; where it is full, one that is
// near to being fresh makes room, and if something admitted alone is forgotten by that, it is counted.

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "limit/decide.h"
#include "store/known_debts.h"
#include "store/mutex.h"
#include "store/store.h"
#include "store/store_clock.h"

namespace ratel {

class LocalShare {
 public:
  struct Options {
    /// More would make all loops wait too long when the table of them grows.
    std::size_t counters_max = 65'536;
    /// Of the counters, with their keys, which may be long, and their records. Logs together have half of it, one log a
    /// sixteenth. Passed by at most what one question adds.
    std::size_t bytes_max = 64 << 20;
    Instant start;
  };

  LocalShare(const Options& options, const KnownDebts& debts);
  ~LocalShare();

  /// How many processes share the limits; the last number known while the store is away. At least 1.
  void set_processes(int processes) { processes_.store(processes, std::memory_order_relaxed); }
  int processes() const { return processes_.load(std::memory_order_relaxed); }

  /// The answer has the limit's own capacity, what is left of the share, and the source `local`. A concurrency limit
  /// denies: leases given out alone could not be told from those in the store. So does a cost above the share, which
  /// may fit once the store is back: retry_after is then kNever and the caller's to change. Where a log has no room to
  /// grow, it denies, too, and the source is `failed_closed`.
  /// REQUIRES: a valid question, none of its charges unlimited, hashes filled.
  /// `part` of the store (Store::part_of) will be owed what it admits.
  Answer ask(const Question& question, Instant now, std::size_t part = 0);

  /// What was admitted alone of one counter, beyond what has come back since.
  struct Owed {
    BoundLimit limit;
    std::string key;
    KnownDebts::Hash hash{};
    std::int64_t cost = 0;
  };
  /// Hands out at most `max` of what is owed, each until it is settled. Looks at no more than kLooksMax counters, of
  /// which all may turn out to owe nothing any more; returns whether there are others to look at.
  bool take_owed(Instant now, std::size_t max, std::vector<Owed>& owed, std::size_t part = 0);

  /// For each that was handed out, once, when `done` units of it are no longer owed, because they are charged, or may
  /// be. What is left of it is owed again, as if it had stayed here: less what has come back, was refunded, or forgiven
  /// by a reset meanwhile.
  void settle(const Owed& owed, std::int64_t done, Instant now);

  /// Units admitted alone that are not handed out. Looks at all counters: for the end of the process.
  std::uint64_t owed(Instant now);

  /// Drops, of the next kTidiedMax counters, those that are as good as new and owe nothing. For once a second.
  void tidy(Instant now);
  static constexpr std::size_t kTidiedMax = 256;

  /// Some 20 us, in which all other loops may have to wait.
  static constexpr std::size_t kLooksMax = 64;
  /// How many counters may make room for one: some more than take the bytes of one with the longest key.
  static constexpr std::size_t kEvictionsMax = 16;

  struct Stats {
    std::size_t counters = 0;
    std::size_t owing = 0;  // of these, with something to hand out
    std::size_t away = 0;   // and those of which something is handed out and not settled
    std::size_t bytes = 0;
    std::size_t bytes_max = 0;
    std::uint64_t forgotten = 0;  // counters with something admitted alone that is never charged
  };
  Stats stats() const;

 private:
  struct Counter;
  /// Those with something to hand out.
  struct Owing {
    std::vector<Counter*> counters;
    std::size_t next = 0;  // whose turn it is
  };
  struct HashOf {
    std::size_t operator()(const KnownDebts::Hash& hash) const { return hash[0]; }  // seeded where it was made
  };

  Counter& counter_of(const Charge& charge, StoreTime time, Micros now_us) RATEL_REQUIRES(mutex_);
  void hear(Counter& counter, StoreTime time, Micros now_us) RATEL_REQUIRES(mutex_);
  bool forgives(const Counter& counter, Micros now_us) const RATEL_REQUIRES(mutex_);
  void book(Counter& counter, const Question& question, std::int64_t granted, StoreTime time) RATEL_REQUIRES(mutex_);
  void set_owing(Counter& counter, bool owing) RATEL_REQUIRES(mutex_);
  void measure(Counter& counter) RATEL_REQUIRES(mutex_);
  void make_room(StoreTime time) RATEL_REQUIRES(mutex_);
  void drop(std::size_t place) RATEL_REQUIRES(mutex_);

  const Options options_;
  const KnownDebts& debts_;
  StoreClock clock_;
  std::atomic<int> processes_{1};

  mutable Mutex mutex_;
  std::vector<std::unique_ptr<Counter>> counters_ RATEL_GUARDED_BY(mutex_);
  std::unordered_map<KnownDebts::Hash, std::size_t, HashOf> places_ RATEL_GUARDED_BY(mutex_);  // in counters_
  std::array<Owing, Store::kPartsMax> owing_ RATEL_GUARDED_BY(mutex_);                         // by part
  std::size_t bytes_ RATEL_GUARDED_BY(mutex_) = 0;
  std::size_t next_to_judge_ RATEL_GUARDED_BY(mutex_) = 0;
  std::size_t next_to_tidy_ RATEL_GUARDED_BY(mutex_) = 0;
  std::size_t away_ RATEL_GUARDED_BY(mutex_) = 0;
  std::uint64_t question_ RATEL_GUARDED_BY(mutex_) = 0;
  std::uint64_t forgotten_ RATEL_GUARDED_BY(mutex_) = 0;
};

}  // namespace ratel
