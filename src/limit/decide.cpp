#include "limit/decide.h"

#include <algorithm>
#include <array>
#include <optional>
#include <variant>

#include "base/check.h"
#include "limit/concurrency.h"
#include "limit/fixed_window.h"
#include "limit/gcra.h"
#include "limit/sliding_log.h"
#include "limit/sliding_window.h"

namespace ratel {
namespace {

using std::chrono::microseconds;

/// When to ask again where a record has no room: nobody can know when there is some.
constexpr Micros kNoRoomWait_us = kSecond_us;

/// Whether charging leaves the record within its bound.
template <typename C>
bool has_room(const C& counter, std::int64_t cost, std::size_t bytes_max) {
  if constexpr (requires { counter.bytes_after(cost); }) return cost == 0 || counter.bytes_after(cost) <= bytes_max;
  return true;
}

/// One charge's counter, read once and asked several things.
class Counter {
 public:
  Counter(const Question& question, const Limit& limit, const Slot& slot, StoreTime time)
      : limit_(limit), record_bytes_max_(slot.record_bytes_max), state_(read(question, limit, slot, time)) {}

  const Limit& limit() const { return limit_; }
  std::size_t record_bytes_max() const { return record_bytes_max_; }

  template <typename F>
  decltype(auto) visit(F&& f) {
    return std::visit(std::forward<F>(f), state_);
  }

  Micros wait_us(std::int64_t cost) {
    return visit([cost](auto& counter) { return counter.wait_us(cost); });
  }
  std::int64_t remaining() {
    return visit([](auto& counter) { return counter.remaining(); });
  }
  Micros reset_after_us() {
    return visit([](auto& counter) { return counter.reset_after_us(); });
  }
  std::int64_t remaining_within(Micros wait_us) {
    return visit([wait_us](auto& counter) {
      if constexpr (requires { counter.remaining_within(wait_us); }) {
        return counter.remaining_within(wait_us);
      } else {
        return counter.remaining();
      }
    });
  }
  bool has_room(std::int64_t cost) {
    return visit([&](const auto& counter) { return ratel::has_room(counter, cost, record_bytes_max_); });
  }
  void charge(std::int64_t cost) {
    visit([cost](auto& counter) { counter.charge(cost); });
  }
  void refund(std::int64_t cost) {
    visit([cost](auto& counter) {
      if constexpr (requires { counter.refund(cost); }) counter.refund(cost);
    });
  }
  void reset() {
    visit([](auto& counter) { counter.reset(); });
  }
  void repair() {
    visit([](auto& counter) {
      if constexpr (requires { counter.repair(); }) counter.repair();
    });
  }
  // Of concurrency only, like the verbs that come here.
  bool held() {
    return visit([](auto& counter) {
      if constexpr (requires { counter.held(); }) {
        return counter.held();
      } else {
        return false;
      }
    });
  }
  void renew() {
    visit([](auto& counter) {
      if constexpr (requires { counter.renew(); }) counter.renew();
    });
  }
  void release() {
    visit([](auto& counter) {
      if constexpr (requires { counter.release(); }) counter.release();
    });
  }

 private:
  using State = std::variant<Gcra, FixedWindow, SlidingWindow, SlidingLog, Concurrency, Told>;

  static State read(const Question& question, const Limit& limit, const Slot& slot, StoreTime time) {
    if (slot.reading != nullptr) return Told(limit, *slot.reading, time.now_us);
    switch (limit.algorithm) {
      case Algorithm::kFixedWindow:
        return FixedWindow(limit, *slot.cell, time);
      case Algorithm::kSlidingWindow:
        return SlidingWindow(limit, *slot.cell, time.now_us);
      case Algorithm::kSlidingLog:
        return SlidingLog(limit, *slot.cell, *slot.record, time.now_us);
      case Algorithm::kConcurrency:
        return Concurrency(limit, *slot.cell, *slot.record, time.now_us, question.lease_id, question.lease_us);
      case Algorithm::kGcra:
        break;
    }
    return Gcra(limit, *slot.cell, time.now_us);
  }

  const Limit& limit_;
  std::size_t record_bytes_max_;
  State state_;
};

/// All counters of one question, and the answer in the making.
class Decider {
 public:
  Decider(const Question& question, std::span<const Slot> slots, StoreTime time) : question_(question) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      counters_[i].emplace(question, question.charges[i].limit->limit, slots[i], time);
    }
    count_ = slots.size();
  }

  Answer run() {
    if (question_.verb != Verb::kPeek) {
      for (std::size_t i = 0; i < count_; ++i) counter(i).repair();
    }
    switch (question_.verb) {
      case Verb::kAllow:
      case Verb::kAcquire:
        allow();
        break;
      case Verb::kPeek:
        judge(question_.cost, 0);
        break;
      case Verb::kAtMost:
        atmost();
        break;
      case Verb::kReserve:
        reserve();
        break;
      case Verb::kRefund:
        for (std::size_t i = 0; i < count_; ++i) counter(i).refund(question_.cost);
        break;
      case Verb::kReset:
        for (std::size_t i = 0; i < count_; ++i) counter(i).reset();
        break;
      case Verb::kRenew:
        renew();
        break;
      case Verb::kRelease:
        release();
        break;
    }
    return finish();
  }

 private:
  Counter& counter(std::size_t i) { return *counters_[i]; }
  bool denied() const { return answer_.violated != 0; }

  void deny(std::size_t i, Micros retry_us) {
    answer_.violated = static_cast<std::uint16_t>(answer_.violated | 1U << i);
    retry_us_[i] = retry_us;
  }

  void grant(std::int64_t cost) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (!counter(i).has_room(cost)) deny(i, kNoRoomWait_us);
    }
    if (denied()) {
      answer_.decision.source = Source::kFailedClosed;
      answer_.decision.granted = 0;
      return;
    }
    for (std::size_t i = 0; i < count_; ++i) counter(i).charge(cost);
    answer_.decision.granted = cost;
  }

  /// Denies by every counter that would not let `cost` go within `patience_us`. Returns the longest wait of the others.
  Micros judge(std::int64_t cost, Micros patience_us) {
    Micros longest_us = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const Micros wait_us = counter(i).wait_us(cost);
      if (wait_us == kNever_us) {
        deny(i, kNever_us);
      } else if (wait_us > patience_us) {
        deny(i, wait_us - patience_us);
      } else {
        longest_us = std::max(longest_us, wait_us);
      }
    }
    if (!denied()) answer_.decision.granted = cost;
    return longest_us;
  }

  void allow() {
    judge(question_.cost, 0);
    if (!denied()) grant(question_.cost);
  }

  void atmost() {
    std::int64_t cost = question_.cost;
    for (std::size_t i = 0; i < count_; ++i) {
      cost = std::min(cost, counter(i).remaining_within(question_.max_wait_us));
    }
    if (cost > 0 || question_.cost == 0) return grant(cost);
    judge(1, question_.max_wait_us);
  }

  void reserve() {
    const Micros delay_us = judge(question_.cost, question_.max_wait_us);
    if (denied()) return;
    grant(question_.cost);
    answer_.decision.delay = microseconds{delay_us};
  }

  void renew() {
    for (std::size_t i = 0; i < count_; ++i) {
      if (!counter(i).held()) deny(i, kNever_us);
    }
    answer_.ok = !denied();
    if (!answer_.ok) return;
    for (std::size_t i = 0; i < count_; ++i) counter(i).renew();
  }

  /// What is held is freed even where another lease of the same id has ended: nobody needs it any more.
  void release() {
    for (std::size_t i = 0; i < count_; ++i) {
      if (counter(i).held()) {
        counter(i).release();
      } else {
        deny(i, kNever_us);
      }
    }
    answer_.ok = !denied();
  }

  Answer finish() {
    std::size_t binding = 0;
    if (denied()) {
      const auto longer = [](Micros a, Micros b) { return b != kNever_us && (a == kNever_us || a > b); };
      while ((answer_.violated >> binding & 1U) == 0) ++binding;
      for (std::size_t i = binding + 1; i < count_; ++i) {
        if ((answer_.violated >> i & 1U) != 0 && longer(retry_us_[i], retry_us_[binding])) binding = i;
      }
    } else {
      for (std::size_t i = 1; i < count_; ++i) {
        if (counter(i).remaining() < counter(binding).remaining()) binding = i;
      }
    }
    answer_.binding = static_cast<std::uint8_t>(binding);
    Decision& decision = answer_.decision;
    decision.allowed = !denied();
    decision.limit = counter(binding).limit().capacity;
    decision.remaining = decision.source == Source::kExact ? counter(binding).remaining() : 0;
    decision.reset_after = microseconds{counter(binding).reset_after_us()};
    decision.retry_after = microseconds{denied() ? retry_us_[binding] : 0};
    return answer_;
  }

  const Question& question_;
  std::size_t count_ = 0;
  std::array<std::optional<Counter>, kChargesMax> counters_;
  std::array<Micros, kChargesMax> retry_us_;  // where denied
  Answer answer_;
};

/// The same as Decider, for the question that nearly every question is.
template <typename C>
Answer allow_one(const Limit& limit, C& counter, std::int64_t cost, std::size_t record_bytes_max) {
  Micros retry_us = counter.wait_us(cost);
  Answer answer;
  if (retry_us == 0 && !has_room(counter, cost, record_bytes_max)) {
    retry_us = kNoRoomWait_us;
    answer.decision.source = Source::kFailedClosed;
  }
  if (retry_us == 0) {
    counter.charge(cost);
    answer.decision.allowed = true;
    answer.decision.granted = cost;
  } else {
    answer.violated = 1;
    answer.decision.retry_after = microseconds{retry_us};
  }
  if constexpr (requires { counter.repair(); }) counter.repair();
  answer.decision.limit = limit.capacity;
  answer.decision.remaining = answer.decision.source == Source::kExact ? counter.remaining() : 0;
  answer.decision.reset_after = microseconds{counter.reset_after_us()};
  return answer;
}

/// Kept out of decide(), whose frame would otherwise hold room for 16 counters.
[[gnu::noinline]] Answer decide_any(const Question& question, std::span<const Slot> slots, StoreTime time) {
  if (slots.size() > 1 || (question.verb != Verb::kAllow && question.verb != Verb::kAcquire)) {
    return Decider(question, slots, time).run();
  }
  const Limit& limit = question.charges.front().limit->limit;
  Counter counter(question, limit, slots.front(), time);
  return counter.visit([&](auto& state) { return allow_one(limit, state, question.cost, counter.record_bytes_max()); });
}

}  // namespace

Answer decide(const Question& question, std::span<const Slot> slots, StoreTime time) {
  CHECK(!slots.empty() && slots.size() == question.charges.size() && slots.size() <= kChargesMax);
  const Limit& limit = question.charges.front().limit->limit;
  if (slots.size() == 1 && limit.algorithm == Algorithm::kGcra && question.verb == Verb::kAllow) [[likely]] {
    Gcra counter(limit, *slots.front().cell, time.now_us);
    return allow_one(limit, counter, question.cost, 0);
  }
  return decide_any(question, slots, time);
}

Use use_of(const Charge& charge, const Slot& slot, StoreTime time) {
  if (slot.reading != nullptr) {
    const Reading& reading = *slot.reading;
    return {reading.used_after, reading.used_after > 0 ? reading.until_us - time.now_us : 0};
  }
  const Limit& limit = charge.limit->limit;
  if (limit.algorithm == Algorithm::kGcra) {
    const Gcra counter(limit, *slot.cell, time.now_us);
    return {counter.used(), counter.reset_after_us()};
  }
  Charge asked = charge;
  const Question peek{.verb = Verb::kPeek, .charges = {&asked, 1}, .cost = 0};
  const Decision decision = decide(peek, {&slot, 1}, time).decision;
  return {limit.capacity - decision.remaining, decision.reset_after.count()};
}

}  // namespace ratel
