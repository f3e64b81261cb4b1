#pragma once
// Why a store gave no decision.

#include <array>
#include <cstddef>
#include <cstdint>

namespace ratel {

/// The first two after kNone are sure not to have charged anybody.
enum class StoreFault : std::uint8_t {
  kNone,         // it decided
  kUnreachable,  // it was not asked: no connection, or too much is owed on it already
  kRefused,      // it said that it did nothing: out of memory, loading, read-only, no rights...
  kTimeout,      // no answer by the deadline; it may have decided
  kLost,         // the connection ended before the answer; it may have decided
  kBadState,     // what stands under a counter's key is not a counter; Answer::faulty says whose. Nobody was charged
};
inline constexpr std::size_t kStoreFaultCount = 6;

/// As metrics and logs call it.
constexpr const char* name_of(StoreFault fault) {
  constexpr std::array<const char*, kStoreFaultCount> kNames = {"none",    "unreachable", "refused",
                                                                "timeout", "lost",        "bad_state"};
  return kNames[static_cast<std::size_t>(fault)];
}

}  // namespace ratel
