#pragma once
// When to stop asking a store that does not answer, and when to look whether it is back.
//
// Closed, every question is asked. It opens on failures in a row, or on a share of failures among enough questions of
// the last seconds; then nobody asks but a probe now and then, and a probe that gets a decision closes it. Pure: told
// what happened and when. Belongs to one event loop.

#include <cstdint>

#include "base/micros.h"
#include "base/randomness.h"
#include "gate/of_late.h"

namespace ratel {

class Breaker {
 public:
  /// A dead store costs this many callers their deadline at most, and then nobody.
  static constexpr int kFailuresInARow = 5;
  /// A sick one, that answers some: half of at least so many within one to two windows.
  static constexpr std::uint32_t kOutcomesMin = 20;
  static constexpr Micros kWindow_us = 5 * kSecond_us;
  /// Probes: soon, for what was a hiccup, then as often as lets answers be exact again within a second. When it opens
  /// again within a window of closing, it was no hiccup: the pauses go on where they were.
  static constexpr Micros kFirstProbe_us = 50'000;
  static constexpr Micros kLastProbe_us = 400'000;

  /// `randomness` spreads the probes of a fleet; a loan.
  explicit Breaker(Randomness& randomness) : randomness_(randomness) {}

  bool open() const { return open_; }

  /// What became of a question.
  void succeeded(Micros now_us);
  void failed(Micros now_us);

  /// Opens at once, as for a connection that is known to be gone.
  void trip(Micros now_us);

  /// REQUIRES: open(). When the next probe is due, kNone_us while one is under way.
  static constexpr Micros kNone_us = -1;
  Micros probe_due_us() const { return probing_ ? kNone_us : probe_us_; }
  /// Whether to probe now; if so, probe_succeeded or probe_failed is to follow.
  bool begin_probe(Micros now_us);
  /// Something has changed for the better: the next probe is due now, unless one is under way.
  void probe_soon(Micros now_us);
  void probe_succeeded(Micros now_us);
  void probe_failed(Micros now_us);

 private:
  struct Outcomes {
    std::uint32_t succeeded = 0, failed = 0;
  };

  void pause_longer(Micros now_us);

  Randomness& randomness_;
  bool open_ = false;
  bool probing_ = false;
  int failures_in_a_row_ = 0;
  OfLate<Outcomes> outcomes_{kWindow_us};
  Micros probe_us_ = 0;
  Micros pause_us_ = 0;  // between the last probe and the next, before the jitter
  Micros closed_us_ = -kWindow_us;
};

}  // namespace ratel
