#pragma once
// Counts in the memory of this process.

#include "lib/backend.h"
#include "net/random_seed.h"
#include "net/system_clock.h"
#include "store/memory_store.h"

namespace ratel {

class MemoryBackend final : public Backend {
 public:
  explicit MemoryBackend(const MemoryOptions& options)
      : store_({.seed = random_seed(), .max_memory_bytes = options.max_memory_bytes, .start = clock_.now()}) {}

  Result<Decision> ask(Question& question) override {
    Answer answer;
    const auto keep = [](void* context, std::uint64_t, const Answer& given) { *static_cast<Answer*>(context) = given; };
    store_.prepare(question);
    store_.ask(question, clock_.now(), {keep, &answer, 0});
    return answer.decision;
  }

  MemoryUse memory_use() const override {
    const TableStats stats = store_.stats();
    return {stats.entries, stats.bytes, stats.max_bytes, stats.live_evictions, stats.refusals};
  }

  void tidy() override {
    constexpr std::uint32_t kBuckets = 256;
    store_.tidy(clock_.now(), kBuckets);
  }

 private:
  SystemClock clock_;
  MemoryStore store_;
};

}  // namespace ratel
