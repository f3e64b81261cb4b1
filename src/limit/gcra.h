#pragma once
// GCRA, also called token bucket and leaky bucket (as a meter): one counter at one instant.
//
// The state is the theoretical arrival time q + r/L (until_us and word of the cell): the instant at which the bucket
// will be full again; beside r stands the L that it is of. Rickard et al., ITU-T I.371; here in the form "new arrival
// time - now <= capacity time", so that a cost may be any number of units. Header-only because this is the path of
// nearly every question.
//
// A value on the stack of decide(); borrows the limit and the cell.

#include <algorithm>

#include "limit/cell.h"
#include "limit/fraction.h"
#include "limit/limit.h"

namespace ratel {

class Gcra {
 public:
  Gcra(const Limit& limit, Cell& cell, Micros now_us) : limit_(limit), cell_(cell), now_us_(now_us) {
    arrival_ = {now_us, 0};
    if (cell.until_us < now_us || limit.count == 0) return;
    arrival_ = {cell.until_us, static_cast<std::int64_t>(cell.word & 0xffff'ffff)};
    // Written under another count: the same time, to the microsecond above, so that no change of numbers gives
    // anything.
    if (arrival_.r > 0 && cell.word >> 32 != static_cast<std::uint64_t>(limit.count)) [[unlikely]] {
      arrival_ = {arrival_.q_us + 1, 0};
    }
    const Fraction bound{limit.capacity_time.q_us + limit.max_wait_us + kClockSlack_us, limit.capacity_time.r};
    if (Fraction{arrival_.q_us - now_us, arrival_.r} > bound) [[unlikely]] {
      arrival_ = {now_us + limit.capacity_time.q_us, limit.capacity_time.r};
      faulty_ = true;
    }
  }

  /// 0 when `cost` is admitted now, else how long until it is, rounded up; kNever_us above the capacity.
  Micros wait_us(std::int64_t cost) const {
    if (cost == 0) return 0;
    if (cost > limit_.capacity) return kNever_us;
    const Fraction over = minus(after(cost), limit_.capacity_time, limit_.count);
    return std::max<Micros>(0, round_up({over.q_us - now_us_, over.r}));
  }

  std::int64_t remaining() const {
    if (limit_.count == 0) return 0;
    const Fraction left = minus({now_us_ + limit_.capacity_time.q_us, limit_.capacity_time.r}, arrival_, limit_.count);
    if (left.q_us < 0) return 0;
    return quotient(product(left.q_us, limit_.count) + static_cast<Wide>(left.r), limit_.period_us);
  }

  /// The most units that reservations get together which may wait so long, or kUnitsMost. (One of them gets no more
  /// than the capacity.)
  std::int64_t remaining_within(Micros wait_us) const {
    if (wait_us == 0 || limit_.count == 0) return remaining();
    const Micros farthest_us = now_us_ + wait_us + limit_.capacity_time.q_us;
    const Fraction left = minus({farthest_us, limit_.capacity_time.r}, arrival_, limit_.count);
    if (left.q_us < 0) return 0;
    return quotient_at_most(product(left.q_us, limit_.count) + static_cast<Wide>(left.r), limit_.period_us);
  }

  /// Units that are spent and have not come back, begun ones as whole ones, or kUnitsMost. More than the capacity where
  /// some are reserved ahead.
  std::int64_t used() const {
    const Wide debt = product(arrival_.q_us - now_us_, limit_.count) + static_cast<Wide>(arrival_.r);
    return quotient_at_most(debt + static_cast<Wide>(limit_.period_us - 1), limit_.period_us);
  }

  Micros reset_after_us() const { return round_up({arrival_.q_us - now_us_, arrival_.r}); }

  /// REQUIRES: cost <= capacity, or <= remaining_within() of some wait. May go into debt: a reservation does.
  void charge(std::int64_t cost) {
    if (cost == 0) return;
    arrival_ = after(cost);
    store();
  }

  /// Never lifts above full.
  void refund(std::int64_t cost) {
    const Fraction debt{arrival_.q_us - now_us_, arrival_.r};
    if (cost == 0 || debt == Fraction{}) return;
    // Compared as products, because the time of a cost far above the debt may not fit 64 bits.
    if (product(cost, limit_.period_us) >= product(debt.q_us, limit_.count) + static_cast<Wide>(debt.r)) {
      arrival_ = {now_us_, 0};  // and not absent: to a clock that runs back, a full bucket of the future is still ahead
    } else {
      arrival_ = minus(arrival_, duration(cost), limit_.count);
    }
    store();
  }

  void reset() {
    arrival_ = {now_us_, 0};
    cell_ = Cell{};
    faulty_ = false;
  }

  /// Stores what a faulty arrival time was read as, so that the fault ends even if nothing is ever admitted.
  void repair() {
    if (faulty_) [[unlikely]]
      store();
  }

 private:
  Fraction duration(std::int64_t cost) const {
    return cost == 1 ? limit_.interval : time_of(cost, limit_.period_us, limit_.count);
  }
  Fraction after(std::int64_t cost) const { return plus(arrival_, duration(cost), limit_.count); }
  void store() {
    cell_ = {.until_us = arrival_.q_us,
             .word = static_cast<std::uint64_t>(limit_.count) << 32 | static_cast<std::uint64_t>(arrival_.r)};
    faulty_ = false;
  }

  const Limit& limit_;
  Cell& cell_;
  Micros now_us_;
  Fraction arrival_;  // now where the bucket is full
  bool faulty_ = false;
};

}  // namespace ratel
