#pragma once
// Counters and histograms, and their Prometheus text.
//
// Each event loop writes a LoopMetrics of its own, without locks; a scrape on any thread sums them.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/durations.h"
#include "base/micros.h"
#include "base/store_fault.h"
#include "ratel/decision.h"

namespace ratel {

/// Why an input was not even a question.
enum class Rejected : std::uint8_t {
  kProtocol,
  kUnknownCommand,
  kBadArgument,
  kUnknownRule,
  kUnauthorized,
  kForbiddenOrigin,
  kTooLarge,
};
inline constexpr std::size_t kRejectedCount = 7;
inline constexpr std::size_t kSourceCount = 6;

/// How a decision is counted.
enum class Outcome : std::uint8_t { kAllowed, kDenied, kWouldDeny };
inline constexpr std::size_t kOutcomeCount = 3;

/// Rows of decisions. A rule has one of its own, by name, for as long as the process lives (Metrics::series).
inline constexpr std::uint32_t kThrottleSeries = 0;  // CL.THROTTLE
inline constexpr std::uint32_t kAdhocSeries = 1;     // limits given in the question
inline constexpr std::uint32_t kOtherSeries = 2;     // rules above the bound
inline constexpr std::uint32_t kSeriesMax = 10'240;  // every rule that may be loaded, and names that went

/// A counter with one writer and any readers: a plain addition for the writer, no lock prefix.
class Counter {
 public:
  void add(std::uint64_t n = 1) { value_.store(value() + n, std::memory_order_relaxed); }
  /// For what is counted elsewhere.
  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Durations with one writer and any readers.
class SharedDurations {
 public:
  void add(Micros took_us, std::uint64_t n) {
    counts_[Durations::bucket_of(took_us)].add(n);
    sum_us_.add(n * static_cast<std::uint64_t>(took_us));
  }
  /// For what is counted elsewhere.
  void set(const Durations& durations);
  void add_to(Durations& sum) const;

 private:
  std::array<Counter, Durations::kBuckets> counts_;
  Counter sum_us_;
};

/// Written by one event loop, read by any thread.
class LoopMetrics {
 public:
  /// Of how many turns the questions are told apart that are answered in one. There are as many as a store takes to
  /// answer; those that find no room are measured as if they had been asked with the last that did.
  static constexpr std::size_t kTurnsMax = 16;

  LoopMetrics() : rows_(kSeriesMax) {}

  /// `series` from Metrics::series, or one of the fixed ones.
  void decided(std::uint32_t series, bool allowed, bool would_deny, Source source) {
    const Outcome outcome = !allowed ? Outcome::kDenied : would_deny ? Outcome::kWouldDeny : Outcome::kAllowed;
    rows_[series < kSeriesMax ? series : kOtherSeries][index(outcome, source)].add();
  }
  /// What the store gave no answer to.
  void degraded(std::uint32_t series, StoreFault fault);
  void rejected(Rejected reason) { rejected_[static_cast<std::size_t>(reason)].add(); }

  /// A question that came in a turn that began then (monotonic) has its answer.
  void answered(Micros asked_us) {
    if (turns_ > 0 && (answered_[turns_ - 1].asked_us == asked_us || turns_ == kTurnsMax)) {
      ++answered_[turns_ - 1].count;
    } else {
      answered_[turns_++] = {asked_us, 1};
    }
  }
  /// All that were since the last call were in this turn, whose answers are sent now. The loop calls this; protocols do
  /// not.
  void sent(Micros now_us) {
    for (; turns_ > 0; --turns_) durations_.add(now_us - answered_[turns_ - 1].asked_us, answered_[turns_ - 1].count);
  }

  std::uint64_t decisions(std::uint32_t series, Outcome outcome, Source source) const {
    return rows_[series][index(outcome, source)].value();
  }
  std::uint64_t faults(std::uint32_t series, StoreFault fault) const {
    const FaultRow* rows = fault_rows_.load(std::memory_order_acquire);
    return rows == nullptr ? 0 : rows[series][static_cast<std::size_t>(fault)].value();
  }
  std::uint64_t rejections(Rejected reason) const { return rejected_[static_cast<std::size_t>(reason)].value(); }
  const SharedDurations& durations() const { return durations_; }

 private:
  static std::size_t index(Outcome outcome, Source source) {
    return static_cast<std::size_t>(outcome) * kSourceCount + static_cast<std::size_t>(source);
  }

  using Row = std::array<Counter, kOutcomeCount * kSourceCount>;
  using FaultRow = std::array<Counter, kStoreFaultCount>;
  std::vector<Row> rows_;
  // As many, made by the first fault: half a megabyte that a memory store never needs.
  std::unique_ptr<FaultRow[]> faults_;
  std::atomic<FaultRow*> fault_rows_{nullptr};
  std::array<Counter, kRejectedCount> rejected_;
  SharedDurations durations_;

  // The loop's own.
  struct Answered {
    Micros asked_us = 0;
    std::uint64_t count = 0;
  };
  std::array<Answered, kTurnsMax> answered_;
  std::size_t turns_ = 0;
};

/// What a collector reports at each scrape.
struct Sample {
  enum class Kind : std::uint8_t { kCounter, kGauge, kHistogram };
  std::string name;
  std::string help;
  Kind kind = Kind::kGauge;
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
  Durations durations = {};  // of a histogram
};

/// Thread-safe.
class Metrics {
 public:
  using Collector = std::function<void(std::vector<Sample>& samples)>;

  /// Where the store is elsewhere and can fail, every rule has its rows of that at zero: a rate has to see the first.
  explicit Metrics(bool store_can_fail = false) : store_can_fail_(store_can_fail) {}

  /// A loop's counters, which live as long as this.
  LoopMetrics& add_loop();

  /// The row of a rule: the same for the same name for ever. Names above kSeriesMax share kOtherSeries.
  std::uint32_t series(std::string_view rule);

  /// Called at each scrape, on the thread that scrapes. Samples of one name must have one help and kind.
  void collect(Collector collector);

  /// The Prometheus text exposition format, version 0.0.4.
  std::string text() const;

 private:
  const bool store_can_fail_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<LoopMetrics>> loops_;
  std::map<std::string, std::uint32_t, std::less<>> series_;
  std::vector<Collector> collectors_;
};

}  // namespace ratel
