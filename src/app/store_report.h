#pragma once
// What a server tells of a store elsewhere: lines in the log, counts for a scrape. Thread-safe.

#include <atomic>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "lib/shared_store.h"
#include "observe/log.h"
#include "observe/metrics.h"

namespace ratel {

/// Of all loops of the process.
class StoreReport {
 public:
  /// Of one loop; belongs to its thread, but for what is published.
  class Loop {
   public:
    explicit Loop(StoreReport& report) : report_(report) {}

    /// Once a second: hands on what there is to say in the log, and publishes the counts.
    void tick(SharedStore::Loop& shared, Instant now, Log& log);

    /// What a scrape on any thread may read; a second old at most.
    struct Published {
      Counter opened, charged, lost;
      Counter retried, redirected, script_missing, late, clamped, healed, evicted;
      std::atomic<Micros> ahead_us{0};
      SharedDurations durations;
      std::atomic<bool> is_up{true};
    };
    const Published& published() const { return published_; }

   private:
    StoreReport& report_;
    SafeStore::Stats said_;  // what was handed on to be said
    bool was_up_ = true;
    std::uint64_t evicted_ = 0;  // keys, of which the log has spoken
    Published published_;
  };

  /// The loops have ended: what they tick now is the last they say, and waits for no second to pass.
  void end() { ends_ = true; }

 private:
  /// Which counter it was whose key holds something else, by the name it has in the store: who is short and plain
  /// stands there as in the store, everybody else as the same hash. One line a second, of the last such.
  void say_faulty(const SharedStore::Loop& shared, std::uint64_t answers, Instant now, Log& log);
  /// A line where the first loop stops asking, and where the last begins again.
  void loop_changed(bool is_up, const std::string& error, Log& log);
  /// What a loop answered without the store since it said so last, and why: with that of the other loops at most a line
  /// a second, however many there are.
  void say(const SafeStore::Stats& now_is, const SafeStore::Stats& was, const std::string& error, Instant now,
           Log& log);

  // Loops tell of themselves once a second, so they seldom meet here.
  std::mutex mutex_;
  SafeStore::Stats unsaid_;
  std::string unsaid_error_;
  Micros say_us_ = 0;  // not before
  std::uint64_t unsaid_faulty_ = 0;
  Micros say_faulty_us_ = 0;
  int loops_down_ = 0;
  bool ends_ = false;
};

}  // namespace ratel
