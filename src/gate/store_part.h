#pragma once
// One part of a store that fails apart from the others, as SafeStore sees it: its breaker, its probe, what answers for
// it, and what it is owed. For SafeStore alone; belongs to its event loop.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "gate/breaker.h"
#include "gate/of_late.h"
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
  /// What to answer to a question that the store answered so, and took so long to.
  Answer answered(const Question& question, const Answer& answer, Micros took_us, Instant now);
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
  /// Of a charge of what was admitted alone, for which nobody waits; or twice what the store takes of late.
  static constexpr Micros kRechargeDeadline_us = 500'000;
  /// And when it is tried again where it was not taken.
  static constexpr Micros kRechargeAgain_us = 50'000;
  /// A store is back when it answers a probe as soon as anybody needs it: the greatest deadline of the questions that
  /// it did not answer lately, this where there were none.
  static constexpr Micros kProbeDeadline_us = 50'000;
  /// And no less than this. A question with less patience, or with less than the store took to answer somebody else of
  /// late, says by a timeout more of itself than of the store, and opens no breaker for those who have it. A store that
  /// is silent towards all shows in the connections, which end.
  static constexpr Micros kProbeDeadlineLeast_us = 5 * kMillisecond_us;
  /// But one that is lost on a connection that has died unnoticed is not to be waited for until the most patient would
  /// have given up: for so long, and twice as long after each in a row that had no answer.
  static constexpr Micros kProbePatience_us = 500'000;
  /// Of late, of what the store takes.
  static constexpr Micros kPace_us = 30 * kSecond_us;
  /// What was admitted alone because of a single failure is charged so long after it.
  static constexpr Micros kOwed_us = kSecond_us;
  /// How many charges of what was admitted alone are under way at once.
  static constexpr std::size_t kRecharges = 16;

 private:
  class Recharge;

  /// The greatest of the durations noted lately; 0 where there were none.
  class Greatest {
   public:
    explicit Greatest(Micros window_us) : of_late_(window_us) {}

    void note(Micros duration_us, Micros now_us) {
      Micros& greatest_us = of_late_.now(now_us);
      greatest_us = std::max(greatest_us, duration_us);
    }
    Micros of_late_us(Micros now_us) { return std::max(of_late_.now(now_us), of_late_.before(now_us)); }

   private:
    OfLate<Micros> of_late_;
  };

  void learn(StoreFault fault, Micros deadline_us, Instant now);
  void went_down();
  Answer alone(const Question& question, StoreFault fault, Instant now);
  Micros retry_after_us(Instant now) const;

  void need(const Question& question, Micros now_us);
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
  Micros probe_patience_us_ = kProbePatience_us;
  Greatest needed_{Breaker::kWindow_us};  // deadline of a question without a decision
  Greatest pace_{kPace_us};               // what the store took for an answer

  Micros warm_us_ = 0;  // when kWarming ends at the latest
  bool owes_ = false;   // something was, or may have been, admitted alone
  Micros owes_since_us_ = 0;
  Micros patience_us_ = kOwed_us;
  Micros look_us_ = kNone_us;            // when to look for more that is owed
  std::vector<LocalShare::Owed> taken_;  // in recharge() only
  std::vector<std::unique_ptr<Recharge>> recharges_;
  std::size_t under_way_ = 0;
  bool recharging_now_ = false;
};

}  // namespace ratel
