#pragma once
// A store that always answers in time: another one behind circuit breakers, one for each of its parts that fail apart,
// and the failure mode of each rule where that one gives no decision.
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
// reset or a refund reaches only what this process has counted alone, and a refund of which it is not known whether the
// store has done it not even that.
//
// One an event loop; not thread-safe. LocalShare is shared by them.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/durations.h"
#include "gate/store_part.h"
#include "store/local_share.h"
#include "store/store.h"

namespace ratel {

class SafeStore final : public Store {
 public:
  /// All loans, but that the store owes no answer any more when this is destroyed. `clock` is read for each answer, so
  /// it had better be the event loop's.
  SafeStore(Store& remote, LocalShare& local, const Clock& clock, Randomness& randomness);
  ~SafeStore() override;

  void prepare(Question& question) override { remote_.prepare(question); }
  std::size_t part_of(const Question& question) const override { return remote_.part_of(question); }
  bool decides_together(const Charge& a, const Charge& b) const override { return remote_.decides_together(a, b); }
  void ask(const Question& question, Instant now, Completion done) override;

  using State = StorePart::State;
  using Stats = StorePart::Stats;
  /// Of the worst part.
  State state() const;

  /// When to call tick(): monotonic; kNone_us where there is nothing to do but to wait for answers.
  static constexpr Micros kNone_us = StorePart::kNone_us;
  Micros due_us() const;
  void tick(Instant now);

  /// The process ends: from now on what was admitted alone is due to be charged as soon as the store can be.
  void hurry();
  /// Whether something was, or may have been, admitted alone and is not charged yet.
  bool owes() const;
  /// Units of it that were taken from LocalShare, of which it is not known that they were charged.
  std::uint64_t unsettled() const;

  const Stats& stats() const { return stats_; }
  /// The counter under whose key something else was found last (StoreFault::kBadState). All empty where none was.
  struct Faulty {
    std::string label;  // of its limit, as answers call it
    std::string identity;
    std::string key;
  };
  const Faulty& last_faulty() const { return faulty_; }
  /// From asking the store to its answer or its failing to give one; of what it was not asked there is none.
  const Durations& durations() const { return durations_; }

 private:
  class Pending;

  void note_faulty(const Question& question, const Answer& answer);
  StorePart& part_for(const Question& question);

  Store& remote_;
  Stats stats_;
  Durations durations_;
  Faulty faulty_;
  const StorePart::Shared shared_;
  std::array<std::unique_ptr<StorePart>, kPartsMax> parts_;  // those that were asked
  std::vector<std::unique_ptr<Pending>> all_;
  std::vector<Pending*> idle_;  // reused, so that asking allocates nothing after warm-up
  std::uint64_t recoveries_ = 0;  // of the other store, that the parts know of
  bool hurries_ = false;
};

}  // namespace ratel
