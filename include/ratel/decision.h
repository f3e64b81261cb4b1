#pragma once
// The answer to "may this key spend this cost?".

#include <chrono>
#include <cstdint>

namespace ratel {

/// How an answer came about. Everything but kExact and kDenyCache is an approximation, and says so.
enum class Source : std::uint8_t { kExact, kDenyCache, kPrepaid, kLocal, kFailedOpen, kFailedClosed };

/// As it stands on the wire: exact, deny_cache, prepaid, local, failed_open, failed_closed.
const char* name_of(Source source);

/// What answers for a store elsewhere that cannot: this process alone with its share of the limit (Source::kLocal), a
/// yes (kFailedOpen), or a no (kFailedClosed).
enum class FailureMode : std::uint8_t { kLocal, kAllow, kDeny };

/// retry_after of a cost that no waiting makes fit (it is above the capacity).
inline constexpr std::chrono::microseconds kNever{-1};

/// limit and remaining of an unlimited rule.
inline constexpr std::int64_t kUnlimited = -1;

/// All fields are those of the binding limit: denied, the violated one with the longest retry; allowed, the one with
/// the least remaining; the first of equals.
struct Decision {
  bool allowed = false;
  /// Whether the rule would have denied but only watches (`shadow: true`).
  bool would_deny = false;
  Source source = Source::kExact;
  /// Capacity: the burst of gcra, the count of a window, the slots of a concurrency limit. Units.
  std::int64_t limit = 0;
  /// The largest cost that would be admitted now. Units, rounded down, never negative.
  std::int64_t remaining = 0;
  /// The same cost is admitted after this long if nobody else spends, and not a microsecond earlier. Zero exactly when
  /// allowed; kNever when the cost is above the capacity. For concurrency a hint: the soonest that leases run out.
  std::chrono::microseconds retry_after{0};
  /// When the limit is as good as new.
  std::chrono::microseconds reset_after{0};
  /// Of a question for "up to n": how many were granted. Otherwise the cost when allowed, else 0; what
  /// spends nothing (refund, reset, renew, release) grants 0.
  std::int64_t granted = 0;
  /// Of a reservation: how long to wait before going ahead.
  std::chrono::microseconds delay{0};
};

}  // namespace ratel
