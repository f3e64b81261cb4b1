#include "serve/resp_question.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/check.h"

namespace ratel {
namespace {

constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

std::int64_t milliseconds(std::chrono::microseconds wait) {
  return wait == kNever ? -1 : ceil_div(wait.count(), 1'000);
}

std::int64_t seconds(std::chrono::microseconds wait) {
  return wait == kNever ? -1 : ceil_div(wait.count(), kSecond_us);
}

/// The reply of redis-cell has no room to say how an answer came about: a no that nothing was counted for is an error.
void write_throttle(const Answer& answer, RespWriter& writer) {
  const Decision& decision = answer.decision;
  if (decision.source == Source::kFailedClosed) {
    return writer.error("UNAVAILABLE the store gives no answer (" + std::string(name_of(answer.fault)) +
                        "); try again in " + std::to_string(milliseconds(decision.retry_after)) + " ms");
  }
  writer.integers({decision.allowed ? 0 : 1, decision.limit, decision.remaining,
                   decision.allowed ? -1 : seconds(decision.retry_after), seconds(decision.reset_after)});
}

void write_lease(const Answer& answer, RespWriter& writer) {
  writer.record(4);
  writer.field("ok");
  writer.integer(answer.ok ? 1 : 0);
  writer.field("remaining");
  writer.integer(answer.decision.remaining);
  writer.field("reset_after_ms");
  writer.integer(milliseconds(answer.decision.reset_after));
  writer.field("source");
  writer.bulk(name_of(answer.decision.source));
}

void write_violated(const RespQuestion& asked, RespWriter& writer) {
  const std::span<const Charge> charges = asked.question.charges;
  writer.array(static_cast<std::size_t>(__builtin_popcount(asked.answer.violated)));
  for (std::size_t i = 0; i < charges.size(); ++i) {
    if ((asked.answer.violated >> i & 1) != 0) writer.bulk(charges[i].limit->label);
  }
}

void write_decision(const RespQuestion& asked, RespWriter& writer) {
  const Decision& decision = asked.answer.decision;
  const Verb verb = asked.question.verb;
  const bool has_more = verb == Verb::kAtMost || verb == Verb::kReserve || verb == Verb::kAcquire;
  writer.record(std::size_t{7} + (has_more ? 1 : 0) + (asked.lists_violated ? 1 : 0));
  writer.field("allowed");
  writer.integer(decision.allowed ? 1 : 0);
  writer.field("limit");
  writer.integer(decision.limit);
  writer.field("remaining");
  writer.integer(decision.remaining);
  writer.field("retry_after_ms");
  writer.integer(milliseconds(decision.retry_after));
  writer.field("reset_after_ms");
  writer.integer(milliseconds(decision.reset_after));
  writer.field("source");
  writer.bulk(name_of(decision.source));
  writer.field("rule");
  writer.bulk(asked.question.charges[asked.answer.binding].limit->label);
  if (verb == Verb::kAtMost) {
    writer.field("granted");
    writer.integer(decision.granted);
  } else if (verb == Verb::kReserve) {
    writer.field("delay_ms");
    writer.integer(milliseconds(decision.delay));
  } else if (verb == Verb::kAcquire) {
    writer.field("lease_id");
    if (decision.allowed) {
      writer.bulk(asked.lease_id);
    } else {
      writer.null();
    }
  }
  if (asked.lists_violated) {
    writer.field("violated");
    write_violated(asked, writer);
  }
}

}  // namespace

RespQuestion::RespQuestion() {
  throttle_limit.identity = throttle_identity();
  throttle_limit.label = "CL.THROTTLE";
  throttle_charge.limit = &throttle_limit;
}

RespQuestion* RespQuestionPool::take() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<RespQuestion>());
    all_.back()->pool = this;
    free_.reserve(all_.capacity());
    return all_.back().get();
  }
  RespQuestion* question = free_.back();
  free_.pop_back();
  return question;
}

void RespQuestionPool::give_back(RespQuestion* question) {
  question->lease_id.clear();
  question->tail.clear();
  for (std::string* text : {&question->key, &question->tail}) {
    if (text->capacity() > kPooledBytesMax) std::string().swap(*text);
  }
  question->target.rest(in_force_);
  free_.push_back(question);
}

void RespQuestionPool::use(const RuleBookPtr& book) {
  in_force_ = book.get();
  for (RespQuestion* question : free_) question->target.rest(in_force_);
}

void count_answer(const RespQuestion& asked) {
  LoopMetrics& metrics = *asked.metrics;
  const Answer& answer = asked.answer;
  metrics.answered(asked.asked_us);
  if (asked.shape != RespQuestion::Shape::kThrottle) {
    return count_answer(metrics, asked.target, asked.question.verb, answer);
  }
  const Decision& decision = answer.decision;
  metrics.decided(kThrottleSeries, decision.allowed, decision.would_deny, decision.source);
  if (answer.fault != StoreFault::kNone) metrics.degraded(kThrottleSeries, answer.fault);
}

void write_answer(const RespQuestion& asked, std::string& output) {
  RespWriter writer(output, asked.version);
  switch (asked.shape) {
    case RespQuestion::Shape::kThrottle:
      return write_throttle(asked.answer, writer);
    case RespQuestion::Shape::kDecision:
      return write_decision(asked, writer);
    case RespQuestion::Shape::kLease:
      return write_lease(asked.answer, writer);
  }
}

bool same_word(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  if (std::memcmp(one.data(), other.data(), one.size()) == 0) return true;
  constexpr unsigned kCaseBit = 'a' ^ 'A';
  unsigned different = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const unsigned char letter = static_cast<unsigned char>(other[i] | kCaseBit);
    const unsigned ignored = static_cast<unsigned>(letter - 'a') < 26 ? kCaseBit : 0;
    different |= static_cast<unsigned char>(one[i] ^ other[i]) & ~ignored;
  }
  return different == 0;
}

bool read_integer(std::string_view text, std::int64_t& value) {
  constexpr std::size_t kShort = 9;  // digits that cannot overflow, which nearly all numbers are
  if (!text.empty() && text.size() <= kShort) {
    unsigned sum = 0;
    unsigned largest = 0;
    for (char c : text) {
      const unsigned digit = static_cast<unsigned char>(c) - unsigned{'0'};
      largest = std::max(largest, digit);
      sum = sum * 10 + digit;
    }
    value = sum;
    if (largest < 10) return true;
  }
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && stop == text.data() + text.size();
}

std::string wrong_arity(std::string_view command) {
  std::string text = "wrong number of arguments for '";
  for (char c : command) text += to_lower(c);
  return text + "' command";
}

}  // namespace ratel
