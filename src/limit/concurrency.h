#pragma once
// Concurrency with leases: a slot is held until it is released or its lease ends, so that a holder that dies gives its
// slot back. One counter at one instant.
//
// The record is the set of leases: at most `count` that are held, since each takes at least one slot, and those that
// have ended and were not forgotten yet, which count for nothing. A lease is held while now < its end. The cell holds
// the latest end. A question takes the logarithm of their number.
//
// A value on the stack of decide(); borrows the limit, the cell, the record and the lease's id.

#include <memory>
#include <string_view>

#include "limit/cell.h"
#include "limit/limit.h"

namespace ratel {

class Concurrency {
 public:
  /// `id` and `lease_us` of the question; an empty id is that of nobody.
  Concurrency(const Limit& limit, Cell& cell, std::unique_ptr<Record>& record, Micros now_us, std::string_view id,
              Micros lease_us);  // forgets some of the leases that have ended, which changes no answer

  /// 0 when the slots are free or `id` holds a lease. Otherwise a hint: the soonest that enough
  /// leases run out.
  Micros wait_us(std::int64_t cost) const;
  std::int64_t remaining() const;
  /// Until the last lease runs out.
  Micros reset_after_us() const;
  bool held() const;
  /// Of the record, when charged.
  std::size_t bytes_after(std::int64_t cost) const;
  /// Takes slots under a lease; a lease held already is renewed, and its cost stays. REQUIRES: wait_us(cost) == 0.
  void charge(std::int64_t cost);
  void renew();    // REQUIRES: held()
  void release();  // REQUIRES: held()
  void reset();

 private:
  class Leases;

  /// Leases that are forgotten at a time: more than a question adds, so that the ended ones never grow in number, and
  /// few enough that a million which end together hold up nobody.
  static constexpr int kForgottenMax = 16;

  void forget_ended();
  void settle();

  const Limit& limit_;
  Cell& cell_;
  std::unique_ptr<Record>& record_;
  Micros now_us_;
  std::string_view id_;
  Micros lease_us_;
  Leases* leases_ = nullptr;  // the record; nullptr where no lease is held
  std::int64_t used_ = 0;
};

}  // namespace ratel
