#pragma once
// Decides alone, while the shared store cannot, with this process's share of each limit: limit / processes, beginning
// with the share of the debt that the store last told of. Keeps book of what it admits, so that it can be charged to
// the store when that is back.
//
// One a process, shared by its loops: thread-safe. Holds a bounded number of counters; where it is full, one that is
// near to being fresh makes room, and if something admitted alone is forgotten by that, it is counted.

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "limit/decide.h"
#include "store/known_debts.h"
#include "store/mutex.h"
#include "store/store_clock.h"

namespace ratel {

class LocalShare {
 public:
  struct Options {
    std::size_t counters_max = 65'536;
    std::size_t bytes_max = 64 << 20;  // of the counters, with their keys, which may be long, and their records
    Instant start;
  };

  LocalShare(const Options& options, const KnownDebts& debts);
  ~LocalShare();

  /// How many processes share the limits; the last number known while the store is away. At least 1.
  void set_processes(int processes) { processes_.store(processes, std::memory_order_relaxed); }
  int processes() const { return processes_.load(std::memory_order_relaxed); }

  /// The answer has the limit's own capacity, what is left of the share, and the source `local`. A concurrency limit
  /// denies: leases given out alone could not be told from those in the store. So does a cost above the share, which
  /// may fit once the store is back: retry_after is then kNever and the caller's to change.
  /// REQUIRES: a valid question, none of its charges unlimited, hashes filled.
  Answer ask(const Question& question, Instant now);

  /// What was admitted alone of one counter, beyond what has come back since.
  struct Owed {
    BoundLimit limit;
    std::string key;
    std::int64_t cost = 0;
  };
  /// Hands out at most `max` of what is owed, each once, and forgets it.
  void take_owed(Instant now, std::size_t max, std::vector<Owed>& owed);

  struct Stats {
    std::size_t counters = 0;
    std::size_t bytes = 0;
    std::uint64_t forgotten = 0;  // counters with something admitted alone that is never charged
  };
  Stats stats() const;

 private:
  struct Counter;
  struct HashOf {
    std::size_t operator()(const KnownDebts::Hash& hash) const { return hash[0]; }  // seeded where it was made
  };

  Counter& counter_of(const Charge& charge, StoreTime time, Micros now_us) RATEL_REQUIRES(mutex_);
  void begin(Counter& counter, StoreTime time, Micros now_us) RATEL_REQUIRES(mutex_);
  void make_room(StoreTime time) RATEL_REQUIRES(mutex_);
  void drop(std::size_t place) RATEL_REQUIRES(mutex_);

  const Options options_;
  const KnownDebts& debts_;
  StoreClock clock_;
  std::atomic<int> processes_{1};

  mutable Mutex mutex_;
  std::vector<std::unique_ptr<Counter>> counters_ RATEL_GUARDED_BY(mutex_);
  std::unordered_map<KnownDebts::Hash, std::size_t, HashOf> places_ RATEL_GUARDED_BY(mutex_);  // in counters_
  std::size_t bytes_ RATEL_GUARDED_BY(mutex_) = 0;
  std::size_t next_to_judge_ RATEL_GUARDED_BY(mutex_) = 0;
  std::uint64_t question_ RATEL_GUARDED_BY(mutex_) = 0;
  std::uint64_t forgotten_ RATEL_GUARDED_BY(mutex_) = 0;
};

}  // namespace ratel
