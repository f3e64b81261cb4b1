#pragma once
// What the tests hold the algorithms against: slow models that state a definition and nothing else, and questions,
// limits and times to try them with.
//
// A model only says whether a cost is admitted at a time, and what charging and refunding do. What is left, how long to
// wait and when all is new again are searched for, not computed, so no formula is shared with the code under test.

#include <rapidcheck.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "limit/calendar.h"
#include "limit/decide.h"

namespace ratel::model {

__extension__ using Big = __int128;

/// The first of lo..hi for which `holds`, which never turns false again; hi where there is none below.
inline std::int64_t first_where(std::int64_t lo, std::int64_t hi, const std::function<bool(std::int64_t)>& holds) {
  if (holds(lo)) return lo;
  while (lo < hi) {
    const std::int64_t middle = lo + (hi - lo) / 2;
    if (holds(middle)) {
      hi = middle;
    } else {
      lo = middle + 1;
    }
  }
  return lo;
}

class Model {
 public:
  explicit Model(const Limit& limit) : limit_(limit) {}
  virtual ~Model() = default;
  virtual std::unique_ptr<Model> clone() const = 0;

  virtual bool admits(std::int64_t cost, Micros t) const = 0;  // REQUIRES: 1 <= cost <= capacity
  virtual void charge(std::int64_t cost, Micros t) = 0;
  virtual void refund(std::int64_t cost, Micros t) = 0;
  virtual void reset() = 0;
  virtual bool is_fresh(Micros t) const = 0;
  virtual void repair(Micros) {}

  std::int64_t remaining(Micros t) const {
    return first_where(0, limit_.capacity, [&](std::int64_t cost) { return !admits(cost + 1, t); });
  }
  Micros retry(std::int64_t cost, Micros t) const {
    if (cost == 0) return 0;
    if (cost > limit_.capacity) return kNever_us;
    return first_where(0, kFar_us, [&](Micros wait_us) { return admits(cost, t + wait_us); });
  }
  Micros reset_after(Micros t) const {
    return first_where(0, kFar_us, [&](Micros wait_us) { return is_fresh(t + wait_us); });
  }

  /// The whole answer, with what it does to the state.
  Answer ask(Verb verb, std::int64_t cost, Micros t) {
    if (verb == Verb::kPeek) return clone()->answer(verb, cost, t);
    return answer(verb, cost, t);
  }

 protected:
  static constexpr Micros kFar_us = 20 * 366 * kDay_us;  // beyond every capacity time and two periods

  Answer answer(Verb verb, std::int64_t cost, Micros t) {
    Answer answer;
    Decision& decision = answer.decision;
    repair(t);
    decision.allowed = true;
    if (verb == Verb::kAllow || verb == Verb::kPeek) {
      decision.retry_after = std::chrono::microseconds{retry(cost, t)};
      decision.allowed = decision.retry_after.count() == 0;
      decision.granted = decision.allowed ? cost : 0;
      if (decision.allowed && cost > 0 && verb == Verb::kAllow) charge(cost, t);
    } else if (verb == Verb::kAtMost) {
      decision.granted = std::min(cost, remaining(t));
      decision.allowed = decision.granted > 0 || cost == 0;
      if (!decision.allowed) decision.retry_after = std::chrono::microseconds{retry(1, t)};
      if (decision.granted > 0) charge(decision.granted, t);
    } else if (verb == Verb::kRefund) {
      if (cost > 0) refund(cost, t);
    } else {
      reset();
    }
    decision.limit = limit_.capacity;
    decision.remaining = remaining(t);
    decision.reset_after = std::chrono::microseconds{reset_after(t)};
    answer.violated = decision.allowed ? 0 : 1;
    return answer;
  }

  const Limit& limit_;
};

/// The theoretical arrival time as a rational with denominator L: all times are counted in 1/L microseconds.
class GcraModel final : public Model {
 public:
  using Model::Model;
  std::unique_ptr<Model> clone() const override { return std::make_unique<GcraModel>(*this); }
  bool admits(std::int64_t cost, Micros t) const override {
    return arrival(t) + cost * period() - scaled(t) <= capacity_time();
  }
  void charge(std::int64_t cost, Micros t) override { arrival_ = arrival(t) + cost * period(); }
  void refund(std::int64_t cost, Micros t) override {
    if (!is_fresh(t)) arrival_ = std::max(scaled(t), arrival(t) - cost * period());
  }
  void reset() override { arrival_ = 0; }
  bool is_fresh(Micros t) const override { return arrival(t) == scaled(t); }
  void repair(Micros t) override { arrival_ = std::min(arrival_, clamped(t)); }

 private:
  Big period() const { return limit_.period_us; }
  Big scaled(Micros t) const { return Big{t} * limit_.count; }
  Big capacity_time() const { return period() * limit_.capacity; }
  Big clamped(Micros t) const {
    const bool faulty = arrival_ > scaled(t) + capacity_time() + scaled(limit_.max_wait_us + kClockSlack_us);
    return faulty ? scaled(t) + capacity_time() : arrival_;
  }
  Big arrival(Micros t) const { return std::max(scaled(t), clamped(t)); }

  Big arrival_ = 0;
};

/// Half-open windows: from the first hit, or those of the calendar.
class FixedModel final : public Model {
 public:
  using Model::Model;
  std::unique_ptr<Model> clone() const override { return std::make_unique<FixedModel>(*this); }
  bool admits(std::int64_t cost, Micros t) const override { return count(t) + cost <= limit_.capacity; }
  void charge(std::int64_t cost, Micros t) override {
    if (count(t) == 0) {
      window_ = {t, t + limit_.period_us};
      if (limit_.calendar != CalendarUnit::kNone) window_ = calendar_window(limit_, t);
      count_ = 0;
    }
    count_ += cost;
  }
  void refund(std::int64_t cost, Micros t) override {
    count_ = count(t) > 0 ? std::max<std::int64_t>(0, count_ - cost) : count_;
  }
  void reset() override { count_ = 0; }
  bool is_fresh(Micros t) const override { return count(t) == 0; }

 private:
  std::int64_t count(Micros t) const {
    // A wall clock that has stepped back is in another window; one that is only a little behind is not.
    const bool stepped = limit_.calendar != CalendarUnit::kNone && t < window_.start_us - kClockSlack_us;
    return t < window_.end_us && !stepped ? count_ : 0;
  }

  CalendarWindow window_;
  std::int64_t count_ = 0;
};

/// All windows there ever were, by their place.
class SlidingModel final : public Model {
 public:
  using Model::Model;
  std::unique_ptr<Model> clone() const override { return std::make_unique<SlidingModel>(*this); }
  bool admits(std::int64_t cost, Micros t) const override {
    const Big period = limit_.period_us;
    const Big elapsed = std::max<Micros>(0, t - place(t) * limit_.period_us);
    return count(place(t) - 1) * (period - elapsed) + (count(place(t)) + cost) * period <= limit_.capacity * period;
  }
  void charge(std::int64_t cost, Micros t) override {
    newest_ = place(t);
    counts_[newest_] += cost;
  }
  void refund(std::int64_t cost, Micros t) override {
    const std::int64_t now = place(t);
    if (count(now) > 0) counts_[now] = std::max<std::int64_t>(0, counts_[now] - cost);
  }
  void reset() override {
    counts_.clear();
    newest_ = 0;
  }
  bool is_fresh(Micros t) const override { return count(place(t)) == 0 && count(place(t) - 1) == 0; }

 private:
  Micros place(Micros t) const { return std::max(t / limit_.period_us, newest_); }
  Big count(std::int64_t place) const {
    const auto found = counts_.find(place);
    return found == counts_.end() ? 0 : found->second;
  }

  std::map<std::int64_t, std::int64_t> counts_;
  std::int64_t newest_ = 0;
};

/// Every admitted cost with its time.
class LogModel final : public Model {
 public:
  using Model::Model;
  std::unique_ptr<Model> clone() const override { return std::make_unique<LogModel>(*this); }
  bool admits(std::int64_t cost, Micros t) const override { return used(t) + cost <= limit_.capacity; }
  void charge(std::int64_t cost, Micros t) override {
    t = standing(t);
    forget(t);
    entries_.emplace_back(t, cost);
  }
  void refund(std::int64_t cost, Micros t) override {
    if (used(t) == 0) return;
    forget(standing(t));
    for (; cost > 0 && !entries_.empty(); entries_.pop_back()) {
      const std::int64_t back = std::min(cost, entries_.back().second);
      entries_.back().second -= back;
      cost -= back;
      if (entries_.back().second > 0) break;
    }
  }
  void reset() override { entries_.clear(); }
  bool is_fresh(Micros t) const override { return used(t) == 0; }

 private:
  Micros standing(Micros t) const { return entries_.empty() ? t : std::max(t, entries_.back().first); }
  std::int64_t used(Micros t) const {
    std::int64_t sum = 0;
    for (const auto& [at, cost] : entries_) sum += at > standing(t) - limit_.period_us ? cost : 0;
    return sum;
  }
  void forget(Micros t) {
    std::erase_if(entries_, [&](const auto& entry) { return entry.first <= t - limit_.period_us; });
  }

  std::vector<std::pair<Micros, std::int64_t>> entries_;
};

inline std::unique_ptr<Model> model_of(const Limit& limit) {
  switch (limit.algorithm) {
    case Algorithm::kFixedWindow:
      return std::make_unique<FixedModel>(limit);
    case Algorithm::kSlidingWindow:
      return std::make_unique<SlidingModel>(limit);
    case Algorithm::kSlidingLog:
      return std::make_unique<LogModel>(limit);
    default:
      return std::make_unique<GcraModel>(limit);
  }
}

struct Step {
  Verb verb = Verb::kAllow;
  std::int64_t cost = 1;
  Micros t = 0;
};

/// One counter under test. Copies by playing its history again, since records do not copy.
class Subject {
 public:
  explicit Subject(const Limit& limit) : limit_{.limit = limit, .identity = {}, .label = {}} {}
  Subject(const Subject& other) : limit_(other.limit_) {
    for (const Step& step : other.history_) ask(step);
  }
  Subject& operator=(const Subject&) = delete;

  Answer ask(const Step& step) {
    history_.push_back(step);
    Charge charge{.limit = &limit_};
    return decide({.verb = step.verb, .charges = {&charge, 1}, .cost = step.cost}, {&slot_, 1},
                  {.now_us = step.t, .calendar_us = step.t});
  }
  Answer allow(std::int64_t cost, Micros t) { return ask({.verb = Verb::kAllow, .cost = cost, .t = t}); }
  Answer peek(std::int64_t cost, Micros t) { return ask({.verb = Verb::kPeek, .cost = cost, .t = t}); }

  const BoundLimit& bound() const { return limit_; }
  const Limit& limit() const { return limit_.limit; }
  Cell& cell() { return cell_; }
  const Slot& slot() const { return slot_; }
  /// Heap bytes of the record; 0 where there is none.
  std::size_t record_bytes() const { return record_ == nullptr ? 0 : record_->bytes(); }
  bool has_record() const { return record_ != nullptr; }

 private:
  BoundLimit limit_;
  Cell cell_;
  std::unique_ptr<Record> record_;
  Slot slot_{.cell = &cell_, .record = &record_};
  std::vector<Step> history_;
};

/// Everything a client is told.
inline bool same(const Answer& a, const Answer& b) {
  return a.decision.allowed == b.decision.allowed && a.decision.limit == b.decision.limit &&
         a.decision.remaining == b.decision.remaining && a.decision.retry_after == b.decision.retry_after &&
         a.decision.reset_after == b.decision.reset_after && a.decision.granted == b.decision.granted &&
         a.decision.delay == b.decision.delay && a.violated == b.violated && a.binding == b.binding && a.ok == b.ok;
}

// --- generators ---

template <typename T>
T any_of(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}

inline constexpr Micros kStarts_us[] = {0, Micros{1} << 31, 1'764'547'200'000'000, 8'835'000'000'333'333};

/// Counts and periods that divide and that do not, bursts of 1 and above the count, calendar days; no deny-all.
inline Limit any_limit(Algorithm algorithm) {
  while (true) {
    LimitSpec spec{.algorithm = algorithm};
    spec.count = any_of<std::int64_t>({1, 2, 3, 5, 7, 10, 60, 100, 997, 1'000'003, 4'294'967'291});
    spec.period_us = any_of<Micros>(
        {1, 7, 1'000, 999'983, kSecond_us, 3 * kSecond_us, kMinute_us, kHour_us, kDay_us, 30 * kDay_us, kPeriodMax_us});
    if (algorithm == Algorithm::kGcra) {
      spec.burst = any_of<std::int64_t>({0, 1, 2, 3, 8, spec.count / 2, 2 * (spec.count % 1'000)});
    }
    if (algorithm == Algorithm::kFixedWindow && any_of({false, false, true})) {
      spec.calendar = any_of({CalendarUnit::kHour, CalendarUnit::kDay, CalendarUnit::kMonth});
      spec.period_us = nominal_length_us(spec.calendar);
      spec.zone = any_of<std::string>({"", "America/New_York"});
    }
    const Micros max_wait_us = algorithm == Algorithm::kGcra ? any_of<Micros>({0, kSecond_us}) : 0;
    if (Result<Limit> limit = make_limit(spec, max_wait_us); limit.ok()) return *std::move(limit);
  }
}

/// Of every algorithm but concurrency.
inline Limit any_limit() {
  return any_limit(
      any_of({Algorithm::kGcra, Algorithm::kFixedWindow, Algorithm::kSlidingWindow, Algorithm::kSlidingLog}));
}

inline std::int64_t any_cost(const Limit& limit) {
  const std::int64_t capacity = limit.capacity;
  return any_of<std::int64_t>(
      {0, 1, 1, 1, 2, 3, capacity / 3, capacity / 2, capacity - 1, capacity, capacity + 1, kCostMax});
}

/// From no time to long idleness, and the instants around which answers change.
inline Micros any_gap_us(const Limit& limit) {
  const Micros interval_us = limit.period_us / limit.count;
  const Micros around = any_of<Micros>({0, 0, 0, 1, interval_us, interval_us, limit.period_us / 2, limit.period_us,
                                        2 * limit.period_us, 100 * kPeriodMax_us});
  return std::max<Micros>(0, around + any_of<Micros>({-1, 0, 0, 1}));
}

/// A history that a client may bring about; with `clock_runs_back` also one that only a clock can.
inline std::vector<Step> any_history(const Limit& limit, bool clock_runs_back = false) {
  std::vector<Step> steps;
  Micros t = *rc::gen::elementOf(std::vector<Micros>(std::begin(kStarts_us), std::end(kStarts_us)));
  const int count = *rc::gen::inRange(0, 40);
  for (int i = 0; i < count; ++i) {
    t += any_gap_us(limit);
    if (clock_runs_back && *rc::gen::inRange(0, 8) == 0) {
      t -= std::min(t, any_of<Micros>({1, 1'000, kSecond_us, kClockSlack_us / 2, kHour_us}));
    }
    t = std::min(t, Micros{9'000'000'000'000'000});  // the year 2255
    const Verb verb = any_of({Verb::kAllow, Verb::kAllow, Verb::kAllow, Verb::kAllow, Verb::kAtMost, Verb::kPeek,
                              Verb::kRefund, Verb::kReset});
    steps.push_back({.verb = verb, .cost = any_cost(limit), .t = t});
  }
  return steps;
}

/// A counter with a past, and the instant at which it is looked at.
struct Scene {
  Subject subject;
  Micros now_us;
};

inline Scene any_scene(const Limit& limit) {
  Scene scene{.subject = Subject(limit), .now_us = kStarts_us[2]};
  for (const Step& step : any_history(limit)) {
    scene.subject.ask(step);
    scene.now_us = step.t;
  }
  scene.now_us += any_gap_us(limit);
  return scene;
}
inline Scene any_scene() {
  return any_scene(any_limit());
}

}  // namespace ratel::model
