#pragma once
// A store that always answers in time: another one behind a circuit breaker, and the failure mode of each rule where
// that one gives no decision.
//
// `local`: this process alone with its share (LocalShare). `allow`: yes, marked `failed_open`. `deny`: no, marked
// `failed_closed`, to be asked again when the next probe is due. A question about several limits goes by the strictest
// mode among them, and of its limits only those of the mode `local` are counted. Answer::fault says why the store gave
// none. A cost that no waiting makes fit, which needs no store, is denied whatever the mode, as a store would: `local`,
// kNever. While the breaker is open nobody waits. When a probe finds the store back, what was admitted alone is charged
// to it first; a charge of which it is not known whether it was done is not repeated.
//
// What is not asking for units is not made up for. Leases are neither given, renewed nor released without the store
// (`ok` is false, but for the mode `allow`, where a yes says nothing): one that was to be released ends by its time. A
// reset or a refund reaches only what this process has counted alone.
//
// One an event loop; not thread-safe. LocalShare is shared by them.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "gate/breaker.h"
#include "store/local_share.h"
#include "store/store.h"

namespace ratel {

class SafeStore final : public Store {
 public:
  /// All loans, but that the store owes no answer any more when this is destroyed.
  SafeStore(Store& remote, LocalShare& local, const Clock& clock, Randomness& randomness);
  ~SafeStore() override;

  void prepare(Question& question) override { remote_.prepare(question); }
  void ask(const Question& question, Instant now, Completion done) override;

  enum class State : std::uint8_t {
    kUp,       // questions go to the store
    kDown,     // they do not; a probe is due or under way
    kWarming,  // it is back; what was admitted alone is being charged, for at most kWarming_us
  };
  State state() const { return state_; }

  /// When to call tick(): monotonic; kNone_us where there is nothing to do but to wait for answers.
  static constexpr Micros kNone_us = -1;
  Micros due_us() const;
  void tick(Instant now);

  struct Stats {
    std::array<std::uint64_t, kStoreFaultCount> faults{};  // questions without a decision, by StoreFault
    std::uint64_t opened = 0;               // how often the breaker has
    std::uint64_t charged = 0;              // units admitted alone, charged since
    std::uint64_t lost = 0;  // units admitted alone for which there was no room, or of which it is not known
  };
  const Stats& stats() const { return stats_; }

  static constexpr Micros kWarming_us = 500'000;
  /// Of a charge of what was admitted alone, for which nobody waits.
  static constexpr Micros kRechargeDeadline_us = 500'000;
  /// A store is back when it answers a probe as soon as questions need it: the least deadline of those that it did not
  /// answer lately, this where there were none.
  static constexpr Micros kProbeDeadline_us = 50'000;
  /// What was admitted alone because of a single failure is charged so long after it.
  static constexpr Micros kOwed_us = kSecond_us;
  /// How many charges of what was admitted alone are under way at once.
  static constexpr std::size_t kRecharges = 16;

 private:
  class Pending;
  class Recharge;

  void answered(const Question& question, const Answer& answer, Completion done);
  void learn(StoreFault fault, Instant now);
  void went_down();
  Answer stand_in(const Question& question, StoreFault fault, Instant now);
  Answer alone(const Question& question, Instant now);
  Micros retry_after_us(Instant now) const;

  void need(Micros deadline_us, Micros now_us);
  Micros probe_deadline_us() const;
  void probe(Instant now);
  void probed(const Answer& answer);
  void recharge(Instant now);
  void recharged(Recharge& done, const Answer& answer);

  Store& remote_;
  LocalShare& local_;
  const Clock& clock_;
  Breaker breaker_;
  State state_ = State::kUp;
  Stats stats_;
  std::vector<std::unique_ptr<Pending>> idle_;  // reused, so that asking allocates nothing after warm-up

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
  Micros look_us_ = kNone_us;  // since when there is more to look for that is owed
  std::vector<LocalShare::Owed> owed_;  // taken, and not under way
  std::vector<std::unique_ptr<Recharge>> recharges_;
  std::size_t under_way_ = 0;
  bool recharging_now_ = false;
};

}  // namespace ratel
