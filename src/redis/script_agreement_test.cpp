// The script gives every answer that decide() gives, over random limits, costs, clocks and verbs.
//
// Each repetition of a test goes on with other seeds; a million decisions an algorithm are
//   redis_test --gtest_filter='*ScriptAgrees*' --gtest_repeat=250

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/prng.h"
#include "limit/calendar.h"
#include "limit/decide.h"
#include "redis/script_testing.h"

namespace ratel {
namespace {

constexpr int kDecisions = 4'000;
constexpr int kDecisionsOfATrace = 50;
constexpr Micros kBriskPeriod_us = 10 * kSecond_us;

std::string text_of(const Answer& answer) {
  const Decision& decision = answer.decision;
  std::string text;
  for (const std::int64_t value :
       {std::int64_t{decision.allowed}, decision.limit, decision.remaining, decision.retry_after.count(),
        decision.reset_after.count(), decision.granted, decision.delay.count(), std::int64_t{answer.binding},
        std::int64_t{answer.violated}, std::int64_t{answer.ok}}) {
    text += std::to_string(value) + " ";
  }
  return text;
}

/// What decide() makes of a map of cells that never drops anything.
class Model {
 public:
  Answer ask(const Question& question, Micros now_us) {
    std::vector<Slot> slots;
    for (const Charge& charge : question.charges) {
      State& state = states_[charge.limit->identity + " " + std::string(charge.key)];
      slots.push_back({.cell = &state.cell, .record = &state.record});
    }
    return decide(question, slots, {now_us, now_us});
  }

 private:
  struct State {
    Cell cell;
    std::unique_ptr<Record> record;
  };
  std::map<std::string, State> states_;
};

class Trace {
 public:
  Trace(ScriptStore& store, std::uint64_t seed, std::optional<Algorithm> algorithm)
      : store_(store), prng_(seed), algorithm_(algorithm) {
    // The last is near the year 2230: with ten years of debt, just below 2^53.
    now_us_ = pick<Micros>({0, Micros{1} << 31, 1'764'547'200'000'000, 8'200'000'000'333'333});
    latest_us_ = now_us_;
    brisk_ = !leases() && below(3) == 0;
    const std::size_t limits = leases() ? 2 : 1 + below(4);
    for (std::size_t i = 0; i < limits; ++i) {
      limits_.push_back({any_limit(), "limit" + std::to_string(i), {}});
    }
  }

  /// Asks both. Empty where they agree.
  std::string step() {
    // Often what was denied is asked again at the instant, or just before, at which it is announced to pass.
    const bool again = retry_us_ > 0 && !leases() && below(3) == 0;
    if (again) {
      set_time(now_us_ + retry_us_ - pick<Micros>({0, 1}));
    } else {
      pass_time();
      if (below(16) == 0) change_numbers();
      choose_charges();
    }
    std::vector<Charge>& charges = charges_;
    const std::string id = "id" + std::to_string(below(5));
    const Limit& first = charges.front().limit->limit;
    if (!again) cost_ = any_cost(first);
    Question question{
        .verb = again ? Verb::kAllow : any_verb(charges), .charges = charges, .cost = cost_, .lease_id = id};
    question.max_wait_us = any_max_wait_us(question.verb, charges);
    question.lease_us = pick<Micros>({1, 1'000, kSecond_us, 3 * kSecond_us, kMinute_us, kLeaseMax_us});
    if (question.verb == Verb::kPeek && below(2) == 0) question.lease_id = {};

    const Answer expected = model_.ask(question, now_us_);
    retry_us_ = expected.decision.retry_after.count();
    Micros calendar_us = now_us_;
    if (below(4) == 0)
      calendar_us += pick<Micros>({-kMinute_us, kMinute_us, -kHour_us, kHour_us, -kDay_us, 90 * kDay_us});
    ScriptOutcome outcome = store_.ask_at(question, now_us_, std::max<Micros>(0, calendar_us));
    if (outcome.kind == ScriptOutcome::Kind::kAgain) outcome = store_.ask_at(question, now_us_, outcome.now_us);
    if (outcome.kind == ScriptOutcome::Kind::kAnswer && text_of(outcome.answer) == text_of(expected)) return {};
    return "expected " + text_of(expected) + "got " + text_of(outcome.answer) + "of kind " +
           std::to_string(static_cast<int>(outcome.kind)) + " for verb " +
           std::to_string(static_cast<int>(question.verb)) + " cost " + std::to_string(question.cost) + " of " +
           std::to_string(charges.size()) + " limits, first " + std::string(name_of(first.algorithm)) + " " +
           std::to_string(first.count) + " per " + std::to_string(first.period_us) + " capacity " +
           std::to_string(first.capacity) + " at " + std::to_string(now_us_);
  }

 private:
  void choose_charges() {
    static const std::string keys[] = {"key", "a key that is hashed"};
    charges_.clear();
    const bool one = below(2) == 0;
    for (const BoundLimit& limit : limits_) {
      if (one && !charges_.empty()) break;
      if (below(4) != 0) charges_.push_back({.limit = &limit, .key = keys[below(8) == 0 ? 1 : 0]});
    }
    if (charges_.empty()) charges_.push_back({.limit = &limits_.front(), .key = keys[0]});
  }

  std::uint64_t below(std::uint64_t bound) { return prng_.next() % bound; }
  template <typename T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }
  bool leases() const { return algorithm_ == Algorithm::kConcurrency; }

  Limit any_limit() {
    while (true) {
      LimitSpec spec{.algorithm = algorithm_ ? *algorithm_
                                             : pick({Algorithm::kGcra, Algorithm::kFixedWindow,
                                                     Algorithm::kSlidingWindow, Algorithm::kSlidingLog})};
      spec.count = pick<std::int64_t>({0, 1, 2, 3, 5, 7, 10, 60, 100, 997, 1'000'003, 4'294'967'291, kCountMax});
      if (spec.algorithm != Algorithm::kConcurrency) {
        spec.period_us = pick<Micros>({1, 7, 1'000, 999'983, kSecond_us, 3 * kSecond_us, kMinute_us, kHour_us, kDay_us,
                                       30 * kDay_us, kPeriodMax_us});
        if (brisk_) spec.period_us = kBriskPeriod_us;
      }
      if (spec.algorithm == Algorithm::kGcra && spec.count > 0) {
        spec.burst = pick<std::int64_t>({0, 1, 2, 3, 8, spec.count / 2, 2 * (spec.count % 1'000)});
      }
      if (spec.algorithm == Algorithm::kFixedWindow && !brisk_ && below(2) == 0) {
        spec.calendar = pick({CalendarUnit::kMinute, CalendarUnit::kHour, CalendarUnit::kDay, CalendarUnit::kMonth});
        spec.period_us = nominal_length_us(spec.calendar);
        spec.zone = pick<const char*>({"", "America/New_York"});
      }
      const Micros max_wait_us = spec.algorithm == Algorithm::kGcra ? pick<Micros>({0, kSecond_us}) : 0;
      if (Result<Limit> limit = make_limit(spec, max_wait_us); limit.ok()) return *std::move(limit);
    }
  }

  /// A reload: the same counter under another count.
  void change_numbers() {
    Limit& limit = limits_[below(limits_.size())].limit;
    LimitSpec spec{.algorithm = limit.algorithm,
                   .count = pick<std::int64_t>({1, 3, 10, limit.count + 1, limit.count / 2}),
                   .period_us = limit.period_us,
                   .calendar = limit.calendar,
                   .zone = limit.calendar == CalendarUnit::kNone ? "" : limit.zone_name};
    if (Result<Limit> changed = make_limit(spec, limit.max_wait_us); changed.ok()) limit = *std::move(changed);
  }

  Verb any_verb(const std::vector<Charge>& charges) {
    if (leases()) {
      return pick(
          {Verb::kAcquire, Verb::kAcquire, Verb::kAcquire, Verb::kRenew, Verb::kRelease, Verb::kPeek, Verb::kReset});
    }
    const auto is_gcra = [](const Charge& charge) { return charge.limit->limit.algorithm == Algorithm::kGcra; };
    const bool books = std::all_of(charges.begin(), charges.end(), is_gcra);
    return pick({Verb::kAllow, Verb::kAllow, Verb::kAllow, Verb::kAllow, Verb::kAllow, Verb::kAtMost, Verb::kAtMost,
                 Verb::kPeek, Verb::kRefund, below(4) == 0 ? Verb::kReset : Verb::kAllow,
                 books ? Verb::kReserve : Verb::kAllow});
  }

  Micros any_max_wait_us(Verb verb, const std::vector<Charge>& charges) {
    Micros most_us = verb == Verb::kReserve || verb == Verb::kAtMost ? kSecond_us : 0;
    for (const Charge& charge : charges) most_us = std::min(most_us, charge.limit->limit.max_wait_us);
    return std::min(most_us, pick<Micros>({0, 1, kSecond_us}));
  }

  std::int64_t any_cost(const Limit& limit) {
    const std::int64_t capacity = limit.capacity;
    const std::int64_t cost = pick<std::int64_t>(
        {0, 1, 1, 1, 1, 2, 3, capacity / 3, capacity / 2, capacity - 1, capacity, capacity + 1, kCostMax});
    return std::clamp<std::int64_t>(cost, 0, kCostMax);
  }

  /// From no time to long idleness, and the instants around which answers change. A clock of windows runs back by no
  /// more than the slack; that of gcra also by more.
  void pass_time() {
    if (brisk_) {
      const bool back = below(3) == 0;
      const auto by_us = static_cast<Micros>(below(back ? kBriskPeriod_us : kBriskPeriod_us / 2));
      return set_time(std::max(now_us_ + (back ? -by_us : by_us), latest_us_ - kClockSlack_us));
    }
    const Limit& limit = limits_[below(limits_.size())].limit;
    const Micros period_us = leases() ? kSecond_us : limit.period_us;
    const Micros interval_us = period_us / std::max<Micros>(1, limit.count);
    const Micros around_us = pick<Micros>({0, 0, 0, 1, interval_us, interval_us, period_us / 2, period_us,
                                           2 * period_us, below(20) == 0 ? 100 * kPeriodMax_us : 0});
    Micros time_us = now_us_ + std::max<Micros>(0, around_us + pick<Micros>({-1, 0, 0, 1}));
    if (!leases() && below(8) == 0) {
      time_us -= pick<Micros>({1, 1'000, kSecond_us, kClockSlack_us / 2});
      if (algorithm_ == Algorithm::kGcra) {
        time_us -= pick<Micros>({0, 0, kClockSlack_us, kHour_us, 40 * kDay_us});
      } else {
        time_us = std::max(time_us, latest_us_ - kClockSlack_us);
      }
    }
    set_time(time_us);
  }

  void set_time(Micros time_us) {
    // The first windows of a zone begin before the epoch, and no store's clock says that.
    const bool calendar = std::any_of(limits_.begin(), limits_.end(), [](const BoundLimit& bound) {
      return bound.limit.calendar != CalendarUnit::kNone;
    });
    now_us_ = std::clamp<Micros>(time_us, calendar ? 40 * kDay_us : 0, 8'690'000'000'000'000);
    latest_us_ = std::max(latest_us_, now_us_);
  }

  ScriptStore& store_;
  Model model_;
  Prng prng_;
  std::optional<Algorithm> algorithm_;
  std::vector<BoundLimit> limits_;
  std::vector<Charge> charges_;
  std::int64_t cost_ = 1;
  Micros retry_us_ = 0;  // of the question before
  Micros now_us_ = 0;
  Micros latest_us_ = 0;
  bool brisk_ = false;  // everything within seconds, in which the clock often runs back
};

struct Mix {
  std::string name;
  std::optional<Algorithm> algorithm;  // none: all but concurrency, mixed
};

class ScriptAgrees : public testing::TestWithParam<std::tuple<ServerKind, Mix>> {};

TEST_P(ScriptAgrees, WithDecideOnRandomTraces) {
  static std::uint64_t seed = 1;
  const auto& [kind, mix] = GetParam();
  RedisServer server(kind.binary);
  RedisClient client(server.socket());
  ScriptStore store(client, script_with_clock());
  for (int i = 0; i < kDecisions / kDecisionsOfATrace; ++i, ++seed) {
    client.run({"FLUSHALL"});
    Trace trace(store, seed, mix.algorithm);
    for (int j = 0; j < kDecisionsOfATrace; ++j) {
      ASSERT_EQ(trace.step(), "") << "seed " << seed << " step " << j;
      ASSERT_FALSE(HasFailure());
    }
  }
}

const Mix kMixes[] = {{"gcra", Algorithm::kGcra},
                      {"fixed_window", Algorithm::kFixedWindow},
                      {"sliding_window", Algorithm::kSlidingWindow},
                      {"sliding_log", Algorithm::kSlidingLog},
                      {"concurrency", Algorithm::kConcurrency},
                      {"mixed", {}}};

INSTANTIATE_TEST_SUITE_P(Mixes, ScriptAgrees,
                         testing::Combine(testing::ValuesIn(server_kinds()), testing::ValuesIn(kMixes)),
                         [](const auto& test) {
                           return std::get<0>(test.param).name + "_" + std::get<1>(test.param).name;
                         });

}  // namespace
}  // namespace ratel
