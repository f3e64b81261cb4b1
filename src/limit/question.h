#pragma once
// One question and its answer, as everything below the protocols speaks of them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "base/store_fault.h"
#include "limit/bound_limit.h"
#include "ratel/decision.h"

namespace ratel {

enum class Verb : std::uint8_t { kAllow, kAtMost, kPeek, kRefund, kReset, kReserve, kAcquire, kRenew, kRelease };

/// How many limits one question may name, over all its rules.
inline constexpr std::size_t kChargesMax = 16;
inline constexpr std::size_t kKeyBytesMax = 4096;
inline constexpr std::size_t kLeaseIdBytesMax = 128;
inline constexpr Micros kDeadlineMin_us = 1'000;       // a wheel of deadlines turns by the millisecond
inline constexpr Micros kDeadlineMax_us = kMinute_us;  // nobody waits longer to be told whether to wait

/// One counter that a question touches. Pointers and views are loans: they outlive the call, and for a store that
/// answers later, the answer.
struct Charge {
  const BoundLimit* limit = nullptr;
  std::string_view key;
  bool shadow = false;  // of a rule that counts and never denies
  FailureMode on_failure = FailureMode::kLocal;
  std::array<std::uint64_t, 2> hash{};  // filled by Store::prepare
};

struct Question {
  Verb verb = Verb::kAllow;
  std::span<Charge> charges;    // 1 to kChargesMax; no counter twice
  std::int64_t cost = 1;        // 0 to kCostMax
  Micros max_wait_us = 0;       // kReserve; kAtMost too, to charge what was reserved elsewhere: nobody waits
  std::string_view lease_id;    // kAcquire, kRenew, kRelease; 1 to kLeaseIdBytesMax bytes
  Micros lease_us = 0;          // kAcquire, kRenew; 1 to kLeaseMax_us
  Micros deadline_us = 50'000;  // how long the answer may take, from when it is asked
};

struct Answer {
  Decision decision;
  std::uint8_t binding = 0;    // index into the question's charges
  std::uint16_t violated = 0;  // bit i: charge i denied, or would have if it did not only watch
  bool ok = false;             // kRenew, kRelease: whether the lease was held
  /// Why the store gave no decision. From the store itself, all else but `faulty` then says nothing; once SafeStore has
  /// answered, the decision is valid, and its source says what it is of.
  StoreFault fault = StoreFault::kNone;
  std::uint16_t faulty = 0;  // kBadState: bit i: charge i
  // Of the shadow charges, which are a question of their own.
  Source shadow_source = Source::kExact;
  StoreFault shadow_fault = StoreFault::kNone;
};
static_assert(kChargesMax <= 16, "Answer::violated has a bit a charge");

}  // namespace ratel
