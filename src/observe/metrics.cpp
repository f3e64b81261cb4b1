#include "observe/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>

namespace ratel {
namespace {

constexpr std::uint32_t kFirstRule = kOtherSeries + 1;

constexpr std::array<const char*, kRejectedCount> kRejectedNames = {
    "protocol", "unknown_command", "bad_argument", "unknown_rule", "unauthorized", "forbidden_origin", "too_large"};
constexpr std::array<const char*, kOutcomeCount> kOutcomeNames = {"allowed", "denied", "would_deny"};

/// Writes the exposition format. By hand, because a scrape is made on an event loop, where others wait for it: what a
/// library makes of ten thousand rules takes tens of milliseconds.
class Text {
 public:
  using Label = std::pair<std::string_view, std::string_view>;

  /// What follows are its rows.
  void family(std::string_view name, std::string_view help, std::string_view type) {
    fmt::format_to(std::back_inserter(out_), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
  }

  template <typename Labels, typename Value>
  void row(std::string_view name, const Labels& labels, Value value) {
    out_ += name;
    char before = '{';
    for (const auto& [label, text] : labels) {
      out_ += before;
      out_ += label;
      out_ += "=\"";
      escape(text);
      out_ += '"';
      before = ',';
    }
    if (before == ',') out_ += '}';
    fmt::format_to(std::back_inserter(out_), " {}\n", value);
  }
  template <typename Value>
  void row(std::string_view name, std::initializer_list<Label> labels, Value value) {
    row<std::initializer_list<Label>>(name, labels, value);
  }

  std::string take() { return std::move(out_); }

 private:
  void escape(std::string_view text) {
    for (const char c : text) {
      if (c == '\\' || c == '"') out_ += '\\';
      out_ += c == '\n' ? "\\n" : std::string_view(&c, 1);
    }
  }

  std::string out_;
};

using Loops = std::vector<std::unique_ptr<LoopMetrics>>;

void append_row(const Loops& loops, std::uint32_t series, std::string_view rule, Text& text) {
  for (std::size_t o = 0; o < kOutcomeCount; ++o) {
    for (std::size_t s = 0; s < kSourceCount; ++s) {
      const auto outcome = static_cast<Outcome>(o);
      const auto source = static_cast<Source>(s);
      std::uint64_t sum = 0;
      for (const auto& loop : loops) sum += loop->decisions(series, outcome, source);
      // A rate needs its zero from the start; what never happens needs no row.
      const bool usual = source == Source::kExact && outcome != Outcome::kWouldDeny;
      if (sum == 0 && !usual) continue;
      text.row("ratel_decisions_total", {{"rule", rule}, {"answer", kOutcomeNames[o]}, {"source", name_of(source)}},
               sum);
    }
  }
}

void append_faults(const Loops& loops, std::uint32_t series, std::string_view rule, Text& text) {
  for (std::size_t f = 1; f < kStoreFaultCount; ++f) {
    const auto fault = static_cast<StoreFault>(f);
    std::uint64_t sum = 0;
    for (const auto& loop : loops) sum += loop->faults(series, fault);
    if (sum == 0) continue;
    text.row("ratel_degraded_decisions_total", {{"rule", rule}, {"reason", name_of(fault)}}, sum);
  }
}

void append_rejections(const Loops& loops, Text& text) {
  text.family("ratel_rejected_inputs_total", "Inputs that were no question, by reason.", "counter");
  for (std::size_t i = 0; i < kRejectedCount; ++i) {
    std::uint64_t sum = 0;
    for (const auto& loop : loops) sum += loop->rejections(static_cast<Rejected>(i));
    text.row("ratel_rejected_inputs_total", {{"reason", kRejectedNames[i]}}, sum);
  }
}

void append_latency(const Loops& loops, Text& text) {
  text.family("ratel_answer_duration_seconds",
              "How long questions took inside the server, from waking up to the answer sent.", "histogram");
  std::uint64_t count = 0;
  std::uint64_t sum_us = 0;
  constexpr std::size_t kBuckets = LoopMetrics::kBounds_us.size();
  for (std::size_t i = 0; i <= kBuckets; ++i) {
    for (const auto& loop : loops) count += loop->in_bucket(i);
    const std::string bound =
        i < kBuckets ? fmt::format("{}", static_cast<double>(LoopMetrics::kBounds_us[i]) / 1e6) : "+Inf";
    text.row("ratel_answer_duration_seconds_bucket", {{"le", bound}}, count);
  }
  for (const auto& loop : loops) sum_us += loop->sum_us();
  text.row("ratel_answer_duration_seconds_sum", {}, static_cast<double>(sum_us) / 1e6);
  text.row("ratel_answer_duration_seconds_count", {}, count);
}

/// The rows of one name have to stand together.
void append_samples(std::vector<Sample> samples, Text& text) {
  std::stable_sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.name < b.name; });
  std::string_view name;
  for (const Sample& sample : samples) {
    if (sample.name != name) {
      text.family(sample.name, sample.help, sample.kind == Sample::Kind::kCounter ? "counter" : "gauge");
    }
    name = sample.name;
    text.row(name, sample.labels, sample.value);
  }
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
  Text text;

  // A rule may be called anything, so the rows that are no rule's have names that no rule can have.
  text.family("ratel_decisions_total", "Decisions by rule, answer and source.", "counter");
  append_row(loops_, kThrottleSeries, "(cl.throttle)", text);
  append_row(loops_, kAdhocSeries, "(in question)", text);
  append_row(loops_, kOtherSeries, "(other rules)", text);
  for (const auto& [rule, series] : series_) append_row(loops_, series, rule, text);
  text.family("ratel_degraded_decisions_total",
              "Decisions that the store did not make, by rule and by why it gave none.", "counter");
  append_faults(loops_, kThrottleSeries, "(cl.throttle)", text);
  append_faults(loops_, kAdhocSeries, "(in question)", text);
  append_faults(loops_, kOtherSeries, "(other rules)", text);
  for (const auto& [rule, series] : series_) append_faults(loops_, series, rule, text);
  append_latency(loops_, text);
  append_rejections(loops_, text);

  std::vector<Sample> samples;
  for (const auto& collector : collectors_) collector(samples);
  append_samples(std::move(samples), text);
  return text.take();
}

}  // namespace ratel
