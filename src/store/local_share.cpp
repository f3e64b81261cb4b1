#include "store/local_share.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "limit/fraction.h"
#include "limit/share.h"

namespace ratel {
namespace {

/// How many counters are looked at for the one that makes room.
constexpr std::size_t kCandidates = 16;

/// One counter's state, for decide().
struct State {
  Cell cell;
  std::unique_ptr<Record> record;

  std::size_t bytes() const { return record == nullptr ? 0 : record->bytes(); }
  bool is_fresh(Micros now_us) const { return cell.until_us <= now_us; }
};

/// Spends as much of `cost` as there is.
void spend(const BoundLimit& share, State& state, std::int64_t cost, StoreTime time) {
  Charge charge{.limit = &share};
  const Slot slot{&state.cell, &state.record};
  const Question question{.verb = Verb::kAtMost, .charges = {&charge, 1}, .cost = std::min(cost, kCostMax)};
  decide(question, {&slot, 1}, time);
}

std::int64_t left_of(const BoundLimit& share, State& state, StoreTime time) {
  Charge charge{.limit = &share};
  const Slot slot{&state.cell, &state.record};
  const Question question{.verb = Verb::kPeek, .charges = {&charge, 1}, .cost = 0};
  return decide(question, {&slot, 1}, time).decision.remaining;
}

/// What is left of a debt. Of gcra the debt melts until it is over; of all others it stays, and is then gone at once.
std::int64_t used_now(const KnownDebts::Debt& debt, const Limit& limit, Micros now_us) {
  if (debt.used == 0 || limit.algorithm != Algorithm::kGcra) return debt.used;
  return std::min(debt.used, mul_div_up(debt.until_us - now_us, limit.count, limit.period_us));
}

}  // namespace

struct LocalShare::Counter {
  KnownDebts::Hash hash;
  BoundLimit whole;
  std::string key;
  BoundLimit share;
  int processes = 0;  // of the share
  State state;
  State idle;                  // the same, had nothing been admitted alone: the difference is owed to the store
  bool forgiven = false;       // by a reset: what the store told before is no debt any more
  std::uint64_t question = 0;  // the last that it was part of
  std::size_t bytes = 0;

  void divide(int by, StoreTime time) {
    if (by == processes) return;
    // What was spent of gcra is kept as time, which is fewer units of a smaller share: it is spent anew, as units.
    const bool respend = whole.limit.algorithm == Algorithm::kGcra && !state.is_fresh(time.now_us);
    const std::int64_t used = respend ? share.limit.capacity - left_of(share, state, time) : 0;
    const std::int64_t known = respend ? share.limit.capacity - left_of(share, idle, time) : 0;
    processes = by;
    share.limit = share_of(whole.limit, by);
    if (!respend) return;
    state = {};
    idle = {};
    spend(share, state, used, time);
    spend(share, idle, known, time);
  }
  std::int64_t owed(StoreTime time) {
    if (state.is_fresh(time.now_us)) return 0;
    return left_of(share, idle, time) - left_of(share, state, time);
  }
  std::size_t measure() const {
    // With its places in the vector and in the map, and the two texts a limit may have.
    return sizeof(Counter) + 64 + key.capacity() + whole.identity.capacity() + whole.label.capacity() + state.bytes() +
           idle.bytes();
  }
};

LocalShare::LocalShare(const Options& options, const KnownDebts& debts)
    : options_(options), debts_(debts), clock_(options.start) {
  CHECK(options_.counters_max >= kChargesMax);
}

LocalShare::~LocalShare() = default;

Answer LocalShare::ask(const Question& question, Instant now) {
  Answer answer;
  answer.decision.source = Source::kLocal;
  for (std::size_t i = 0; i < question.charges.size(); ++i) {
    const Limit& limit = question.charges[i].limit->limit;
    if (limit.algorithm != Algorithm::kConcurrency) continue;
    answer.binding = static_cast<std::uint8_t>(i);
    answer.violated = static_cast<std::uint16_t>(1U << i);
    answer.decision.limit = limit.capacity;
    answer.decision.retry_after = kNever;
    return answer;
  }

  const StoreTime time = clock_.at(now);
  const MutexLock lock(mutex_);
  ++question_;
  std::array<Counter*, kChargesMax> counters;
  std::array<Charge, kChargesMax> charges;
  std::array<Slot, kChargesMax> slots;
  const std::size_t count = question.charges.size();
  for (std::size_t i = 0; i < count; ++i) {
    Counter& counter = counter_of(question.charges[i], time, now.monotonic_us);
    counters[i] = &counter;
    charges[i] = {.limit = &counter.share};
    slots[i] = {&counter.state.cell, &counter.state.record};
  }
  Question alone = question;
  alone.charges = {charges.data(), count};
  answer = decide(alone, {slots.data(), count}, time);
  answer.decision.source = Source::kLocal;
  answer.decision.limit = question.charges[answer.binding].limit->limit.capacity;
  for (std::size_t i = 0; i < count; ++i) {
    if (question.verb == Verb::kReset) {
      counters[i]->forgiven = true;
      counters[i]->idle = {};
    }
    const std::size_t bytes = counters[i]->measure();
    bytes_ += bytes - counters[i]->bytes;
    counters[i]->bytes = bytes;
  }
  return answer;
}

LocalShare::Counter& LocalShare::counter_of(const Charge& charge, StoreTime time, Micros now_us) {
  const auto found = places_.find(charge.hash);
  if (found != places_.end()) {
    Counter& counter = *counters_[found->second];
    counter.question = question_;
    // A rule may have changed its numbers since.
    if (counter.whole.limit.count != charge.limit->limit.count ||
        counter.whole.limit.period_us != charge.limit->limit.period_us ||
        counter.whole.limit.capacity != charge.limit->limit.capacity) {
      counter.whole = *charge.limit;
      counter.processes = 0;
    }
    counter.divide(processes(), time);
    if (counter.state.is_fresh(time.now_us)) begin(counter, time, now_us);
    return counter;
  }
  while (counters_.size() >= options_.counters_max || bytes_ > options_.bytes_max) {
    const std::size_t before = counters_.size();
    make_room(time);
    if (counters_.size() == before) break;  // all that there are belong to this very question
  }
  auto fresh = std::make_unique<Counter>();
  fresh->hash = charge.hash;
  fresh->whole = *charge.limit;
  fresh->key = charge.key;
  fresh->question = question_;
  fresh->divide(processes(), time);
  begin(*fresh, time, now_us);
  fresh->bytes = fresh->measure();
  bytes_ += fresh->bytes;
  places_.emplace(charge.hash, counters_.size());
  counters_.push_back(std::move(fresh));
  return *counters_.back();
}

void LocalShare::begin(Counter& counter, StoreTime time, Micros now_us) {
  counter.state = {};
  counter.idle = {};
  if (counter.forgiven) return;
  const KnownDebts::Debt debt = debts_.find(counter.hash, now_us);
  const std::int64_t used = used_now(debt, counter.whole.limit, now_us);
  if (used == 0) return;
  const std::int64_t part = (used + counter.processes - 1) / counter.processes;
  spend(counter.share, counter.state, part, time);
  spend(counter.share, counter.idle, part, time);
}

void LocalShare::make_room(StoreTime time) {
  std::size_t chosen = counters_.size();
  for (std::size_t i = 0; i < std::min(kCandidates + kChargesMax, counters_.size()); ++i) {
    next_to_judge_ = (next_to_judge_ + 1) % counters_.size();
    const Counter& counter = *counters_[next_to_judge_];
    if (counter.question == question_) continue;
    if (chosen == counters_.size() || counter.state.cell.until_us < counters_[chosen]->state.cell.until_us) {
      chosen = next_to_judge_;
    }
  }
  if (chosen == counters_.size()) return;
  if (counters_[chosen]->owed(time) > 0) ++forgotten_;
  drop(chosen);
}

void LocalShare::drop(std::size_t place) {
  bytes_ -= counters_[place]->bytes;
  places_.erase(counters_[place]->hash);
  if (place + 1 != counters_.size()) {
    counters_[place] = std::move(counters_.back());
    places_[counters_[place]->hash] = place;
  }
  counters_.pop_back();
}

void LocalShare::take_owed(Instant now, std::size_t max, std::vector<Owed>& owed) {
  const StoreTime time = clock_.at(now);
  const MutexLock lock(mutex_);
  while (!counters_.empty() && owed.size() < max) {
    Counter& counter = *counters_.back();
    const std::int64_t cost = counter.owed(time);
    if (cost > 0) owed.push_back({std::move(counter.whole), std::move(counter.key), cost});
    drop(counters_.size() - 1);
  }
}

LocalShare::Stats LocalShare::stats() const {
  const MutexLock lock(mutex_);
  return {.counters = counters_.size(), .bytes = bytes_, .forgotten = forgotten_};
}

}  // namespace ratel
