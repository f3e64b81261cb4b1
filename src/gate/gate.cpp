#include "gate/gate.h"

#include <algorithm>
#include <array>

#include "gate/check_question.h"
#include "gate/in_places.h"

namespace ratel {
namespace {

/// Nearly every question: all its charges count, so it is the store's as it stands.
bool is_plain(const Question& question) {
  return std::all_of(question.charges.begin(), question.charges.end(),
                     [](const Charge& charge) { return !charge.shadow && !charge.limit->limit.unlimited; });
}

/// Shadow charges are asked apart from those that count, and unlimited ones not at all.
Status check_together(const Question& question, const Store& store) {
  const Charge* first[2] = {};
  for (const Charge& charge : question.charges) {
    if (charge.limit->limit.unlimited) continue;
    const Charge*& with = first[charge.shadow ? 1 : 0];
    if (with == nullptr) with = &charge;
    if (with == &charge || store.decides_together(*with, charge)) continue;
    return Error{ErrorCode::kBadArgument, "limits: " + with->limit->label + " and " + charge.limit->label +
                                              " count this key under different names (`key: ip`), which a cluster "
                                              "cannot decide in one step; ask for them apart"};
  }
  return Done{};
}

Answer unlimited_answer(const Question& question) {
  const auto is_decisive = [](const Charge& charge) { return !charge.shadow && charge.limit->limit.unlimited; };
  const auto decisive = std::find_if(question.charges.begin(), question.charges.end(), is_decisive);
  Answer answer;
  // Where all are in shadow, they are all alike.
  if (decisive != question.charges.end()) {
    answer.binding = static_cast<std::uint8_t>(decisive - question.charges.begin());
  }
  answer.decision.allowed = true;
  answer.decision.limit = kUnlimited;
  answer.decision.remaining = kUnlimited;
  answer.decision.granted = grants_cost(question.verb) ? question.cost : 0;
  answer.ok = true;
  return answer;
}

}  // namespace

/// A question that has to be asked in parts: the charges that count, then the shadow ones, each a question of its own
/// over a copy of its charges. Lives until the answers of both are in, whenever the store gives them.
class Gate::Split {
 public:
  explicit Split(Gate& gate) : gate_(gate) {}

  /// May finish before it returns, and be reused by then.
  void ask(const Question& question, Instant now, Completion done) {
    question_ = question;
    done_ = done;
    has_unlimited_ = false;
    std::size_t filled = 0;
    const auto take = [&](Part& part, bool shadow) {
      const std::size_t first = filled;
      for (std::size_t i = 0; i < question.charges.size(); ++i) {
        const Charge& charge = question.charges[i];
        if (charge.limit->limit.unlimited) {
          has_unlimited_ = has_unlimited_ || !charge.shadow;
        } else if (charge.shadow == shadow) {
          places_[filled] = static_cast<std::uint8_t>(i);
          charges_[filled++] = charge;
        }
      }
      part = {.question = question, .places = std::span(places_).subspan(first, filled - first)};
      part.question.charges = std::span(charges_).subspan(first, filled - first);
      for (const Charge& charge : part.question.charges) {
        part.question.max_wait_us = std::min(part.question.max_wait_us, charge.limit->limit.max_wait_us);
      }
    };
    take(counting_, false);
    take(shadow_, true);
    waiting_ = (counting_.asked() ? 1 : 0) + (shadow_.asked() ? 1 : 0);
    if (waiting_ == 0) return finish();
    // The last answer may hand this object to another question, so nothing of it is read after the last ask.
    const bool then_shadow = shadow_.asked();
    if (counting_.asked()) ask(counting_, kCounting, now);
    if (then_shadow) ask(shadow_, kShadow, now);
  }

 private:
  struct Part {
    Question question;
    std::span<std::uint8_t> places;  // of its charges in the whole question
    Answer answer;

    bool asked() const { return !question.charges.empty(); }
  };
  enum Ticket : std::uint64_t { kCounting, kShadow };

  void ask(Part& part, Ticket ticket, Instant now) {
    gate_.store_.prepare(part.question);
    gate_.store_.ask(part.question, now, {.call = &Split::answered, .context = this, .ticket = ticket});
  }

  static void answered(void* context, std::uint64_t ticket, const Answer& answer) {
    Split& split = *static_cast<Split*>(context);
    Part& part = ticket == kCounting ? split.counting_ : split.shadow_;
    part.answer = in_places(answer, part.places);
    if (--split.waiting_ == 0) split.finish();
  }

  /// Without a decision of its own store, a no is not the rule's.
  bool shadow_decided() const {
    return shadow_.answer.fault == StoreFault::kNone || shadow_.answer.decision.source == Source::kLocal;
  }

  Answer combined() const {
    Answer answer = unlimited_answer(question_);
    if (counting_.asked()) {
      answer = counting_.answer;
    } else if (!has_unlimited_) {
      answer = shadow_.answer;
      answer.ok = true;
      answer.decision.allowed = true;
      answer.decision.retry_after = {};
      answer.decision.delay = {};
      answer.decision.granted = grants_cost(question_.verb) ? question_.cost : 0;
      if (!shadow_decided()) {
        answer.decision.source = Source::kFailedOpen;
        answer.violated = 0;
      }
    }
    if (shadow_.asked() && shadow_decided()) {
      answer.decision.would_deny = !shadow_.answer.decision.allowed;
      answer.violated = static_cast<std::uint16_t>(answer.violated | shadow_.answer.violated);
    }
    if (shadow_.asked()) {
      answer.shadow_fault = shadow_.answer.fault;
      answer.shadow_source = shadow_decided() ? shadow_.answer.decision.source : Source::kFailedOpen;
      answer.faulty = static_cast<std::uint16_t>(answer.faulty | shadow_.answer.faulty);
    }
    return answer;
  }

  /// Gives this object back before it answers, since the answer may ask again.
  void finish() {
    const Answer answer = combined();
    const Completion done = done_;
    gate_.idle_.push_back(this);
    done(answer);
  }

  Gate& gate_;
  Question question_;
  Completion done_;
  bool has_unlimited_ = false;  // among the charges that count
  int waiting_ = 0;             // answers
  std::array<Charge, kChargesMax> charges_;
  std::array<std::uint8_t, kChargesMax> places_{};
  Part counting_;
  Part shadow_;
};

Gate::Gate(Store& store) : store_(store) {}
Gate::~Gate() = default;

Status Gate::prepare(Question& question) {
  if (Status status = check_question(question); !status.ok()) return status;
  if (Status status = check_together(question, store_); !status.ok()) return status;
  if (is_plain(question)) store_.prepare(question);
  return Done{};
}

void Gate::ask(const Question& question, Instant now, Completion done) {
  if (is_plain(question)) return store_.ask(question, now, done);
  if (idle_.empty()) {
    idle_.push_back(all_.emplace_back(std::make_unique<Split>(*this)).get());
    idle_.reserve(all_.capacity());
  }
  Split* split = idle_.back();  // its own until it finishes
  idle_.pop_back();
  split->ask(question, now, done);
}

}  // namespace ratel
