#pragma once
// Sliding log: exact, every window (t - W, t] holds at most the limit. One counter at one instant.
//
// The record is a list of admitted costs by time, at most one entry a microsecond and at most `count` of them, since
// each cost at least 1. A clock behind the newest entry stands at that entry, or early entries would age out early.
// The cell holds the end of the newest entry's influence.
//
// A value on the stack of decide(); borrows the limit, the cell and the record.

#include <memory>

#include "limit/cell.h"
#include "limit/limit.h"

namespace ratel {

class SlidingLog {
 public:
  SlidingLog(const Limit& limit, Cell& cell, std::unique_ptr<Record>& record, Micros now_us);

  Micros wait_us(std::int64_t cost) const;
  std::int64_t remaining() const;
  Micros reset_after_us() const;
  /// Of the record, when charged.
  std::size_t bytes_after(std::int64_t cost) const;
  /// REQUIRES: wait_us(cost) == 0.
  void charge(std::int64_t cost);
  /// Takes from the newest.
  void refund(std::int64_t cost);
  void reset();

 private:
  class Log;

  void read();
  void forget_expired();

  const Limit& limit_;
  Cell& cell_;
  std::unique_ptr<Record>& record_;
  Micros now_us_;
  Log* log_ = nullptr;     // the record; nullptr where nothing counts
  std::size_t first_ = 0;  // of the log's entries, the oldest that counts
  std::int64_t used_ = 0;
};

}  // namespace ratel
