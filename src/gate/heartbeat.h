#pragma once
// How many processes share a store: each holds a lease there that it keeps renewing, and what a renewal answers tells
// how many do. Decides with what share of each limit this process goes on while the store is away (LocalShare).
//
// A number that falls is believed only when it has stayed low for as long as a lease lasts: after a restart of the
// store all are gone at first, and come back one by one. While the store is away the last number stays.
//
// One a process, on one of its event loops; not thread-safe.

#include <array>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "limit/question.h"
#include "store/local_share.h"
#include "store/store.h"

namespace ratel {

class Heartbeat {
 public:
  static constexpr Micros kBeat_us = kSecond_us;
  /// Two beats may be missed.
  static constexpr Micros kLease_us = 3 * kSecond_us;
  static constexpr Micros kDeadline_us = kBeat_us / 2;

  /// `id` is of this process alone, at most kLeaseIdBytesMax bytes. `remote` is asked without failure modes, and owes
  /// no answer any more when this is destroyed.
  Heartbeat(Store& remote, LocalShare& local, std::string id);
  Heartbeat(const Heartbeat&) = delete;

  /// When to call tick(): monotonic.
  Micros due_us() const { return due_us_; }
  void tick(Instant now);

 private:
  void answered(const Answer& answer);
  void heard(int processes);

  Store& remote_;
  LocalShare& local_;
  const std::string id_;
  const BoundLimit limit_;
  std::array<Charge, 1> charges_;
  Question question_;
  bool asked_ = false;  // and no answer yet
  Micros asked_us_ = 0;
  Micros due_us_ = 0;
  Micros heard_us_ = 0;      // when a number was told last
  Micros low_since_us_ = 0;  // since when all numbers told were lower than what is believed; 0: they are not
  int highest_ = 0;          // of those
};

}  // namespace ratel
