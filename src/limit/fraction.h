#pragma once
// Exact time arithmetic of limit/: products that may pass 64 bits, and times with a fraction. Pure; any thread.
//
// 64-bit division costs a third of 128-bit division, and nearly every limit in use fits, so each function tries it
// first.

#include <cstdint>

#include "limit/limit.h"

namespace ratel {

__extension__ using Wide = unsigned __int128;

/// floor(a * b / c). REQUIRES: a, b >= 0; c > 0; the result fits 63 bits.
constexpr std::int64_t mul_div(std::int64_t a, std::int64_t b, std::int64_t c) {
  std::uint64_t product = 0;
  if (!__builtin_mul_overflow(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b), &product)) [[likely]] {
    return static_cast<std::int64_t>(product / static_cast<std::uint64_t>(c));
  }
  return static_cast<std::int64_t>(static_cast<Wide>(a) * static_cast<Wide>(b) / static_cast<Wide>(c));
}

/// ceil(a * b / c). REQUIRES: as mul_div.
constexpr std::int64_t mul_div_up(std::int64_t a, std::int64_t b, std::int64_t c) {
  const Wide product = static_cast<Wide>(a) * static_cast<Wide>(b);
  const std::int64_t floor = mul_div(a, b, c);
  return floor + (static_cast<Wide>(floor) * static_cast<Wide>(c) != product ? 1 : 0);
}

/// units * period / count as microseconds and a remainder over count. REQUIRES: units, period >= 0; count > 0.
constexpr Fraction time_of(std::int64_t units, Micros period_us, std::int64_t count) {
  std::uint64_t product = 0;
  if (!__builtin_mul_overflow(static_cast<std::uint64_t>(units), static_cast<std::uint64_t>(period_us), &product))
      [[likely]] {
    const auto divisor = static_cast<std::uint64_t>(count);
    return {static_cast<Micros>(product / divisor), static_cast<std::int64_t>(product % divisor)};
  }
  const Wide wide = static_cast<Wide>(units) * static_cast<Wide>(period_us);
  return {static_cast<Micros>(wide / static_cast<Wide>(count)),
          static_cast<std::int64_t>(wide % static_cast<Wide>(count))};
}

/// a + b over the same count, with one carry.
constexpr Fraction plus(Fraction a, Fraction b, std::int64_t count) {
  Fraction sum{a.q_us + b.q_us, a.r + b.r};
  if (sum.r >= count) {
    sum.r -= count;
    ++sum.q_us;
  }
  return sum;
}

/// a - b over the same count, with one borrow. The whole part may become negative.
constexpr Fraction minus(Fraction a, Fraction b, std::int64_t count) {
  Fraction difference{a.q_us - b.q_us, a.r - b.r};
  if (difference.r < 0) {
    difference.r += count;
    --difference.q_us;
  }
  return difference;
}

constexpr Micros round_up(Fraction time) {
  return time.q_us + (time.r > 0 ? 1 : 0);
}

}  // namespace ratel
