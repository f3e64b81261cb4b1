#pragma once
// Chance from the machine, which nobody can guess.

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/randomness.h"

namespace ratel {

/// 64 bits that nobody can guess.
std::uint64_t random_seed();

/// For what must stay secret whatever was drawn before: a Prng is known to whoever has seen a few of its words.
class SystemRandomness final : public Randomness {
 public:
  std::uint64_t next() override;

 private:
  // As many bytes as the system gives at once without fail.
  std::array<std::uint64_t, 32> drawn_{};
  std::size_t left_ = 0;
};

}  // namespace ratel
