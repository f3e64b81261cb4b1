#pragma once
// Chance as a value that is handed in: the same seed gives the same run. xoshiro256** (Blackman, Vigna 2018), seeded
// through splitmix64. Good for ids and jitter; not for secrets. Belongs to one thread.

#include <array>
#include <bit>
#include <cstdint>

#include "base/randomness.h"

namespace ratel {

class Prng final : public Randomness {
 public:
  explicit Prng(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15;
      std::uint64_t mixed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
      word = mixed ^ (mixed >> 31);
    }
  }

  std::uint64_t next() override {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace ratel
