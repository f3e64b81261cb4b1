#include "gate/safe_store.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace ratel {

/// A question under way.
class SafeStore::Pending {
 public:
  explicit Pending(SafeStore& store) : store_(store) {}

  void ask(const Question& question, StorePart& part, Instant now, Completion done) {
    question_ = &question;
    part_ = &part;
    asked_us_ = now.monotonic_us;
    done_ = done;
    store_.remote_.ask(question, now, {.call = &Pending::answered, .context = this, .ticket = 0});
  }

 private:
  static void answered(void* context, std::uint64_t, const Answer& answer) {
    Pending& pending = *static_cast<Pending*>(context);
    const Question& question = *pending.question_;
    StorePart& part = *pending.part_;
    const Micros asked_us = pending.asked_us_;
    const Completion done = pending.done_;
    SafeStore& store = pending.store_;
    store.idle_.push_back(&pending);  // before it answers, since the answer may ask again
    const Instant now = store.shared_.clock.now();
    const Micros took_us = now.monotonic_us - asked_us;
    if (answer.fault != StoreFault::kUnreachable) store.durations_.add(took_us);
    if (answer.fault == StoreFault::kBadState) store.note_faulty(question, answer);
    done(part.answered(question, answer, took_us, now));
  }

  SafeStore& store_;
  const Question* question_ = nullptr;
  StorePart* part_ = nullptr;
  Micros asked_us_ = 0;
  Completion done_;
};

SafeStore::SafeStore(Store& remote, LocalShare& local, const Clock& clock, Randomness& randomness)
    : remote_(remote), shared_{remote, local, clock, randomness, stats_} {}

SafeStore::~SafeStore() = default;

StorePart& SafeStore::part_for(const Question& question) {
  const std::size_t which = remote_.part_of(question);
  CHECK(which < kPartsMax);
  if (parts_[which] == nullptr) {
    parts_[which] = std::make_unique<StorePart>(shared_, which);
    if (hurries_) parts_[which]->hurry();
  }
  return *parts_[which];
}

void SafeStore::note_faulty(const Question& question, const Answer& answer) {
  CHECK(answer.faulty != 0);
  const Charge& charge = question.charges[static_cast<std::size_t>(__builtin_ctz(answer.faulty))];
  faulty_.label = charge.limit->label;
  faulty_.identity = charge.limit->identity;
  faulty_.key = charge.key;
}

void SafeStore::ask(const Question& question, Instant now, Completion done) {
  StorePart& part = part_for(question);
  if (part.state() != State::kUp) return done(part.stand_in(question, StoreFault::kUnreachable, now));
  if (idle_.empty()) {
    idle_.push_back(all_.emplace_back(std::make_unique<Pending>(*this)).get());
    idle_.reserve(all_.capacity());
  }
  Pending* pending = idle_.back();
  idle_.pop_back();
  pending->ask(question, part, now, done);
}

SafeStore::State SafeStore::state() const {
  State worst = State::kUp;
  for (const auto& part : parts_) {
    if (part == nullptr || part->state() == State::kUp) continue;
    if (part->state() == State::kDown) return State::kDown;
    worst = State::kWarming;
  }
  return worst;
}

Micros SafeStore::due_us() const {
  if (remote_.recoveries() != recoveries_) return 0;
  Micros first_us = kNone_us;
  for (const auto& part : parts_) {
    const Micros due_us = part != nullptr ? part->due_us() : kNone_us;
    if (due_us != kNone_us && (first_us == kNone_us || due_us < first_us)) first_us = due_us;
  }
  return first_us;
}

void SafeStore::hurry() {
  hurries_ = true;
  for (const auto& part : parts_) {
    if (part != nullptr) part->hurry();
  }
}

bool SafeStore::owes() const {
  return std::any_of(parts_.begin(), parts_.end(), [](const auto& part) { return part != nullptr && part->owes(); });
}

std::uint64_t SafeStore::unsettled() const {
  std::uint64_t units = 0;
  for (const auto& part : parts_) units += part != nullptr ? part->unsettled() : 0;
  return units;
}

void SafeStore::tick(Instant now) {
  const bool recovered = std::exchange(recoveries_, remote_.recoveries()) != remote_.recoveries();
  for (const auto& part : parts_) {
    if (part == nullptr) continue;
    if (recovered) part->probe_soon(now);
    part->tick(now);
  }
}

}  // namespace ratel
