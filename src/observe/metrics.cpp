#include "observe/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <limits>
#include <sstream>

namespace ratel {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr std::uint32_t kFirstRule = kOtherSeries + 1;

constexpr std::array<const char*, kRejectedCount> kRejectedNames = {
    "protocol", "unknown_command", "bad_argument", "unknown_rule", "unauthorized", "forbidden_origin", "too_large"};
constexpr std::array<const char*, kOutcomeCount> kOutcomeNames = {"allowed", "denied", "would_deny"};

MetricFamily family(std::string name, std::string help, MetricType type) {
  return {std::move(name), std::move(help), type, {}};
}

ClientMetric counter(std::vector<ClientMetric::Label> labels, double value) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.counter.value = value;
  return metric;
}

using Loops = std::vector<std::unique_ptr<LoopMetrics>>;

void append_row(const Loops& loops, std::uint32_t series, const std::string& rule, MetricFamily& decisions) {
  for (std::size_t o = 0; o < kOutcomeCount; ++o) {
    for (std::size_t s = 0; s < kSourceCount; ++s) {
      const auto outcome = static_cast<Outcome>(o);
      const auto source = static_cast<Source>(s);
      std::uint64_t sum = 0;
      for (const auto& loop : loops) sum += loop->decisions(series, outcome, source);
      // A rate needs its zero from the start; what never happens needs no row.
      const bool usual = source == Source::kExact && outcome != Outcome::kWouldDeny;
      if (sum == 0 && !usual) continue;
      decisions.metric.push_back(counter({{"rule", rule}, {"answer", kOutcomeNames[o]}, {"source", name_of(source)}},
                                         static_cast<double>(sum)));
    }
  }
}

MetricFamily rejections(const Loops& loops) {
  auto result = family("ratel_rejected_inputs_total", "Inputs that were no question, by reason.", MetricType::Counter);
  for (std::size_t i = 0; i < kRejectedCount; ++i) {
    std::uint64_t sum = 0;
    for (const auto& loop : loops) sum += loop->rejections(static_cast<Rejected>(i));
    result.metric.push_back(counter({{"reason", kRejectedNames[i]}}, static_cast<double>(sum)));
  }
  return result;
}

MetricFamily latency(const Loops& loops) {
  auto result = family("ratel_answer_duration_seconds",
                       "How long questions took inside the server, from waking up to the answer sent.",
                       MetricType::Histogram);
  ClientMetric metric;
  std::uint64_t count = 0;
  std::uint64_t sum_us = 0;
  constexpr std::size_t kBuckets = LoopMetrics::kBounds_us.size();
  for (std::size_t i = 0; i <= kBuckets; ++i) {
    for (const auto& loop : loops) count += loop->in_bucket(i);
    const double bound = i < kBuckets ? static_cast<double>(LoopMetrics::kBounds_us[i]) / 1e6
                                      : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({count, bound});
  }
  for (const auto& loop : loops) sum_us += loop->sum_us();
  metric.histogram.sample_count = count;
  metric.histogram.sample_sum = static_cast<double>(sum_us) / 1e6;
  result.metric.push_back(std::move(metric));
  return result;
}

void append_sample(Sample& sample, std::vector<MetricFamily>& families) {
  auto place = std::find_if(families.begin(), families.end(), [&](const auto& f) { return f.name == sample.name; });
  if (place == families.end()) {
    const bool is_counter = sample.kind == Sample::Kind::kCounter;
    families.push_back(family(sample.name, sample.help, is_counter ? MetricType::Counter : MetricType::Gauge));
    place = families.end() - 1;
  }
  ClientMetric metric;
  for (auto& [name, value] : sample.labels) metric.label.push_back({name, value});
  metric.counter.value = sample.value;
  metric.gauge.value = sample.value;
  place->metric.push_back(std::move(metric));
}

}  // namespace

void LoopMetrics::measure(Micros took_us) {
  const auto bucket = std::lower_bound(kBounds_us.begin(), kBounds_us.end(), took_us) - kBounds_us.begin();
  buckets_[static_cast<std::size_t>(bucket)].add(unmeasured_);
  sum_us_.add(unmeasured_ * static_cast<std::uint64_t>(took_us));
  unmeasured_ = 0;
}

LoopMetrics& Metrics::add_loop() {
  const std::lock_guard lock(mutex_);
  return *loops_.emplace_back(std::make_unique<LoopMetrics>());
}

std::uint32_t Metrics::series(std::string_view rule) {
  const std::lock_guard lock(mutex_);
  if (const auto known = series_.find(rule); known != series_.end()) return known->second;
  const auto next = static_cast<std::uint32_t>(kFirstRule + series_.size());
  if (next >= kSeriesMax) return kOtherSeries;
  series_.emplace(rule, next);
  return next;
}

void Metrics::collect(Collector collector) {
  const std::lock_guard lock(mutex_);
  collectors_.push_back(std::move(collector));
}

std::string Metrics::text() const {
  const std::lock_guard lock(mutex_);
  std::vector<MetricFamily> families;

  // A rule may be called anything, so the rows that are no rule's have names that no rule can have.
  auto decisions = family("ratel_decisions_total", "Decisions by rule, answer and source.", MetricType::Counter);
  append_row(loops_, kThrottleSeries, "(cl.throttle)", decisions);
  append_row(loops_, kAdhocSeries, "(in question)", decisions);
  append_row(loops_, kOtherSeries, "(other rules)", decisions);
  for (const auto& [rule, series] : series_) append_row(loops_, series, rule, decisions);
  families.push_back(std::move(decisions));
  families.push_back(latency(loops_));
  families.push_back(rejections(loops_));

  std::vector<Sample> samples;
  for (const auto& collector : collectors_) collector(samples);
  for (Sample& sample : samples) append_sample(sample, families);

  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return std::move(out).str();
}

}  // namespace ratel
