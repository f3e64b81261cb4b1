#pragma once
// For tests: a SafeStore in front of a store that fails as told.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/prng.h"
#include "gate/safe_store.h"
#include "limit/decide.h"
#include "store/store_testing.h"

namespace ratel {

/// Decides, or fails in one way, at once or when told.
class FakeRemote final : public Store {
 public:
  void prepare(Question& question) override {
    for (Charge& charge : question.charges) charge.hash = {std::hash<std::string_view>{}(charge.key) | 1, 1};
  }
  void ask(const Question& question, Instant now, Completion done) override {
    ++asked;
    if (late) {
      waiting.push_back({&question, now, done});
    } else {
      const bool is_down = part_of(question) == down_part || question.charges.front().key == down_key;
      answer({&question, now, done}, is_down ? StoreFault::kUnreachable : fault);
    }
  }
  /// Keys that begin with a capital letter are of the part of it.
  std::size_t part_of(const Question& question) const override {
    const char first = question.charges.front().key.front();
    return first >= 'A' && first <= 'P' ? static_cast<std::size_t>(first - 'A') : 0;
  }
  std::uint64_t recoveries() const override { return recovered; }
  void answer_next(StoreFault with) {
    const Waiting one = waiting.front();
    waiting.pop_front();
    answer(one, with);
  }

  struct Waiting {
    const Question* question;
    Instant now;
    Completion done;
  };
  StoreFault fault = StoreFault::kNone;
  bool late = false;
  std::uint64_t recovered = 0;
  std::int64_t room = kCountMax;  // for any question
  int asked = 0;
  std::deque<Waiting> waiting;
  std::map<std::string, std::int64_t, std::less<>> spent, probed;  // by key, of what was decided
  std::size_t down_part = kPartsMax;                               // is unreachable
  std::string down_key;                                            // is so by itself

 private:
  void answer(const Waiting& one, StoreFault with) {
    Answer answer{.fault = with};
    if (with == StoreFault::kNone) {
      const std::int64_t granted = std::min(one.question->cost, room);
      answer.decision = {.allowed = true, .limit = 100, .granted = granted};
      const Charge& charge = one.question->charges.front();
      (charge.limit->identity == probe_limit().identity ? probed : spent)[std::string(charge.key)] += granted;
    }
    if (with == StoreFault::kBadState) answer.faulty = 1;
    one.done(answer);
  }
};

class SafeStoreTest : public testing::Test {
 protected:
  Answer ask(FailureMode mode, std::int64_t cost = 1, Verb verb = Verb::kAllow) {
    std::array<Charge, 1> charges{Charge{.limit = &limit_, .key = "k", .on_failure = mode}};
    return ask(charges, cost, verb);
  }
  Answer ask_key(std::string_view key, FailureMode mode = FailureMode::kLocal) {
    std::array<Charge, 1> charges{Charge{.limit = &limit_, .key = key, .on_failure = mode}};
    return ask(charges);
  }
  Answer ask(std::span<Charge> charges, std::int64_t cost = 1, Verb verb = Verb::kAllow) {
    Question question{.verb = verb, .charges = charges, .cost = cost};
    Answer answer;
    safe_.prepare(question);
    safe_.ask(question, clock_.now(), {keep_answer, &answer, 0});
    return answer;
  }
  void open() {
    remote_.fault = StoreFault::kUnreachable;
    for (int i = 0; i < Breaker::kFailuresInARow; ++i) ask(FailureMode::kAllow);
    ASSERT_EQ(safe_.state(), SafeStore::State::kDown);
  }
  void tick_when_due() {
    const Micros due_us = safe_.due_us();
    ASSERT_NE(due_us, SafeStore::kNone_us);
    clock_.advance_us(std::max<Micros>(0, due_us - clock_.now().monotonic_us));
    safe_.tick(clock_.now());
  }

  ManualClock clock_{at(kStart_us)};
  Prng prng_{1};
  KnownDebts debts_{64};
  LocalShare local_{{.start = at(kStart_us)}, debts_};
  FakeRemote remote_;
  SafeStore safe_{remote_, local_, clock_, prng_};
  BoundLimit limit_ = gcra(100, kDay_us);
};

}  // namespace ratel
