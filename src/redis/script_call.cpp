#include "redis/script_call.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>

#include "base/check.h"
#include "limit/calendar.h"
#include "limit/decide.h"
#include "limit/fraction.h"
#include "redis/key_name.h"
#include "redis/script.h"
#include "wire/resp_writer.h"

namespace ratel {
namespace {

constexpr std::int64_t kExact = std::int64_t{1} << 53;  // what a double, and so the script, holds exactly

/// The script speaks of an algorithm, and of a fixed window on the calendar as another one, by a letter.
struct Kind {
  std::string_view letter;
  std::size_t arguments;  // with the letter
  std::size_t replies;
};

Kind kind_of(const Limit& limit) {
  switch (limit.algorithm) {
    case Algorithm::kGcra:
      break;
    case Algorithm::kFixedWindow:
      return limit.calendar == CalendarUnit::kNone ? Kind{"f", 3, 2} : Kind{"k", 6, 2};
    case Algorithm::kSlidingWindow:
      return {"s", 3, 3};
    case Algorithm::kSlidingLog:
      return {"l", 3, 5};
    case Algorithm::kConcurrency:
      return {"c", 4, 5};
  }
  return {"g", 7, 2};
}

std::string_view letter_of(Verb verb) {
  switch (verb) {
    case Verb::kAllow:
    case Verb::kAcquire:
      break;
    case Verb::kAtMost:
      return "m";
    case Verb::kPeek:
      return "p";
    case Verb::kRefund:
      return "f";
    case Verb::kReset:
      return "x";
    case Verb::kReserve:
      return "r";
    case Verb::kRenew:
      return "n";
    case Verb::kRelease:
      return "l";
  }
  return "a";
}

class Caller {
 public:
  Caller(const Question& question, const ScriptCallOptions& options, std::string& out)
      : question_(question), options_(options), out_(out), writer_(out, RespVersion::k2) {}

  void append() {
    const bool resets = question_.verb == Verb::kReset;
    const bool waits = question_.verb == Verb::kReserve || question_.verb == Verb::kAtMost;
    std::size_t arguments = 3 + question_.charges.size() + 3 + (waits ? 1 : 0);
    for (const Charge& charge : question_.charges) {
      CHECK(!charge.limit->limit.unlimited);
      if (!resets) arguments += kind_of(charge.limit->limit).arguments;
    }
    writer_.array(arguments);
    writer_.bulk("EVALSHA");
    writer_.bulk(decision_script().sha1);
    number(static_cast<std::int64_t>(question_.charges.size()));
    for (const Charge& charge : question_.charges) key(charge);
    number(options_.deadline_us);
    writer_.bulk(letter_of(question_.verb));
    number(question_.cost);
    if (waits) number(question_.max_wait_us);
    if (resets) return;
    for (const Charge& charge : question_.charges) counter(charge.limit->limit);
  }

 private:
  void number(std::int64_t value) {
    std::array<char, 20> digits;
    const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    writer_.bulk({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  void numbers(std::initializer_list<std::int64_t> values) {
    for (const std::int64_t value : values) number(value);
  }

  /// The length comes before the name and is known after it.
  void key(const Charge& charge) {
    const std::size_t begin = out_.size();
    append_key_name(options_.prefix, charge.limit->identity, charge.key, out_);
    std::array<char, 8> length{'$'};
    char* end = std::to_chars(length.data() + 1, length.data() + 6, out_.size() - begin).ptr;
    *end++ = '\r';
    *end++ = '\n';
    out_.insert(begin, length.data(), static_cast<std::size_t>(end - length.data()));
    out_ += "\r\n";
  }

  void counter(const Limit& limit) {
    const Kind kind = kind_of(limit);
    writer_.bulk(kind.letter);
    switch (kind.letter.front()) {
      case 'g':
        return gcra(limit);
      case 'k': {
        const CalendarWindow now = calendar_window(limit, options_.calendar_us);
        const CalendarWindow before = calendar_window(limit, std::max<Micros>(0, now.start_us - 1));
        numbers({limit.capacity, before.start_us, now.start_us, now.end_us, calendar_window(limit, now.end_us).end_us});
        return;
      }
      case 'c':
        numbers({limit.capacity, question_.lease_us});
        writer_.bulk(question_.lease_id);
        return;
      default:
        numbers({limit.capacity, limit.period_us});
    }
  }

  void gcra(const Limit& limit) {
    const Fraction capacity = limit.capacity_time;
    const Micros bound_us = capacity.q_us + limit.max_wait_us + kClockSlack_us;
    Fraction cost;
    if (question_.verb == Verb::kAtMost) {
      cost = limit.interval;
    } else if (question_.verb == Verb::kRefund && refunds_any(limit, bound_us)) {
      cost = {bound_us + 1, 0};
    } else if (question_.verb != Verb::kRefund && question_.cost > limit.capacity) {
      cost = {capacity.q_us + question_.max_wait_us + 1, 0};  // in no bucket, and by no waiting
    } else if (limit.count > 0) {
      cost = time_of(question_.cost, limit.period_us, limit.count);
    }
    numbers({limit.count, cost.q_us, cost.r, capacity.q_us, capacity.r, bound_us});
  }

  /// Whether the cost pays back any debt there may be. Its time as such may not fit 64 bits.
  bool refunds_any(const Limit& limit, Micros bound_us) const {
    return product(question_.cost, limit.period_us) > product(bound_us, limit.count) + static_cast<Wide>(limit.count);
  }

  const Question& question_;
  const ScriptCallOptions& options_;
  std::string& out_;
  RespWriter writer_;
};

/// The reply's integers, taken one after the other. What is out of range spoils the reply.
class Numbers {
 public:
  explicit Numbers(std::span<const std::int64_t> values) : left_(values) {}

  bool good() const { return good_; }
  bool empty() const { return left_.empty(); }
  void spoil() { good_ = false; }
  std::int64_t take(std::int64_t min, std::int64_t max) {
    if (left_.empty() || left_.front() < min || left_.front() > max) {
      good_ = false;
      return min;
    }
    const std::int64_t value = left_.front();
    left_ = left_.subspan(1);
    return value;
  }
  Micros time() { return take(0, kExact); }

 private:
  std::span<const std::int64_t> left_;
  bool good_ = true;
};

/// A counter's state as the script found it, in the form that decide() reads.
struct State {
  Cell cell;
  std::unique_ptr<Record> record;
  Reading reading;
};

Slot take_state(const Limit& limit, Micros now_us, Numbers& numbers, State& state) {
  const Slot slot{.cell = &state.cell, .record = &state.record};
  switch (kind_of(limit).letter.front()) {
    case 'g': {
      const Micros q_us = numbers.take(-1, kExact);
      const auto r = static_cast<std::uint64_t>(numbers.take(0, std::max<std::int64_t>(0, limit.count - 1)));
      const auto count = static_cast<std::uint64_t>(limit.count);
      if (q_us >= 0) state.cell = {.until_us = q_us, .word = count << 32 | r};
      return slot;
    }
    case 'f': {
      const Micros end_us = numbers.take(-1, kExact);
      const auto count = static_cast<std::uint64_t>(numbers.take(0, kCountMax));
      if (end_us >= 0) state.cell = {.until_us = end_us, .word = count};
      return slot;
    }
    case 'k': {
      const Micros start_us = numbers.take(-1, kExact);
      const auto count = static_cast<std::uint64_t>(numbers.take(0, kCountMax));
      const auto start_s = static_cast<std::uint32_t>(start_us / kSecond_us);
      if (start_us >= 0) state.cell = {.until_us = start_us, .word = std::uint64_t{start_s} << 32 | count};
      return slot;
    }
    case 's': {
      const Micros start_us = numbers.take(-1, kExact);
      const auto previous = static_cast<std::uint64_t>(numbers.take(0, kCountMax));
      const auto current = static_cast<std::uint64_t>(numbers.take(0, kCountMax));
      const Micros until_us = start_us + (current > 0 ? 2 : 1) * limit.period_us;
      if (start_us >= 0) state.cell = {.until_us = until_us, .word = previous << 32 | current};
      return slot;
    }
    default:
      break;
  }
  state.reading.used = numbers.take(0, kCountMax);
  state.reading.wait_us = numbers.time();
  state.reading.held = numbers.take(0, 1) == 1;
  state.reading.used_after = numbers.take(0, kCountMax);
  state.reading.until_us = numbers.time();
  if (state.reading.used_after > 0 && state.reading.until_us <= now_us) numbers.spoil();
  return {.reading = &state.reading};
}

/// What the script calls granted: less than 0 where it denied.
std::int64_t granted_by(const Answer& answer) {
  return answer.decision.allowed ? answer.decision.granted : -1;
}

}  // namespace

void append_script_call(const Question& question, const ScriptCallOptions& options, std::string& out) {
  Caller(question, options, out).append();
}

ScriptOutcome read_script_reply(const Question& question, std::span<const std::int64_t> reply) {
  constexpr ScriptOutcome kMalformed;
  const std::size_t count = question.charges.size();
  const std::int64_t any = (std::int64_t{1} << count) - 1;
  Numbers numbers(reply);
  const std::int64_t verdict = numbers.take(0, 3);
  ScriptOutcome outcome{.now_us = numbers.time()};
  switch (verdict) {
    case 1:
      outcome.kind = ScriptOutcome::Kind::kExpired;
      break;
    case 2:
      outcome.kind = ScriptOutcome::Kind::kAgain;
      break;
    case 3:
      outcome.kind = ScriptOutcome::Kind::kFaults;
      outcome.faults = static_cast<std::uint16_t>(numbers.take(1, any));
      break;
    default: {
      const std::int64_t granted = numbers.take(-1, kCountMax);
      const std::int64_t notes = numbers.take(0, any << 16 | any);
      if ((notes & ~(any << 16 | any)) != 0) return kMalformed;
      outcome.clamped = static_cast<std::uint16_t>(notes & 0xffff);
      outcome.healed = static_cast<std::uint16_t>(notes >> 16);
      std::array<State, kChargesMax> states;
      std::array<Slot, kChargesMax> slots;
      for (std::size_t i = 0; i < count; ++i) {
        slots[i] = {.cell = &states[i].cell, .record = &states[i].record};
        if (question.verb == Verb::kReset) continue;
        slots[i] = take_state(question.charges[i].limit->limit, outcome.now_us, numbers, states[i]);
      }
      if (!numbers.good()) return kMalformed;
      outcome.kind = ScriptOutcome::Kind::kAnswer;
      outcome.answer = decide(question, {slots.data(), count}, {outcome.now_us, outcome.now_us});
      if (granted_by(outcome.answer) != granted) return kMalformed;
      // As of a counter that is said to have changed where nothing was charged.
      if (outcome.answer.decision.reset_after.count() < 0) return kMalformed;
      for (std::size_t i = 0; i < count; ++i) {
        outcome.uses[i] = use_of(question.charges[i], slots[i], {outcome.now_us, outcome.now_us});
      }
    }
  }
  if (!numbers.good() || !numbers.empty()) return kMalformed;
  return outcome;
}

}  // namespace ratel
