// What a key takes in the memory store: growth of the process, measured at one million and ten million gcra keys.

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <string>

#include "base/check.h"
#include "store/memory_store.h"

namespace {

double resident_bytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  CHECK(file != nullptr);
  long total = 0;
  long resident = 0;
  CHECK(std::fscanf(file, "%ld %ld", &total, &resident) == 2);
  std::fclose(file);
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void ignore(void*, std::uint64_t, const ratel::Answer&) {}

}  // namespace

int main() {
  using namespace ratel;
  const BoundLimit limit{*make_limit({.count = 100, .period_us = kDay_us}), "R5:login1:14:gcra0:", "login"};
  for (const int keys : {1'000'000, 10'000'000}) {
    const double before = resident_bytes();
    MemoryStore store({.seed = 0x5eed, .max_memory_bytes = std::size_t{4} << 30});
    for (int i = 0; i < keys; ++i) {
      const std::string key = "user:" + std::to_string(i);
      Charge charge{.limit = &limit, .key = key};
      Question question{.charges = {&charge, 1}};
      store.prepare(question);
      store.ask(question, {}, {ignore, nullptr, 0});
    }
    const TableStats stats = store.stats();
    CHECK(stats.entries == static_cast<std::uint64_t>(keys));
    std::printf("%8d keys: %.2f bytes a key (%.2f by the store's own count)\n", keys,
                (resident_bytes() - before) / keys, static_cast<double>(stats.bytes) / keys);
  }
}
