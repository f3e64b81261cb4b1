#pragma once
// Which counter it is, as 128 bits. Only for this process: whoever knows the seed can make keys that meet.

#include <array>
#include <cstdint>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ratel {

/// Each is hashed by itself, so no pair can be another by where one ends and the other begins; with seeds of their own,
/// so that none is another turned round; and neither waits for the other, as it would if one were the other's seed.
inline std::array<std::uint64_t, 2> key_hash(std::string_view identity, std::string_view key, std::uint64_t seed) {
  const XXH128_hash_t which = XXH3_128bits_withSeed(identity.data(), identity.size(), ~seed);
  const XXH128_hash_t whose = XXH3_128bits_withSeed(key.data(), key.size(), seed);
  return {whose.high64 ^ which.high64, whose.low64 ^ which.low64};
}

}  // namespace ratel
