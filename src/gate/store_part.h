#pragma once
// One part of a store that fails apart from the others, as SafeStore sees it: its breaker, its probe, what answers for
// it, and what it is owed. For SafeStore alone; belongs to its event loop.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "gate/breaker.h"
#include "store/local_share.h"
#include "store/store.h"

namespace ratel {

class StorePart {
 public:
  enum class State : std::uint8_t {
    kUp,       // questions go to the store
    kDown,     // they do not; a probe is due or under way
    kWarming,  // it is back; what was admitted alone is being charged, for at most kWarming_us
  };

  struct Stats {
    std::array<std::uint64_t, kStoreFaultCount> faults{};  // questions without a decision, by StoreFault
    std::uint64_t opened = 0;                              // how often the breaker has
    std::uint64_t charged = 0;                             // units admitted alone, charged since
    std::uint64_t lost = 0;  // units admitted alone for which there was no room, or of which it is not known
  };

  /// Of all parts; loans.
  struct Shared {
    Store& remote;
    LocalShare& local;
    const Clock& clock;
    Randomness& randomness;
    Stats& stats;
  };
  StorePart(const Shared& shared, std::size_t part);
  ~StorePart();
  StorePart(const StorePart&) = delete;
  StorePart& operator=(const StorePart&) = delete;

  State state() const { return state_; }
  /// What to answer to a question that the store answered so.
  Answer answered(const Question& question, const Answer& answer, Instant now);
  /// What to answer without the store.
  Answer stand_in(const Question& question, StoreFault fault, Instant now);

  static constexpr Micros kNone_us = -1;
  Micros due_us() const;
  void tick(Instant now);
  /// The store may be back: a probe is due if one is wanted.
  void probe_soon(Instant now);

  /// What is owed is due at once from now on.
  void hurry() { patience_us_ = 0; }
  bool owes() const { return owes_; }
  std::uint64_t unsettled() const;

  static constexpr Micros kWarming_us = 500'000;
  /// Of a charge of what was admitted alone, for which nobody waits.
  static constexpr Micros kRechargeDeadline_us = 500'000;
  /// And when it is tried again where there was no room for it.
  static constexpr Micros kRechargeAgain_us = 50'000;
  /// A store is back when it answers a probe as soon as questions need it: the least deadline of those that it did not
  /// answer lately, this where there were none.
  static constexpr Micros kProbeDeadline_us = 50'000;
  /// And no less than this. A question with less patience, or that came here with next to nothing left of its time,
  /// says by a timeout more of itself than of the store: that neither opens the breaker nor decides when the store is
  /// back. A store that is silent towards all shows in the connections, which end.
  static constexpr Micros kProbeDeadlineLeast_us = 5 * kMillisecond_us;
  /// What was admitted alone because of a single failure is charged so long after it.
  static constexpr Micros kOwed_us = kSecond_us;
  /// How many charges of what was admitted alone are under way at once.
  static constexpr std::size_t kRecharges = 16;

 private:
  class Recharge;

  void learn(StoreFault fault, Micros deadline_us, Instant now);
  void went_down();
  Answer alone(const Question& question, StoreFault fault, Instant now);
  Micros retry_after_us(Instant now) const;

  void need(const Question& question, Micros now_us);
  Micros probe_deadline_us() const;
  void probe(Instant now);
  void probed(const Answer& answer);
  void recharge(Instant now);
  void recharged(Recharge& done, const Answer& answer);

  const Shared shared_;
  const std::size_t part_;
  Breaker breaker_;
  State state_ = State::kUp;

  // A probe asks about a key that had no answer, so that it goes where that one went, and charges a counter of its own.
  std::string failed_key_;
  std::string probe_key_;
  BoundLimit probe_limit_;
  Charge probe_charge_;
  Question probe_;
  Micros probed_us_ = 0;  // when the probe was asked
  struct Needed {
    Micros began_us = 0;
    Micros deadline_us = kNone_us;  // the least of questions without a decision
  };
  Needed needed_, needed_before_;  // in this and the last Breaker::kWindow_us

  Micros warm_us_ = 0;  // when kWarming ends at the latest
  bool owes_ = false;   // something was, or may have been, admitted alone
  Micros owes_since_us_ = 0;
  Micros patience_us_ = kOwed_us;
  Micros look_us_ = kNone_us;           // when to look for more that is owed
  std::vector<LocalShare::Owed> taken_;  // in recharge() only
  std::vector<std::unique_ptr<Recharge>> recharges_;
  std::size_t under_way_ = 0;
  bool recharging_now_ = false;
};

}  // namespace ratel
