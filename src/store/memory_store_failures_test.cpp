// What the store keeps when the process has no more memory for a record.
//
// The operators are kept out of line, because where the compiler sees both a use and the malloc behind it, it warns.

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>

#include "store/memory_store.h"
#include "store/store_testing.h"

namespace {
thread_local bool has_no_memory = false;
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (!has_no_memory) {
    if (void* const at = std::malloc(bytes)) return at;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return has_no_memory ? nullptr : std::malloc(bytes);
}
[[gnu::noinline]] void operator delete(void* at) noexcept {
  std::free(at);
}
[[gnu::noinline]] void operator delete(void* at, std::size_t) noexcept {
  std::free(at);
}

namespace ratel {
namespace {

TEST(MemoryStore, LosesNoRecordWhenAnotherFindsNoMemory) {
  const BoundLimit leases = bound({.algorithm = Algorithm::kConcurrency, .count = 100}, "leases");
  MemoryStore store({.seed = 1, .start = at(kStart_us)});
  const auto acquire = [&](const std::string& id) {
    Charge charge{.limit = &leases, .key = "key"};
    return ask(store, {.verb = Verb::kAcquire, .charges = {&charge, 1}, .lease_id = id, .lease_us = kDay_us},
               at(kStart_us))
        .decision.remaining;
  };
  EXPECT_EQ(acquire("0"), 99);
  const std::uint64_t bytes = store.stats().bytes;
  bool has_failed = false;
  for (int i = 1; i < 20 && !has_failed; ++i) {
    const std::string id = std::to_string(i);
    has_no_memory = true;
    try {
      const std::int64_t remaining = acquire(id);
      has_no_memory = false;
      EXPECT_EQ(remaining, 99 - i);
    } catch (const std::bad_alloc&) {
      has_no_memory = false;
      has_failed = true;
      EXPECT_EQ(acquire(id), 99 - i) << "forgot the leases";
    }
  }
  EXPECT_TRUE(has_failed);
  EXPECT_GT(store.stats().bytes, bytes);
}

}  // namespace
}  // namespace ratel
