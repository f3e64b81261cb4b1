#include "gate/store_part.h"

#include <algorithm>

#include "gate/check_question.h"
#include "gate/in_places.h"

namespace ratel {
namespace {

using std::chrono::microseconds;

/// Bit i: charge i denies in every state, because more is asked than it ever has.
std::uint16_t never_fits(const Question& question) {
  if (!grants_cost(question.verb)) return 0;
  const std::int64_t least = question.verb == Verb::kAtMost ? std::min<std::int64_t>(question.cost, 1) : question.cost;
  unsigned bits = 0;
  for (std::size_t i = 0; i < question.charges.size(); ++i) {
    if (least > question.charges[i].limit->limit.capacity) bits |= 1U << i;
  }
  return static_cast<std::uint16_t>(bits);
}

FailureMode mode_of(const Question& question) {
  FailureMode strictest = FailureMode::kAllow;
  for (const Charge& charge : question.charges) {
    if (charge.on_failure == FailureMode::kDeny) return FailureMode::kDeny;
    if (charge.on_failure == FailureMode::kLocal) strictest = FailureMode::kLocal;
  }
  return strictest;
}

}  // namespace

/// A charge of what was admitted alone.
class StorePart::Recharge {
 public:
  explicit Recharge(StorePart& store) : store_(store) {}

  bool idle() const { return !busy_; }
  const LocalShare::Owed& owed() const { return owed_; }
  Micros deadline_us() const { return question_.deadline_us; }

  void ask(LocalShare::Owed owed, Micros deadline_us, Instant now) {
    busy_ = true;
    owed_ = std::move(owed);
    charge_ = {.limit = &owed_.limit, .key = owed_.key};
    // As much as there is, and as can be reserved: a debt is never more.
    question_ = {.verb = Verb::kAtMost,
                 .charges = {&charge_, 1},
                 .cost = std::min(owed_.cost, kCostMax),
                 .max_wait_us = owed_.limit.limit.max_wait_us,
                 .deadline_us = deadline_us};
    store_.shared_.remote.prepare(question_);
    store_.shared_.remote.ask(question_, now, {.call = &Recharge::answered, .context = this, .ticket = 0});
  }

 private:
  static void answered(void* context, std::uint64_t, const Answer& answer) {
    Recharge& recharge = *static_cast<Recharge*>(context);
    recharge.busy_ = false;
    recharge.store_.recharged(recharge, answer);
  }

  StorePart& store_;
  bool busy_ = false;
  LocalShare::Owed owed_;
  Charge charge_;
  Question question_;
};

StorePart::StorePart(const Shared& shared, std::size_t part)
    : shared_(shared), part_(part), breaker_(shared.randomness), probe_limit_(probe_limit()) {
  probe_charge_ = {.limit = &probe_limit_};
  probe_ = {.charges = {&probe_charge_, 1}};
}

StorePart::~StorePart() = default;

Answer StorePart::answered(const Question& question, const Answer& answer, Micros took_us, Instant now) {
  if (answer.fault == StoreFault::kNone) {
    // One that came just after its time makes others with as much time no less patient.
    pace_.note(std::min(took_us, question.deadline_us), now.monotonic_us);
    if (state_ == State::kUp) breaker_.succeeded(now.monotonic_us);
    return answer;
  }
  learn(answer.fault, question.deadline_us, now);
  Answer instead = stand_in(question, answer.fault, now);
  instead.faulty = answer.faulty;
  return instead;
}

void StorePart::learn(StoreFault fault, Micros deadline_us, Instant now) {
  // A store that says what is wrong with one key is well.
  if (fault == StoreFault::kBadState) return breaker_.succeeded(now.monotonic_us);
  const Micros pace_us = pace_.of_late_us(now.monotonic_us);
  const bool impatient = fault == StoreFault::kTimeout && deadline_us < std::max(kProbeDeadlineLeast_us, pace_us);
  if (impatient || fault == StoreFault::kCrowded) return;  // that says nothing of the store
  breaker_.failed(now.monotonic_us);
  if (breaker_.open() && state_ != State::kDown) went_down();
}

void StorePart::went_down() {
  state_ = State::kDown;
  ++shared_.stats.opened;
}

Answer StorePart::stand_in(const Question& question, StoreFault fault, Instant now) {
  ++shared_.stats.faults[static_cast<std::size_t>(fault)];
  if (fault != StoreFault::kBadState && fault != StoreFault::kCrowded) need(question, now.monotonic_us);
  Answer answer;
  const FailureMode mode = mode_of(question);
  if (const std::uint16_t never = never_fits(question); never != 0) {
    answer.violated = never;
    answer.binding = static_cast<std::uint8_t>(__builtin_ctz(never));
    answer.decision.limit = question.charges[answer.binding].limit->limit.capacity;
    answer.decision.source = Source::kLocal;
    answer.decision.retry_after = kNever;
  } else if (mode == FailureMode::kLocal) {
    answer = alone(question, fault, now);
  } else {
    const auto first = std::find_if(question.charges.begin(), question.charges.end(),
                                    [mode](const Charge& charge) { return charge.on_failure == mode; });
    answer.binding = static_cast<std::uint8_t>(first - question.charges.begin());
    answer.decision.limit = first->limit->limit.capacity;
    if (mode == FailureMode::kDeny) {
      answer.violated = static_cast<std::uint16_t>(1U << answer.binding);
      answer.decision.source = Source::kFailedClosed;
      answer.decision.retry_after = answer.decision.reset_after = microseconds{retry_after_us(now)};
    } else {
      answer.ok = true;
      answer.decision.allowed = true;
      answer.decision.source = Source::kFailedOpen;
      answer.decision.remaining = answer.decision.limit;
      answer.decision.granted = grants_cost(question.verb) ? question.cost : 0;
    }
  }
  answer.fault = fault;
  return answer;
}

Answer StorePart::alone(const Question& question, StoreFault fault, Instant now) {
  std::array<Charge, kChargesMax> charges;
  std::array<std::uint8_t, kChargesMax> places{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < question.charges.size(); ++i) {
    if (question.charges[i].on_failure != FailureMode::kLocal) continue;
    places[count] = static_cast<std::uint8_t>(i);
    charges[count++] = question.charges[i];
  }
  Question ours = question;
  ours.charges = {charges.data(), count};
  if (question.verb == Verb::kRefund && (fault == StoreFault::kTimeout || fault == StoreFault::kLost)) {
    ours.verb = Verb::kPeek;  // the store may have done it, and nothing is given back twice
    ours.cost = 0;
  }
  if (!owes_) owes_since_us_ = now.monotonic_us;
  owes_ = true;
  Answer answer = in_places(shared_.local.ask(ours, now, part_), {places.data(), count});
  Decision& decision = answer.decision;
  // Above the share, but not above the limit: it may fit once all count together again.
  if (decision.retry_after == kNever && question.cost <= decision.limit) {
    decision.retry_after = microseconds{retry_after_us(now)};
  }
  return answer;
}

Micros StorePart::retry_after_us(Instant now) const {
  const Micros due_us = breaker_.open() ? breaker_.probe_due_us() : Breaker::kNone_us;
  return due_us > now.monotonic_us ? due_us - now.monotonic_us : Breaker::kFirstProbe_us;
}

Micros StorePart::due_us() const {
  if (state_ == State::kDown) return breaker_.probe_due_us();
  if (look_us_ != kNone_us) return look_us_;
  if (state_ == State::kWarming) return warm_us_;
  return owes_ && under_way_ == 0 ? owes_since_us_ + patience_us_ : kNone_us;
}

void StorePart::tick(Instant now) {
  if (state_ == State::kDown && breaker_.begin_probe(now.monotonic_us)) return probe(now);
  if (state_ == State::kWarming && now.monotonic_us >= warm_us_) state_ = State::kUp;
  if (state_ != State::kDown && look_us_ != kNone_us) {
    if (now.monotonic_us >= look_us_) recharge(now);
    return;
  }
  if (state_ == State::kUp && owes_ && now.monotonic_us >= owes_since_us_ + patience_us_) recharge(now);
}

std::uint64_t StorePart::unsettled() const {
  std::int64_t units = 0;
  for (const auto& recharge : recharges_) units += recharge->idle() ? 0 : recharge->owed().cost;
  return static_cast<std::uint64_t>(units);
}

void StorePart::probe_soon(Instant now) {
  if (state_ == State::kDown) breaker_.probe_soon(now.monotonic_us);
}

void StorePart::need(const Question& question, Micros now_us) {
  failed_key_ = question.charges.front().key;
  needed_.note(std::max(question.deadline_us, kProbeDeadlineLeast_us), now_us);
}

void StorePart::probe(Instant now) {
  probed_us_ = now.monotonic_us;
  const Micros needed_us = needed_.of_late_us(now.monotonic_us);
  probe_.deadline_us = std::min(needed_us > 0 ? needed_us : kProbeDeadline_us, probe_patience_us_);
  probe_key_ = failed_key_;
  probe_charge_.key = probe_key_;
  shared_.remote.prepare(probe_);
  shared_.remote.ask(
      probe_, now,
      {.call = [](void* self, std::uint64_t, const Answer& answer) { static_cast<StorePart*>(self)->probed(answer); },
       .context = this,
       .ticket = 0});
}

void StorePart::probed(const Answer& answer) {
  const Instant now = shared_.clock.now();
  const bool decided = answer.fault == StoreFault::kNone || answer.fault == StoreFault::kBadState;
  const Micros took_us = now.monotonic_us - probed_us_;
  // What comes too late for a probe would come too late for questions.
  const bool late = answer.fault == StoreFault::kTimeout || (decided && took_us > probe_.deadline_us);
  probe_patience_us_ = late ? std::min(2 * probe_patience_us_, kDeadlineMax_us) : kProbePatience_us;
  if (!decided || late) return breaker_.probe_failed(now.monotonic_us);
  pace_.note(took_us, now.monotonic_us);
  breaker_.probe_succeeded(now.monotonic_us);
  state_ = State::kWarming;
  warm_us_ = now.monotonic_us + kWarming_us;
  recharge(now);
}

void StorePart::recharge(Instant now) {
  if (recharging_now_) return;  // an answer that came before ask() returned: the loop below goes on with it
  recharging_now_ = true;
  look_us_ = kNone_us;
  while (owes_ && state_ != State::kDown) {
    auto idle = std::find_if(recharges_.begin(), recharges_.end(), [](const auto& one) { return one->idle(); });
    if (idle == recharges_.end()) {
      if (recharges_.size() == kRecharges) break;
      idle = recharges_.insert(idle, std::make_unique<Recharge>(*this));
    }
    if (taken_.empty()) {
      if (look_us_ != kNone_us) break;  // the store has just refused one
      const bool more = shared_.local.take_owed(now, kRecharges - under_way_, taken_, part_);
      if (taken_.empty()) {
        if (more) {
          look_us_ = now.monotonic_us;  // in the next turn, so that this one does not become long
        } else {
          owes_ = under_way_ > 0;
        }
        break;
      }
    }
    LocalShare::Owed owed = std::move(taken_.back());
    taken_.pop_back();
    ++under_way_;
    // A store that is slow may need more.
    const Micros deadline_us = std::max(kRechargeDeadline_us, 2 * pace_.of_late_us(now.monotonic_us));
    (*idle)->ask(std::move(owed), std::min(deadline_us, kDeadlineMax_us), now);
  }
  for (const LocalShare::Owed& owed : taken_) shared_.local.settle(owed, 0, now);
  taken_.clear();
  recharging_now_ = false;
  if (!owes_ && state_ == State::kWarming) state_ = State::kUp;
}

void StorePart::recharged(Recharge& done, const Answer& answer) {
  --under_way_;
  const Instant now = shared_.clock.now();
  const bool asked_in_vain = surely_not_charged(answer.fault);
  const std::int64_t asked = asked_in_vain ? 0 : std::min(done.owed().cost, kCostMax);
  const std::int64_t granted = answer.fault == StoreFault::kNone ? answer.decision.granted : 0;
  shared_.stats.charged += static_cast<std::uint64_t>(granted);
  shared_.stats.lost += static_cast<std::uint64_t>(asked - granted);
  shared_.local.settle(done.owed(), asked, now);
  owes_ = true;  // of the rest, and of what was admitted meanwhile, it is not known here
  if (asked_in_vain) {
    // Nothing is lost by trying again. It says nothing to the breaker: one key that the store cannot take now, of a
    // node that died, say, is not to keep all others from it.
    look_us_ = now.monotonic_us + kRechargeAgain_us;
    return;
  }
  if (answer.fault != StoreFault::kNone) learn(answer.fault, done.deadline_us(), now);
  recharge(now);
}

}  // namespace ratel
