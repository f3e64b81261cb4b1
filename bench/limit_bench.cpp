// What a decision costs, per algorithm, with its state in the first cache.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "limit/decide.h"

namespace ratel {
namespace {

constexpr Micros kNow_us = 1'764'547'200'000'000;

BoundLimit bound(const std::string& text, Algorithm algorithm = Algorithm::kGcra, bool calendar = false) {
  LimitSpec spec = *parse_limit(text);
  if (spec.algorithm == Algorithm::kGcra) spec.algorithm = algorithm;
  if (calendar) {
    spec.calendar = calendar_unit(spec.period_us);
    spec.zone = "Europe/Berlin";
  }
  return {.limit = *make_limit(spec), .identity = {}, .label = {}};
}

/// One question again and again, `gap_us` apart.
void run(benchmark::State& state, const std::vector<BoundLimit>& limits, Micros gap_us, Question question) {
  std::vector<Charge> charges;
  std::vector<Cell> cells(limits.size());
  std::vector<std::unique_ptr<Record>> records(limits.size());
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    charges.push_back({.limit = &limits[i]});
    slots.push_back({.cell = &cells[i], .record = &records[i]});
  }
  question.charges = charges;
  Micros now_us = kNow_us;
  for (auto _ : state) {
    now_us += gap_us;
    benchmark::DoNotOptimize(decide(question, slots, {.now_us = now_us, .calendar_us = now_us}));
  }
}

void gcra_allowed(benchmark::State& state) {
  run(state, {bound("1000/s burst 100")}, 1'001, {});
}
void gcra_denied(benchmark::State& state) {
  run(state, {bound("10/min")}, 1, {});
}
void gcra_wide(benchmark::State& state) {
  run(state, {bound("4294967291/month burst 4294967291")}, 1'001, {.cost = 1'000'000});
}
void gcra_peek(benchmark::State& state) {
  run(state, {bound("1000/s burst 100")}, 1'001, {.verb = Verb::kPeek});
}
void gcra_three_limits(benchmark::State& state) {
  run(state, {bound("1000/s burst 100"), bound("60000/min"), bound("100000000/day")}, 1'001, {});
}
void fixed_window(benchmark::State& state) {
  run(state, {bound("1000/s", Algorithm::kFixedWindow)}, 1'001, {});
}
void calendar_minute(benchmark::State& state) {
  run(state, {bound("1000000/min", Algorithm::kFixedWindow, true)}, 1'001, {});
}
void calendar_day(benchmark::State& state) {
  run(state, {bound("1000000/day", Algorithm::kFixedWindow, true)}, 1'001, {});
}
void sliding_window(benchmark::State& state) {
  run(state, {bound("1000/s", Algorithm::kSlidingWindow)}, 1'001, {});
}
void sliding_log(benchmark::State& state) {
  const std::string count = std::to_string(state.range(0));
  run(state, {bound(count + "/s", Algorithm::kSlidingLog)}, 1'000'000 / state.range(0) + 1, {});
}
void sliding_log_denied(benchmark::State& state) {
  const std::string count = std::to_string(state.range(0));
  run(state, {bound(count + "/s", Algorithm::kSlidingLog)}, 500'000 / state.range(0), {});
}

/// Acquire and release, with `held` other leases beside.
void concurrency(benchmark::State& state) {
  const std::vector<BoundLimit> limits{bound("2000000 concurrent")};
  Charge charge{.limit = limits.data()};
  Cell cell;
  std::unique_ptr<Record> record;
  const Slot slot{.cell = &cell, .record = &record};
  Question question{.verb = Verb::kAcquire, .charges = {&charge, 1}, .lease_us = kMinute_us};
  const StoreTime time{.now_us = kNow_us, .calendar_us = kNow_us};
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    const std::string id = "lease-" + std::to_string(i);
    question.lease_id = id;
    decide(question, {&slot, 1}, time);
  }
  question.lease_id = "the one in question";
  for (auto _ : state) {
    question.verb = Verb::kAcquire;
    benchmark::DoNotOptimize(decide(question, {&slot, 1}, time));
    question.verb = Verb::kRelease;
    benchmark::DoNotOptimize(decide(question, {&slot, 1}, time));
  }
}

/// What CL.THROTTLE does before it can ask: a limit from three numbers.
void make_from_numbers(benchmark::State& state) {
  std::int64_t count = 30;
  Micros period_us = kMinute_us;
  std::int64_t burst = 16;
  Limit limit;
  for (auto _ : state) {
    benchmark::DoNotOptimize(count);
    benchmark::DoNotOptimize(period_us);
    benchmark::DoNotOptimize(burst);
    benchmark::DoNotOptimize(make_gcra_limit(count, period_us, burst, limit));
    benchmark::DoNotOptimize(limit);
  }
}

void parse(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(parse_limit("100/s burst 200"));
}

BENCHMARK(gcra_allowed);
BENCHMARK(gcra_denied);
BENCHMARK(gcra_wide);
BENCHMARK(gcra_peek);
BENCHMARK(gcra_three_limits);
BENCHMARK(fixed_window);
BENCHMARK(calendar_minute);
BENCHMARK(calendar_day);
BENCHMARK(sliding_window);
BENCHMARK(sliding_log)->Arg(100)->Arg(10'000)->Arg(100'000);
BENCHMARK(sliding_log_denied)->Arg(100)->Arg(10'000)->Arg(100'000);
BENCHMARK(concurrency)->Arg(0)->Arg(1'000)->Arg(1'000'000);
BENCHMARK(make_from_numbers);
BENCHMARK(parse);

}  // namespace
}  // namespace ratel
