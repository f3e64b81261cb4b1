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

/// Written by one event loop, read by any thread.
class LoopMetrics {
 public:
  /// Upper bounds of the histogram's buckets; one more counts all that took longer.
  static constexpr std::array<Micros, 16> kBounds_us = {1,   2,     5,     10,    20,     50,     100,     200,
                                                        500, 1'000, 2'000, 5'000, 10'000, 50'000, 200'000, 1'000'000};

  LoopMetrics() : rows_(kSeriesMax), faults_(kSeriesMax) {}

  /// `series` from Metrics::series, or one of the fixed ones.
  void decided(std::uint32_t series, bool allowed, bool would_deny, Source source) {
    const Outcome outcome = !allowed ? Outcome::kDenied : would_deny ? Outcome::kWouldDeny : Outcome::kAllowed;
    rows_[series < kSeriesMax ? series : kOtherSeries][index(outcome, source)].add();
    ++unmeasured_;
  }
  /// Besides decided(), where the store gave no decision.
  void degraded(std::uint32_t series, StoreFault fault) {
    faults_[series < kSeriesMax ? series : kOtherSeries][static_cast<std::size_t>(fault)].add();
  }
  void rejected(Rejected reason) { rejected_[static_cast<std::size_t>(reason)].add(); }

  /// All decided since the last call were, in a turn of the loop that took this long from waking up to the last answer
  /// sent. The loop calls this; protocols do not.
  void answered(Micros took_us) {
    if (unmeasured_ != 0) measure(took_us);
  }

  std::uint64_t decisions(std::uint32_t series, Outcome outcome, Source source) const {
    return rows_[series][index(outcome, source)].value();
  }
  std::uint64_t faults(std::uint32_t series, StoreFault fault) const {
    return faults_[series][static_cast<std::size_t>(fault)].value();
  }
  std::uint64_t rejections(Rejected reason) const { return rejected_[static_cast<std::size_t>(reason)].value(); }
  std::uint64_t in_bucket(std::size_t bucket) const { return buckets_[bucket].value(); }
  std::uint64_t sum_us() const { return sum_us_.value(); }

 private:
  static std::size_t index(Outcome outcome, Source source) {
    return static_cast<std::size_t>(outcome) * kSourceCount + static_cast<std::size_t>(source);
  }
  void measure(Micros took_us);

  using Row = std::array<Counter, kOutcomeCount * kSourceCount>;
  std::vector<Row> rows_;
  std::vector<std::array<Counter, kStoreFaultCount>> faults_;  // as rows_
  std::array<Counter, kRejectedCount> rejected_;
  std::array<Counter, kBounds_us.size() + 1> buckets_;
  Counter sum_us_;
  std::uint64_t unmeasured_ = 0;  // the loop's own
};

/// What a collector reports at each scrape.
struct Sample {
  enum class Kind : std::uint8_t { kCounter, kGauge };
  std::string name;
  std::string help;
  Kind kind = Kind::kGauge;
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

/// Thread-safe.
class Metrics {
 public:
  using Collector = std::function<void(std::vector<Sample>& samples)>;

  /// A loop's counters, which live as long as this.
  LoopMetrics& add_loop();

  /// The row of a rule: the same for the same name for ever. Names above kSeriesMax share kOtherSeries.
  std::uint32_t series(std::string_view rule);

  /// Called at each scrape, on the thread that scrapes. Samples of one name must have one help and kind.
  void collect(Collector collector);

  /// The Prometheus text exposition format, version 0.0.4.
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<LoopMetrics>> loops_;
  std::map<std::string, std::uint32_t, std::less<>> series_;
  std::vector<Collector> collectors_;
};

}  // namespace ratel
