#pragma once
// Why a store gave no decision.

#include <array>
#include <cstddef>
#include <cstdint>

namespace ratel {

enum class StoreFault : std::uint8_t {
  kNone,         // it decided
  kUnreachable,  // it was not asked: no connection, or none that answers
  kRefused,      // it said that it did nothing: out of memory, loading, read-only, no rights...
  kTimeout,      // no answer by the deadline; it may have decided
  kLost,         // the connection ended before the answer; it may have decided
  kBadState,     // what stands under a counter's key is not a counter; Answer::faulty says whose. Nobody was charged
  kCrowded,  // it was not asked, through no fault of its own: no room among what it is asked already, or no time left
};
inline constexpr std::size_t kStoreFaultCount = 7;

/// Whether it is sure that nobody was charged.
constexpr bool surely_not_charged(StoreFault fault) {
  return fault == StoreFault::kUnreachable || fault == StoreFault::kRefused || fault == StoreFault::kCrowded;
}

/// As metrics and logs call it.
constexpr const char* name_of(StoreFault fault) {
  constexpr std::array<const char*, kStoreFaultCount> kNames = {"none", "unreachable", "refused", "timeout",
                                                                "lost", "bad_state",   "crowded"};
  return kNames[static_cast<std::size_t>(fault)];
}

}  // namespace ratel
