#include "gate/gate.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "limit/decide.h"

namespace ratel {
namespace {

/// Decides as any store does, and answers at once or when told.
class TestStore final : public Store {
 public:
  explicit TestStore(bool late = false) : late_(late) {}

  void prepare(Question& question) override {
    ++prepared;
    for (Charge& charge : question.charges) charge.hash = {1, 1};
  }

  bool decides_together(const Charge& a, const Charge& b) const override { return !apart || a.key == b.key; }

  void ask(const Question& question, Instant now, Completion done) override {
    last_question = &question;
    ++asked;
    for (const Charge& charge : question.charges) EXPECT_EQ(charge.hash[0], 1U) << "asked without prepare";
    if (late_) {
      waiting_.push_back({.question = &question, .now = now, .done = done});
    } else {
      answer({.question = &question, .now = now, .done = done});
    }
  }

  /// The answer to one question under way, the oldest or the newest.
  void answer_one(bool oldest) {
    const Asked asked_before = oldest ? waiting_.front() : waiting_.back();
    oldest ? waiting_.pop_front() : waiting_.pop_back();
    answer(asked_before);
  }
  bool idle() const { return waiting_.empty(); }

  int prepared = 0;
  int asked = 0;
  const Question* last_question = nullptr;
  bool apart = false;                    // counters of other keys
  StoreFault fault = StoreFault::kNone;  // then it answers as SafeStore does, by the mode of the first charge

 private:
  struct Asked {
    const Question* question;
    Instant now;
    Completion done;
  };
  struct State {
    Cell cell;
    std::unique_ptr<Record> record;
  };

  Answer stand_in(const Question& question) const {
    Answer answer{.fault = fault};
    const FailureMode mode = question.charges.front().on_failure;
    answer.decision.allowed = mode == FailureMode::kAllow;
    answer.decision.source = mode == FailureMode::kAllow   ? Source::kFailedOpen
                             : mode == FailureMode::kLocal ? Source::kLocal
                                                           : Source::kFailedClosed;
    answer.violated = mode == FailureMode::kAllow ? 0 : 1;
    answer.faulty = fault == StoreFault::kBadState ? 1 : 0;
    return answer;
  }

  void answer(const Asked& asked_before) {
    std::vector<Slot> slots;
    for (const Charge& charge : asked_before.question->charges) {
      State& state = states_[{charge.limit->identity, std::string(charge.key)}];
      slots.push_back({.cell = &state.cell, .record = &state.record});
    }
    const Micros now_us = asked_before.now.monotonic_us;
    if (fault != StoreFault::kNone) return asked_before.done(stand_in(*asked_before.question));
    asked_before.done(decide(*asked_before.question, slots, {.now_us = now_us, .calendar_us = now_us}));
  }

  bool late_;
  std::map<std::pair<std::string, std::string>, State> states_;
  std::deque<Asked> waiting_;
};

BoundLimit bound(const std::string& label, const std::string& text) {
  BoundLimit limit{.limit = *make_limit(*parse_limit(text)), .identity = {}, .label = label};
  limit.identity = rule_identity(label, "1", limit.limit);
  return limit;
}

/// Asks `question` of `charges` and gives the answer, where the store answers at once.
Answer ask(Gate& gate, std::vector<Charge> charges, Question question, Micros now_us = 0) {
  question.charges = charges;
  EXPECT_TRUE(gate.prepare(question).ok());
  Answer answer;
  int answers = 0;
  struct Context {
    Answer& answer;
    int& answers;
  } context{answer, answers};
  const auto receive = [](void* there, std::uint64_t ticket, const Answer& given) {
    EXPECT_EQ(ticket, 7U);
    static_cast<Context*>(there)->answer = given;
    ++static_cast<Context*>(there)->answers;
  };
  gate.ask(question, {.monotonic_us = now_us, .wall_us = now_us}, {.call = receive, .context = &context, .ticket = 7});
  EXPECT_EQ(answers, 1);
  return answer;
}

Charge charge(const BoundLimit& limit, bool shadow = false) {
  return {.limit = &limit, .key = "k", .shadow = shadow};
}

TEST(Gate, RefusesABadQuestionBeforeTheStore) {
  TestStore store;
  Gate gate(store);
  Question question{.cost = -1};
  EXPECT_EQ(gate.prepare(question).error().message, "limits: expected 1 to 16, got 0");
  EXPECT_EQ(store.prepared, 0);
}

TEST(Gate, HandsAPlainQuestionStraightToTheStore) {
  TestStore store(true);
  Gate gate(store);
  const BoundLimit limit = bound("api", "5/min");
  std::vector<Charge> charges{charge(limit)};
  Question question{.charges = charges};
  ASSERT_TRUE(gate.prepare(question).ok());
  EXPECT_EQ(store.prepared, 1);
  gate.ask(question, {}, {});
  EXPECT_EQ(store.last_question, &question) << "no copy, so nothing was allocated for it";
}

TEST(Gate, RefusesWhatTheStoreCannotDecideInOneStep) {
  TestStore store;
  Gate gate(store);
  const BoundLimit user = bound("user", "5/min");
  const BoundLimit address = bound("address", "5/min");
  const BoundLimit lifted = bound("lifted", "unlimited");
  struct Case {
    std::vector<Charge> charges;
    bool apart;
    bool refused;
  };
  const Case cases[] = {
      {{charge(user), {.limit = &address, .key = "k/64"}}, false, false},
      {{charge(user), charge(address)}, true, false},
      {{charge(user), {.limit = &address, .key = "k/64"}}, true, true},
      {{charge(lifted), {.limit = &address, .key = "k/64"}}, true, false},
      {{charge(user), {.limit = &address, .key = "k/64", .shadow = true}}, true, false},
      {{charge(user, true), {.limit = &address, .key = "k/64", .shadow = true}}, true, true},
  };
  for (Case one : cases) {
    SCOPED_TRACE(&one - cases);
    store.apart = one.apart;
    Question question{.charges = one.charges};
    const Status status = gate.prepare(question);
    ASSERT_EQ(status.ok(), !one.refused);
    if (!one.refused) continue;
    EXPECT_EQ(status.error().code, ErrorCode::kBadArgument);
    EXPECT_EQ(status.error().message,
              "limits: user and address count this key under different names (`key: ip`), which a cluster cannot "
              "decide in one step; ask for them apart");
  }
}

TEST(Gate, AnswersUnlimitedWithoutTheStore) {
  TestStore store;
  Gate gate(store);
  const BoundLimit free = bound("free", "unlimited");
  const BoundLimit also_free = bound("also", "unlimited");
  for (const Verb verb : {Verb::kAllow, Verb::kAtMost, Verb::kPeek, Verb::kReserve, Verb::kRefund, Verb::kReset}) {
    const Answer answer = ask(gate, {charge(free), charge(also_free)}, {.verb = verb, .cost = 9});
    EXPECT_TRUE(answer.decision.allowed);
    EXPECT_EQ(answer.decision.limit, kUnlimited);
    EXPECT_EQ(answer.decision.remaining, kUnlimited);
    EXPECT_EQ(answer.decision.retry_after.count(), 0);
    EXPECT_EQ(answer.decision.source, Source::kExact);
    EXPECT_EQ(answer.decision.granted, verb == Verb::kRefund || verb == Verb::kReset ? 0 : 9);
  }
  const Answer renewed = ask(gate, {charge(free)}, {.verb = Verb::kRenew, .lease_id = "i", .lease_us = 1});
  EXPECT_TRUE(renewed.ok);
  EXPECT_EQ(store.prepared + store.asked, 0);
}

TEST(Gate, LimitedChargesBindBesideUnlimitedOnes) {
  TestStore store;
  Gate gate(store);
  const BoundLimit free = bound("free", "unlimited");
  const BoundLimit api = bound("api", "5/min");
  const BoundLimit login = bound("login", "1/min");
  const std::vector<Charge> charges{charge(free), charge(api), charge(login)};
  const Answer first = ask(gate, charges, {});
  EXPECT_TRUE(first.decision.allowed);
  EXPECT_EQ(first.binding, 2);
  const Answer second = ask(gate, charges, {});
  EXPECT_FALSE(second.decision.allowed);
  EXPECT_EQ(second.decision.limit, 1);
  EXPECT_EQ(second.binding, 2);
  EXPECT_EQ(second.violated, 0b100);
}

TEST(Gate, ShadowNeitherDeniesNorIsDenied) {
  TestStore store;
  Gate gate(store);
  const BoundLimit strict = bound("strict", "1/min");
  const BoundLimit api = bound("api", "3/min");
  const std::vector<Charge> charges{charge(strict, true), charge(api)};
  struct Case {
    bool allowed;
    bool would_deny;
    std::uint16_t violated;
    std::int64_t remaining;
  };
  for (const Case& c :
       {Case{true, false, 0b00, 2}, Case{true, true, 0b01, 1}, Case{true, true, 0b01, 0}, Case{false, true, 0b11, 0}}) {
    const Answer answer = ask(gate, charges, {});
    EXPECT_EQ(answer.decision.allowed, c.allowed);
    EXPECT_EQ(answer.decision.would_deny, c.would_deny);
    EXPECT_EQ(answer.violated, c.violated);
    EXPECT_EQ(answer.decision.limit, 3) << "the rule that counts binds";
    EXPECT_EQ(answer.decision.remaining, c.remaining);
    EXPECT_EQ(answer.binding, 1);
  }
  // Denied by the rule that counts, a question is still counted by the one that watches.
  const BoundLimit watcher = bound("watcher", "9/min");
  EXPECT_FALSE(ask(gate, {charge(api), charge(watcher, true)}, {}).decision.allowed);
  EXPECT_EQ(ask(gate, {charge(watcher)}, {.verb = Verb::kPeek}).decision.remaining, 8);
}

TEST(Gate, ShadowAloneAllowsTheWholeCostAtOnce) {
  TestStore store;
  Gate gate(store);
  const BoundLimit strict = bound("strict", "1/min");
  const BoundLimit free = bound("free", "unlimited");
  const std::vector<Charge> charges{charge(strict, true)};
  EXPECT_FALSE(ask(gate, charges, {}).decision.would_deny);
  const Answer answer = ask(gate, charges, {.verb = Verb::kAtMost, .cost = 5});
  EXPECT_TRUE(answer.decision.allowed);
  EXPECT_TRUE(answer.decision.would_deny);
  EXPECT_EQ(answer.decision.granted, 5);
  EXPECT_EQ(answer.decision.limit, 1);
  EXPECT_EQ(answer.decision.retry_after.count(), 0);
  EXPECT_EQ(answer.violated, 1);
  const Answer beside_unlimited = ask(gate, {charge(strict, true), charge(free)}, {});
  EXPECT_TRUE(beside_unlimited.decision.would_deny);
  EXPECT_EQ(beside_unlimited.decision.limit, kUnlimited);
  EXPECT_EQ(beside_unlimited.binding, 1);
  // Unlimited in shadow changes nothing about a rule that counts.
  const Answer unlimited_shadow = ask(gate, {charge(free, true), charge(strict)}, {});
  EXPECT_FALSE(unlimited_shadow.decision.allowed);
  EXPECT_FALSE(unlimited_shadow.decision.would_deny);
}

TEST(Gate, ShadowLeasesAndReservationsHoldNobodyUp) {
  TestStore store;
  Gate gate(store);
  const BoundLimit slots = bound("slots", "1 concurrent");
  const std::vector<Charge> leases{charge(slots, true)};
  ask(gate, leases, {.verb = Verb::kAcquire, .lease_id = "a", .lease_us = kMinute_us});
  const Answer second = ask(gate, leases, {.verb = Verb::kAcquire, .lease_id = "b", .lease_us = kMinute_us});
  EXPECT_TRUE(second.decision.allowed);
  EXPECT_TRUE(second.decision.would_deny);
  const Answer renewed = ask(gate, leases, {.verb = Verb::kRenew, .lease_id = "b", .lease_us = kMinute_us});
  EXPECT_TRUE(renewed.ok) << "a holder told otherwise would stop";
  EXPECT_TRUE(renewed.decision.would_deny);

  BoundLimit queue = bound("queue", "1/min");
  queue.limit = *make_limit(*parse_limit("1/min"), kHour_us);
  const std::vector<Charge> reservation{charge(queue, true)};
  const Question reserve{.verb = Verb::kReserve, .max_wait_us = kHour_us};
  ask(gate, reservation, reserve);
  const Answer booked = ask(gate, reservation, reserve);
  EXPECT_FALSE(booked.decision.would_deny);
  EXPECT_EQ(booked.decision.delay.count(), 0);
}

// Invariant 48.
RC_GTEST_PROP(Gate, ShadowGivesTheVerdictsOfEnforced, ()) {
  const std::vector<std::string> texts{"5/min", "1/s", "7 per 3s burst 2", "0/min", "20/s burst 40"};
  const BoundLimit first = bound("first", *rc::gen::elementOf(texts));
  const BoundLimit second = bound("second", *rc::gen::elementOf(texts));
  TestStore enforced_store;
  TestStore shadow_store;
  Gate enforced(enforced_store);
  Gate shadow(shadow_store);
  const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 3'000'000), rc::gen::inRange(0, 4)));
  Micros now_us = 0;
  for (const auto& [gap_us, cost] : steps) {
    now_us += gap_us;
    const Answer real = ask(enforced, {charge(first), charge(second)}, {.cost = cost}, now_us);
    const Answer watched = ask(shadow, {charge(first, true), charge(second, true)}, {.cost = cost}, now_us);
    RC_ASSERT(watched.decision.allowed);
    RC_ASSERT(watched.decision.would_deny == !real.decision.allowed);
    RC_ASSERT(watched.violated == real.violated);
    RC_ASSERT(watched.binding == real.binding);
    RC_ASSERT(watched.decision.remaining == real.decision.remaining);
    RC_ASSERT(watched.decision.reset_after == real.decision.reset_after);
  }
}

TEST(Gate, WaitsForBothPartsOfALateStore) {
  for (const bool oldest_first : {true, false}) {
    TestStore store(true);
    Gate gate(store);
    const BoundLimit strict = bound("strict", "1/min");
    const BoundLimit api = bound("api", "100/min");
    constexpr std::uint64_t kQuestions = 20;
    std::vector<std::vector<Charge>> charges(kQuestions, {charge(strict, true), charge(api)});
    std::vector<int> answers(kQuestions);
    for (std::uint64_t i = 0; i < kQuestions; ++i) {
      Question question{.charges = charges[i]};
      ASSERT_TRUE(gate.prepare(question).ok());
      const auto receive = [](void* context, std::uint64_t ticket, const Answer& answer) {
        EXPECT_TRUE(answer.decision.allowed);
        EXPECT_EQ(answer.binding, 1);
        ++(*static_cast<std::vector<int>*>(context))[ticket];
      };
      gate.ask(question, {}, {.call = receive, .context = &answers, .ticket = i});
    }
    EXPECT_EQ(answers, std::vector<int>(kQuestions, 0));
    store.answer_one(oldest_first);
    EXPECT_EQ(answers, std::vector<int>(kQuestions, 0)) << "one part is not an answer";
    while (!store.idle()) store.answer_one(oldest_first);
    EXPECT_EQ(answers, std::vector<int>(kQuestions, 1));
  }
}

TEST(Gate, AnAnswerMayAskAgain) {
  TestStore store;
  Gate gate(store);
  const BoundLimit strict = bound("strict", "1/min");
  struct Chain {
    Gate& gate;
    std::vector<Charge> charges;
    Question question;
    int answers = 0;

    static void receive(void* context, std::uint64_t, const Answer& answer) {
      Chain& chain = *static_cast<Chain*>(context);
      EXPECT_EQ(answer.decision.would_deny, chain.answers > 0);
      if (++chain.answers < 5) chain.ask();
    }
    void ask() {
      ASSERT_TRUE(gate.prepare(question).ok());
      gate.ask(question, {}, {.call = &Chain::receive, .context = this});
    }
  } chain{.gate = gate, .charges = {charge(strict, true)}, .question = {}};
  chain.question.charges = chain.charges;
  chain.ask();
  EXPECT_EQ(chain.answers, 5);
}

TEST(Gate, AnOutageIsNoDenialOfAShadowRule) {
  struct Case {
    FailureMode mode;
    bool would_deny;
    Source alone;
  };
  const BoundLimit limit = bound("rule", "5/min"), shadow = bound("shadow", "5/min");
  for (const StoreFault fault : {StoreFault::kUnreachable, StoreFault::kBadState}) {
    for (const Case& c :
         {Case{FailureMode::kDeny, false, Source::kFailedOpen}, Case{FailureMode::kAllow, false, Source::kFailedOpen},
          Case{FailureMode::kLocal, true, Source::kLocal}}) {
      TestStore store;
      store.fault = fault;
      Gate gate(store);
      Charge counting = charge(limit), watching = charge(shadow, true);
      counting.on_failure = FailureMode::kAllow;
      watching.on_failure = c.mode;
      const Answer both = ask(gate, {counting, watching}, {});
      EXPECT_TRUE(both.decision.allowed);
      EXPECT_EQ(both.decision.would_deny, c.would_deny);
      EXPECT_EQ(both.violated, c.would_deny ? 0b10 : 0);
      EXPECT_EQ(both.fault, fault);
      EXPECT_EQ(both.decision.source, Source::kFailedOpen);
      EXPECT_EQ(both.shadow_fault, fault);
      EXPECT_EQ(both.shadow_source, c.alone);
      EXPECT_EQ(both.faulty, fault == StoreFault::kBadState ? 0b11 : 0);

      const BoundLimit unlimited = bound("free", "unlimited");
      const Answer only_watched = ask(gate, {charge(unlimited), watching}, {});
      EXPECT_EQ(only_watched.fault, StoreFault::kNone) << "what counts needs no store";
      EXPECT_EQ(only_watched.shadow_fault, fault) << "lost";
      EXPECT_EQ(only_watched.shadow_source, c.alone);
      EXPECT_EQ(only_watched.decision.source, Source::kExact);
      EXPECT_EQ(only_watched.decision.would_deny, c.would_deny);

      const Answer all_shadow = ask(gate, {watching}, {});
      EXPECT_TRUE(all_shadow.decision.allowed);
      EXPECT_EQ(all_shadow.decision.source, c.alone);
      EXPECT_EQ(all_shadow.decision.would_deny, c.would_deny);
      EXPECT_EQ(all_shadow.violated, c.would_deny ? 1 : 0);
      EXPECT_EQ(all_shadow.fault, fault);
      EXPECT_EQ(all_shadow.shadow_fault, fault);
      EXPECT_EQ(all_shadow.shadow_source, c.alone);
    }
  }
}

}  // namespace
}  // namespace ratel
