// What a decision costs in the memory store: by the number of keys, alone and in batches as an event loop asks, on one
// hot key, for keys never seen before, with the memory used up; and the longest that any single one takes.
//
//   store_bench --benchmark_filter=Decide
//
// A table just filled stands on small pages; the kernel makes them huge within minutes (16 MiB in 10 s unless told).

#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.h"
#include "net/system_clock.h"
#include "store/memory_store.h"

namespace ratel {
namespace {

constexpr std::size_t kBatchMax = 64;
constexpr Micros kStart_us = 1'764'547'200'000'000;

const BoundLimit& limit() {
  // A day is long enough that no key expires while it is measured.
  static const BoundLimit limit{*make_limit({.count = 1'000'000, .period_us = kDay_us}),
                                "R5:login1:14:gcra0:", "login"};
  return limit;
}

struct Key {
  explicit Key(std::uint64_t number) {
    std::memcpy(text.data(), "user:0000000000", text.size());
    for (std::size_t i = text.size(); number > 0; number /= 10) text[--i] = static_cast<char>('0' + number % 10);
  }
  std::array<char, 15> text;
};

void count_allowed(void* context, std::uint64_t, const Answer& answer) {
  *static_cast<std::uint64_t*>(context) += answer.decision.allowed ? 1 : 0;
}

/// Asks for keys, up to kBatchMax at a time: all are prepared, then each is decided.
class Asker {
 public:
  std::uint64_t ask(MemoryStore& store, const Key* keys, std::size_t batch) {
    for (std::size_t i = 0; i < batch; ++i) {
      charges_[i].limit = &limit();
      charges_[i].key = {keys[i].text.data(), keys[i].text.size()};
      questions_[i].charges = {&charges_[i], 1};
      store.prepare(questions_[i]);
    }
    std::uint64_t allowed = 0;
    for (std::size_t i = 0; i < batch; ++i)
      store.ask(questions_[i], {kStart_us, kStart_us}, {count_allowed, &allowed, 0});
    return allowed;
  }

 private:
  std::array<Charge, kBatchMax> charges_;
  std::array<Question, kBatchMax> questions_;
};

std::unique_ptr<MemoryStore> make_store(std::size_t max_memory_bytes = std::size_t{4} << 30) {
  return std::make_unique<MemoryStore>(
      MemoryStore::Options{.seed = 0x5eed, .max_memory_bytes = max_memory_bytes, .start = {kStart_us, kStart_us}});
}

/// Makes huge pages of all large memory, as the kernel does with what the store has filled, within minutes.
void make_pages_huge() {
  constexpr std::uintptr_t kHuge_bytes = std::uintptr_t{2} << 20;
  constexpr int kCollapse = 25;  // MADV_COLLAPSE, of Linux 6.1; Debian 12's headers do not know it
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    char may_write = '-';
    if (std::sscanf(line.c_str(), "%lx-%lx r%c", &begin, &end, &may_write) != 3 || may_write != 'w') continue;
    for (begin = (begin + kHuge_bytes - 1) / kHuge_bytes * kHuge_bytes; begin + kHuge_bytes <= end;
         begin += kHuge_bytes) {
      madvise(reinterpret_cast<void*>(begin), kHuge_bytes, kCollapse);
    }
  }
}

/// A store of so many keys, kept for the benchmarks that follow with the same.
MemoryStore& filled(std::uint64_t keys, bool huge_pages) {
  static std::uint64_t held = 0;
  static bool huge = false;
  static std::unique_ptr<MemoryStore> store;
  if (held != keys || (huge && !huge_pages)) {
    store = make_store();
    Asker asker;
    for (std::uint64_t i = 0; i < keys; ++i) {
      const Key key(i);
      asker.ask(*store, &key, 1);
    }
    held = keys;
    huge = false;
  }
  if (huge_pages && !huge) make_pages_huge();
  huge = huge_pages;
  return *store;
}

std::vector<Key> random_keys(std::uint64_t among) {
  Prng prng(7);
  std::vector<Key> keys;
  for (int i = 0; i < 1 << 20; ++i) keys.emplace_back(prng.next() % among);
  return keys;
}

void BM_Decide(benchmark::State& state) {
  MemoryStore& store = filled(static_cast<std::uint64_t>(state.range(0)), state.range(1) != 0);
  const std::vector<Key> keys = random_keys(static_cast<std::uint64_t>(state.range(0)));
  const auto batch = static_cast<std::size_t>(state.range(2));
  Asker asker;
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(asker.ask(store, &keys[next], batch));
    next = (next + batch) % keys.size();
  }
  state.counters["each"] = benchmark::Counter(
      static_cast<double>(batch), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_Decide)
    ->ArgNames({"keys", "huge_pages", "batch"})
    ->ArgsProduct({{1'000, 10'000, 100'000}, {0}, {1, 16, 64}})
    ->ArgsProduct({{1'000'000}, {0}, {1, 16, 64}})
    ->ArgsProduct({{1'000'000}, {1}, {1, 16, 64}})
    ->ArgsProduct({{10'000'000}, {0}, {1, 16, 64}})
    ->ArgsProduct({{10'000'000}, {1}, {1, 16, 64}});

void BM_HotKey(benchmark::State& state) {
  static const std::unique_ptr<MemoryStore> store = make_store();
  const Key key(42);
  Asker asker;
  for (auto _ : state) benchmark::DoNotOptimize(asker.ask(*store, &key, 1));
}
BENCHMARK(BM_HotKey)->Threads(1)->Threads(2)->UseRealTime();

/// Each new key also pays its part of the growth.
void BM_NewKey(benchmark::State& state) {
  const auto store = make_store();
  Asker asker;
  std::uint64_t number = 0;
  for (auto _ : state) {
    const Key key(number++);
    benchmark::DoNotOptimize(asker.ask(*store, &key, 1));
  }
}
BENCHMARK(BM_NewKey)->Iterations(10'000'000);

/// Each new key makes another go.
void BM_NewKeyWithMemoryUsedUp(benchmark::State& state) {
  const auto store = make_store(std::size_t{64} << 20);
  Asker asker;
  std::uint64_t number = 0;
  while (store->stats().live_evictions == 0) {
    for (int i = 0; i < 100'000; ++i) {
      const Key key(number++);
      asker.ask(*store, &key, 1);
    }
  }
  for (auto _ : state) {
    const Key key(number++);
    benchmark::DoNotOptimize(asker.ask(*store, &key, 1));
  }
}
BENCHMARK(BM_NewKeyWithMemoryUsedUp);

/// The longest single decision while ten million keys come, most of them with all the growth. What the machine takes
/// for itself (interrupts, other processes) is in it, so its quantiles say more than its maximum on a busy machine.
void BM_LongestStep(benchmark::State& state) {
  for (auto _ : state) {
    const auto store = make_store();
    Asker asker;
    std::vector<std::uint32_t> took_ns;
    took_ns.reserve(10'000'000);
    for (std::uint64_t i = 0; i < 10'000'000; ++i) {
      const Key key(i);
      const std::int64_t before_ns = monotonic_ns();
      asker.ask(*store, &key, 1);
      took_ns.push_back(static_cast<std::uint32_t>(monotonic_ns() - before_ns));
    }
    std::sort(took_ns.begin(), took_ns.end());
    const auto quantile_us = [&](std::size_t from_the_end) { return took_ns[took_ns.size() - from_the_end] * 1e-3; };
    state.counters["p50_us"] = quantile_us(took_ns.size() / 2);
    state.counters["p99.99_us"] = quantile_us(1'000);
    state.counters["p99.9999_us"] = quantile_us(10);
    state.counters["max_us"] = quantile_us(1);
  }
}
BENCHMARK(BM_LongestStep)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ratel
