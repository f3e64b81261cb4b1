#include "store/local_share.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/check.h"
#include "limit/fraction.h"
#include "limit/gcra.h"
#include "limit/share.h"

namespace ratel {
namespace {

/// How many counters are looked at for the one that makes room.
constexpr std::size_t kCandidates = 16;

constexpr Micros kLongAgo_us = std::numeric_limits<Micros>::min();
/// More than comes of ten years, times any number of processes; and to be added to the time it is.
constexpr Micros kEndless_us = std::numeric_limits<Micros>::max() / 4;
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

/// One counter's state, for decide().
struct State {
  Cell cell;
  std::unique_ptr<Record> record;

  std::size_t bytes() const { return record == nullptr ? 0 : record->bytes(); }
};

Decision decide_one(Verb verb, const BoundLimit& limit, State& state, std::int64_t cost, StoreTime time) {
  Charge charge{.limit = &limit};
  const Slot slot{&state.cell, &state.record};
  return decide({.verb = verb, .charges = {&charge, 1}, .cost = cost}, {&slot, 1}, time).decision;
}

/// Spends as much of `cost` as there is, of gcra with all that may be reserved ahead.
void spend(const BoundLimit& limit, State& state, std::int64_t cost, StoreTime time) {
  if (cost <= 0) return;
  if (limit.limit.algorithm == Algorithm::kGcra) {
    Gcra counter(limit.limit, state.cell, time.now_us);
    return counter.charge(std::min(cost, counter.remaining_within(limit.limit.max_wait_us)));
  }
  for (; cost > 0; cost -= kCostMax) decide_one(Verb::kAtMost, limit, state, std::min(cost, kCostMax), time);
}

std::int64_t used_of(const BoundLimit& limit, State& state, StoreTime time) {
  if (state.cell.until_us == Cell::kFresh_us) return 0;
  return use_of({.limit = &limit}, {&state.cell, &state.record}, time).used;
}

/// By what limit to keep book of what is owed: all that the limit can owe, coming back as fast as the share does, since
/// all processes' debts come back together.
Limit book_of(const Limit& whole, const Limit& share) {
  Limit book = whole;
  if (whole.algorithm != Algorithm::kGcra || whole.count == 0) return book;
  // Where that would take longer than any bucket may take to refill, it comes back sooner.
  if (share.count != whole.count || !make_gcra_limit(share.count, share.period_us, whole.capacity, book)) book = whole;
  // Whatever was admitted is owed, reserved ahead or not, and under any number of processes.
  book.max_wait_us = kEndless_us;
  return book;
}

/// What is left of a debt. Of gcra the debt melts until it is over; of all others it stays, and is then gone at once.
std::int64_t used_now(const KnownDebts::Debt& debt, const Limit& limit, Micros now_us) {
  if (debt.used == 0 || limit.algorithm != Algorithm::kGcra) return debt.used;
  const Wide left = product(debt.until_us - now_us, limit.count) + static_cast<Wide>(limit.period_us - 1);
  return std::min(debt.used, quotient_at_most(left, limit.period_us));
}

/// By when to have spent what will be over in `left_us`: a window had begun, and a log's newest entry come, when they
/// had a period to go. (Sliding windows and those of the calendar begin alike everywhere.)
StoreTime spent_at(const Limit& limit, Micros left_us, StoreTime time) {
  const bool by_period = limit.algorithm == Algorithm::kSlidingLog ||
                         (limit.algorithm == Algorithm::kFixedWindow && limit.calendar == CalendarUnit::kNone);
  if (by_period) time.now_us -= std::max<Micros>(0, limit.period_us - left_us);
  return time;
}

}  // namespace

struct LocalShare::Counter {
  KnownDebts::Hash hash;
  BoundLimit whole;
  std::string key;
  BoundLimit share;
  int processes = 0;  // of the share
  State state;
  BoundLimit book;
  State owed;                          // what was admitted alone and not handed out
  State stayed;                        // and would be if nothing had been handed out, while that is away
  bool away = false;
  std::size_t part = 0;                // that is owed
  std::size_t owing_place = kNowhere;  // in owing_[part]
  Micros heard_us = kLongAgo_us;       // what the store told until then (monotonic) is in the state
  Micros forgiven_us = kLongAgo_us;    // or was forgiven, by a reset
  std::uint64_t question = 0;          // the last that it was part of
  std::size_t bytes = 0;

  bool is_fresh(const StateClocks& clocks, Micros ago_us = 0) const {
    return clocks.is_over(state.cell, whole.limit.calendar, ago_us);
  }

  void divide(int by, StoreTime time) {
    if (by == processes) return;
    // What was spent of gcra is kept as time, which is fewer units of a smaller share: it is spent anew, as units.
    const bool respend = whole.limit.algorithm == Algorithm::kGcra;
    const std::int64_t owes = respend ? used_of(book, owed, time) : 0;
    const std::int64_t stays = respend ? used_of(book, stayed, time) : 0;
    // A share that was smaller may have had no room for all of it.
    const std::int64_t used = respend ? std::max({owes, stays, used_of(share, state, time)}) : 0;
    processes = by;
    share.limit = share_of(whole.limit, by);
    book.limit = book_of(whole.limit, share.limit);
    if (!respend) return;
    state = {};
    owed = {};
    stayed = {};
    spend(share, state, used, time);
    spend(book, owed, owes, time);
    spend(book, stayed, stays, time);
  }
};

LocalShare::LocalShare(const Options& options, const KnownDebts& debts)
    : options_(options), debts_(debts), clock_(options.start) {
  CHECK(options_.counters_max >= kChargesMax);
}

LocalShare::~LocalShare() = default;

Answer LocalShare::ask(const Question& question, Instant now, std::size_t part) {
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
    if (counter.owing_place == kNowhere && !counter.away) counter.part = part;
    charges[i] = {.limit = &counter.share};
    slots[i] = {&counter.state.cell, &counter.state.record};
    const bool may_grow = bytes_ <= options_.bytes_max / 2;
    slots[i].record_bytes_max = may_grow ? options_.bytes_max / 16 : counter.state.bytes();
  }
  Question alone = question;
  alone.charges = {charges.data(), count};
  answer = decide(alone, {slots.data(), count}, time);
  if (answer.decision.source == Source::kExact) answer.decision.source = Source::kLocal;
  answer.decision.limit = question.charges[answer.binding].limit->limit.capacity;
  for (std::size_t i = 0; i < count; ++i) {
    book(*counters[i], question, answer.decision.granted, time);
    if (question.verb == Verb::kReset) counters[i]->forgiven_us = counters[i]->heard_us = now.monotonic_us;
    measure(*counters[i]);
  }
  return answer;
}

void LocalShare::book(Counter& counter, const Question& question, std::int64_t granted, StoreTime time) {
  switch (question.verb) {
    case Verb::kAllow:
    case Verb::kAtMost:
    case Verb::kReserve:
      spend(counter.book, counter.owed, granted, time);
      if (counter.away) spend(counter.book, counter.stayed, granted, time);
      if (granted > 0 && !counter.away) set_owing(counter, true);
      break;
    case Verb::kRefund:
      decide_one(Verb::kRefund, counter.book, counter.owed, question.cost, time);
      if (counter.away) decide_one(Verb::kRefund, counter.book, counter.stayed, question.cost, time);
      break;
    case Verb::kReset:
      counter.state = {};
      counter.owed = {};
      counter.stayed = {};
      break;
    case Verb::kPeek:
    case Verb::kAcquire:
    case Verb::kRenew:
    case Verb::kRelease:
      break;
  }
}

void LocalShare::set_owing(Counter& counter, bool owing) {
  if (owing == (counter.owing_place != kNowhere)) return;
  std::vector<Counter*>& list = owing_[counter.part].counters;
  if (owing) {
    counter.owing_place = list.size();
    list.push_back(&counter);
    return;
  }
  list[counter.owing_place] = list.back();
  list[counter.owing_place]->owing_place = counter.owing_place;
  list.pop_back();
  counter.owing_place = kNowhere;
}

void LocalShare::measure(Counter& counter) {
  // With its places in the vectors and in the map, and the two texts a limit may have.
  const std::size_t bytes = sizeof(Counter) + 80 + counter.key.capacity() + counter.whole.identity.capacity() +
                            counter.whole.label.capacity() + counter.state.bytes() + counter.owed.bytes() +
                            counter.stayed.bytes();
  bytes_ += bytes - counter.bytes;
  counter.bytes = bytes;
}

LocalShare::Counter& LocalShare::counter_of(const Charge& charge, StoreTime time, Micros now_us) {
  const auto found = places_.find(charge.hash);
  if (found != places_.end()) {
    Counter& counter = *counters_[found->second];
    counter.question = question_;
    // A rule may have changed its numbers since.
    if (counter.whole.limit.count != charge.limit->limit.count ||
        counter.whole.limit.period_us != charge.limit->limit.period_us ||
        counter.whole.limit.capacity != charge.limit->limit.capacity ||
        counter.whole.limit.max_wait_us != charge.limit->limit.max_wait_us) {
      counter.whole = *charge.limit;
      counter.processes = 0;
    }
    counter.divide(processes(), time);
    hear(counter, time, now_us);
    return counter;
  }
  for (std::size_t i = 0; i < kEvictionsMax; ++i) {
    if (counters_.size() < options_.counters_max && bytes_ <= options_.bytes_max) break;
    make_room(time);
  }
  auto fresh = std::make_unique<Counter>();
  fresh->hash = charge.hash;
  fresh->whole = *charge.limit;
  fresh->key = charge.key;
  fresh->question = question_;
  fresh->divide(processes(), time);
  hear(*fresh, time, now_us);
  measure(*fresh);
  places_.emplace(charge.hash, counters_.size());
  counters_.push_back(std::move(fresh));
  return *counters_.back();
}

void LocalShare::hear(Counter& counter, StoreTime time, Micros now_us) {
  if (counter.is_fresh(clock_.clocks(time.now_us))) {
    counter.state = {};
    counter.heard_us = counter.forgiven_us;
  }
  const KnownDebts::Debt debt = debts_.find(counter.hash, now_us);
  const std::int64_t used = used_now(debt, counter.whole.limit, now_us);
  if (used == 0 || debt.told_us <= counter.heard_us) return;
  counter.heard_us = debt.told_us;
  // What was admitted alone and charged is part of what the store tells.
  const std::int64_t part = (used + counter.processes - 1) / counter.processes;
  spend(counter.share, counter.state, part - used_of(counter.share, counter.state, time),
        spent_at(counter.whole.limit, debt.until_us - now_us, time));
}

/// What a reset forgave must stay forgiven for as long as the store's word of it is remembered.
bool LocalShare::forgives(const Counter& counter, Micros now_us) const {
  return counter.forgiven_us != kLongAgo_us && debts_.find(counter.hash, now_us).used > 0;
}

void LocalShare::make_room(StoreTime time) {
  std::size_t chosen = counters_.size();
  for (std::size_t i = 0; i < std::min(kCandidates + kChargesMax, counters_.size()); ++i) {
    next_to_judge_ = (next_to_judge_ + 1) % counters_.size();
    const Counter& counter = *counters_[next_to_judge_];
    if (counter.question == question_ || counter.away) continue;
    if (chosen == counters_.size() || counter.state.cell.until_us < counters_[chosen]->state.cell.until_us) {
      chosen = next_to_judge_;
    }
  }
  if (chosen == counters_.size()) return;  // all that there are belong to this very question, or are away
  Counter& counter = *counters_[chosen];
  if (used_of(counter.book, counter.owed, time) > 0) ++forgotten_;
  drop(chosen);
}

void LocalShare::drop(std::size_t place) {
  bytes_ -= counters_[place]->bytes;
  set_owing(*counters_[place], false);
  places_.erase(counters_[place]->hash);
  if (place + 1 != counters_.size()) {
    counters_[place] = std::move(counters_.back());
    places_[counters_[place]->hash] = place;
  }
  counters_.pop_back();
}

bool LocalShare::take_owed(Instant now, std::size_t max, std::vector<Owed>& owed, std::size_t part) {
  const StoreTime time = clock_.at(now);
  const MutexLock lock(mutex_);
  const std::vector<Counter*>& list = owing_[part].counters;
  std::size_t& next = owing_[part].next;
  for (std::size_t looks = 0; looks < kLooksMax && !list.empty() && owed.size() < max; ++looks) {
    // Round and round, so that what the store does not take keeps no other waiting. The last takes the place of this
    // one, and has its turn in the next round.
    if (next >= list.size()) next = 0;
    Counter& counter = *list[next++];
    const std::int64_t cost = used_of(counter.book, counter.owed, time);
    set_owing(counter, false);
    if (cost > 0) {
      owed.push_back({counter.whole, counter.key, counter.hash, cost});
      counter.stayed = std::move(counter.owed);
      counter.away = true;
      ++away_;
    } else if (counter.is_fresh(clock_.clocks(time.now_us)) && !forgives(counter, now.monotonic_us)) {
      drop(places_.find(counter.hash)->second);
      continue;
    }
    counter.owed = {};
    measure(counter);
  }
  return !list.empty();
}

void LocalShare::settle(const Owed& owed, std::int64_t done, Instant now) {
  const StoreTime time = clock_.at(now);
  const MutexLock lock(mutex_);
  const auto found = places_.find(owed.hash);
  CHECK(found != places_.end());
  Counter& counter = *counters_[found->second];
  CHECK(counter.away);
  counter.away = false;
  --away_;
  if (done == 0) {
    counter.owed = std::move(counter.stayed);
  } else if (done < owed.cost) {
    // The rest as of now, and no more than is left of all that was handed out.
    const std::int64_t left = used_of(counter.book, counter.stayed, time) - used_of(counter.book, counter.owed, time);
    spend(counter.book, counter.owed, std::min(owed.cost - done, left), time);
  }
  counter.stayed = {};
  set_owing(counter, used_of(counter.book, counter.owed, time) > 0);
  measure(counter);
}

std::uint64_t LocalShare::owed(Instant now) {
  const StoreTime time = clock_.at(now);
  const MutexLock lock(mutex_);
  std::uint64_t units = 0;
  for (const auto& each : counters_) units += static_cast<std::uint64_t>(used_of(each->book, each->owed, time));
  return units;
}

void LocalShare::tidy(Instant now) {
  const StoreTime time = clock_.at(now);
  const StateClocks clocks = clock_.clocks(time.now_us);
  const MutexLock lock(mutex_);
  for (std::size_t looks = 0; looks < kTidiedMax && !counters_.empty(); ++looks) {
    if (next_to_tidy_ >= counters_.size()) next_to_tidy_ = 0;
    Counter& counter = *counters_[next_to_tidy_];
    if (!counter.away && counter.is_fresh(clocks, kStale_us) && !forgives(counter, now.monotonic_us) &&
        used_of(counter.book, counter.owed, time) == 0) {
      drop(next_to_tidy_);  // the last one takes its place
    } else {
      ++next_to_tidy_;
    }
  }
  if (!counters_.empty() || counters_.capacity() == 0) return;
  // After an outage; what the vectors and the map of so many take is not small.
  counters_.shrink_to_fit();
  places_ = decltype(places_)();
  for (Owing& owing : owing_) owing.counters.shrink_to_fit();
}

LocalShare::Stats LocalShare::stats() const {
  const MutexLock lock(mutex_);
  std::size_t owing = 0;
  for (const Owing& each : owing_) owing += each.counters.size();
  return {.counters = counters_.size(),
          .owing = owing,
          .away = away_,
          .bytes = bytes_,
          .bytes_max = options_.bytes_max,
          .forgotten = forgotten_};
}

}  // namespace ratel
