#pragma once
// Chance from the machine, once at the start; what needs more draws it from a Prng that this seeds.

#include <cstdint>

namespace ratel {

/// 64 bits that nobody can guess.
std::uint64_t random_seed();

}  // namespace ratel
