#include "observe/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <type_traits>

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
    out_ += ' ';
    if constexpr (std::is_integral_v<Value>) {
      const fmt::format_int digits(value);
      out_.append(digits.data(), digits.size());
    } else {
      fmt::format_to(std::back_inserter(out_), "{}", value);
    }
    out_ += '\n';
  }
  template <typename Value>
  void row(std::string_view name, std::initializer_list<Label> labels, Value value) {
    row<std::initializer_list<Label>>(name, labels, value);
  }

  std::string take() { return std::move(out_); }

 private:
  void escape(std::string_view text) {
    for (std::size_t at = text.find_first_of("\\\"\n"); at != text.npos; at = text.find_first_of("\\\"\n")) {
      out_ += text.substr(0, at);
      out_ += '\\';
      out_ += text[at] == '\n' ? 'n' : text[at];
      text.remove_prefix(at + 1);
    }
    out_ += text;
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

void append_faults(const Loops& loops, std::uint32_t series, std::string_view rule, bool with_zeros, Text& text) {
  for (std::size_t f = 1; f < kStoreFaultCount; ++f) {
    const auto fault = static_cast<StoreFault>(f);
    std::uint64_t sum = 0;
    for (const auto& loop : loops) sum += loop->faults(series, fault);
    if (sum == 0 && !with_zeros) continue;
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

void append_histogram(const std::string& name, const Durations& durations, Text& text) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < Durations::kBuckets; ++i) {
    count += durations.counts[i];
    const std::string bound = i < Durations::kBounds_us.size()
                                  ? fmt::format("{}", static_cast<double>(Durations::kBounds_us[i]) / 1e6)
                                  : "+Inf";
    text.row(name + "_bucket", {{"le", bound}}, count);
  }
  text.row(name + "_sum", {}, static_cast<double>(durations.sum_us) / 1e6);
  text.row(name + "_count", {}, count);
}

void append_latency(const Loops& loops, Text& text) {
  constexpr const char* kName = "ratel_answer_duration_seconds";
  text.family(
      kName,
      "From reading a question to sending its answer, with the wait for the store, but not for answers before it "
      "on its connection, nor for the network to the caller.",
      "histogram");
  Durations durations;
  for (const auto& loop : loops) loop->durations().add_to(durations);
  append_histogram(kName, durations, text);
}

const char* type_of(Sample::Kind kind) {
  switch (kind) {
    case Sample::Kind::kCounter:
      return "counter";
    case Sample::Kind::kGauge:
      return "gauge";
    case Sample::Kind::kHistogram:
      return "histogram";
  }
  return "untyped";
}

/// The rows of one name have to stand together.
void append_samples(std::vector<Sample> samples, Text& text) {
  std::stable_sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.name < b.name; });
  std::string_view name;
  for (const Sample& sample : samples) {
    if (sample.name != name) text.family(sample.name, sample.help, type_of(sample.kind));
    name = sample.name;
    if (sample.kind == Sample::Kind::kHistogram) {
      append_histogram(sample.name, sample.durations, text);
    } else {
      text.row(name, sample.labels, sample.value);
    }
  }
}

}  // namespace

void SharedDurations::set(const Durations& durations) {
  for (std::size_t i = 0; i < Durations::kBuckets; ++i) counts_[i].set(durations.counts[i]);
  sum_us_.set(durations.sum_us);
}

void SharedDurations::add_to(Durations& sum) const {
  for (std::size_t i = 0; i < Durations::kBuckets; ++i) sum.counts[i] += counts_[i].value();
  sum.sum_us += sum_us_.value();
}

void LoopMetrics::degraded(std::uint32_t series, StoreFault fault) {
  if (faults_ == nullptr) {
    faults_ = std::make_unique<FaultRow[]>(kSeriesMax);
    fault_rows_.store(faults_.get(), std::memory_order_release);
  }
  faults_[series < kSeriesMax ? series : kOtherSeries][static_cast<std::size_t>(fault)].add();
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
              "Answers that the store did not give, those that decide nothing among them, by rule and by why.",
              "counter");
  const auto append_degraded = [&](std::uint32_t series, std::string_view rule) {
    append_faults(loops_, series, rule, store_can_fail_, text);
  };
  append_degraded(kThrottleSeries, "(cl.throttle)");
  append_degraded(kAdhocSeries, "(in question)");
  append_degraded(kOtherSeries, "(other rules)");
  for (const auto& [rule, series] : series_) append_degraded(series, rule);
  append_latency(loops_, text);
  append_rejections(loops_, text);

  std::vector<Sample> samples;
  for (const auto& collector : collectors_) collector(samples);
  append_samples(std::move(samples), text);
  return text.take();
}

}  // namespace ratel
