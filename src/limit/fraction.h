#pragma once
// Exact time arithmetic of limit/: products that may pass 64 bits, and times with a fraction. Pure; any thread.
//
// 64-bit division costs a third of 128-bit division, and nearly every limit in use fits, so it is tried first.

#include <cstdint>

#include "limit/limit.h"

namespace ratel {

__extension__ using Wide = unsigned __int128;

/// a * b. REQUIRES: a, b >= 0.
constexpr Wide product(std::int64_t a, std::int64_t b) {
  return static_cast<Wide>(a) * static_cast<Wide>(b);
}

/// floor(numerator / divisor). REQUIRES: divisor > 0; the result fits 63 bits.
constexpr std::int64_t quotient(Wide numerator, std::int64_t divisor) {
  if (numerator >> 64 == 0) [[likely]] {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(numerator) / static_cast<std::uint64_t>(divisor));
  }
  return static_cast<std::int64_t>(numerator / static_cast<Wide>(divisor));
}

/// floor(a * b / c). REQUIRES: a, b >= 0; c > 0; the result fits 63 bits.
constexpr std::int64_t mul_div(std::int64_t a, std::int64_t b, std::int64_t c) {
  return quotient(product(a, b), c);
}

/// ceil(a * b / c). REQUIRES: as mul_div.
constexpr std::int64_t mul_div_up(std::int64_t a, std::int64_t b, std::int64_t c) {
  const std::int64_t floor = mul_div(a, b, c);
  return floor + (product(floor, c) != product(a, b) ? 1 : 0);
}

/// units * period / count as microseconds and a remainder over count. REQUIRES: units, period >= 0; count > 0; the
/// microseconds fit 63 bits.
constexpr Fraction time_of(std::int64_t units, Micros period_us, std::int64_t count) {
  const Wide time = product(units, period_us);
  const Micros q_us = quotient(time, count);
  return {.q_us = q_us, .r = static_cast<std::int64_t>(time - product(q_us, count))};
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

/// Stands for any more units: time may be worth more than 64 bits hold.
inline constexpr std::int64_t kUnitsMost = std::int64_t{1} << 62;

/// floor(numerator / divisor), or kUnitsMost where it is more. REQUIRES: divisor > 0.
constexpr std::int64_t quotient_at_most(Wide numerator, std::int64_t divisor) {
  if (numerator >= product(kUnitsMost, divisor)) return kUnitsMost;
  return quotient(numerator, divisor);
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
