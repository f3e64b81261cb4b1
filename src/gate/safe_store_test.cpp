#include "gate/safe_store.h"

#include <gtest/gtest.h>

#include <vector>

#include "gate/safe_store_testing.h"

namespace ratel {
namespace {

TEST_F(SafeStoreTest, PassesDecisionsOn) {
  const Answer answer = ask(FailureMode::kDeny);
  EXPECT_TRUE(answer.decision.allowed);
  EXPECT_EQ(answer.decision.source, Source::kExact);
  EXPECT_EQ(answer.fault, StoreFault::kNone);
  EXPECT_EQ(safe_.due_us(), SafeStore::kNone_us);
}

TEST_F(SafeStoreTest, MeasuresFromAskingTheStoreToItsAnswer) {
  remote_.late = true;
  std::array<Charge, 1> charges{Charge{.limit = &limit_, .key = "k"}};
  const Question question{.charges = charges};
  Answer answer;
  // Any answer is one, as is giving it up; of what was not asked there is none.
  for (const StoreFault fault : {StoreFault::kNone, StoreFault::kTimeout, StoreFault::kUnreachable}) {
    safe_.ask(question, clock_.now(), {keep_answer, &answer, 0});
    clock_.advance_us(30);
    remote_.answer_next(fault);
  }
  EXPECT_EQ(safe_.durations().sum_us, 60U);
  EXPECT_EQ(safe_.durations().counts[Durations::bucket_of(30)], 2U);
}

TEST_F(SafeStoreTest, AnswersByTheFailureModeAndSaysWhy) {
  struct Case {
    FailureMode mode;
    bool allowed;
    Source source;
    std::int64_t remaining;
  };
  const Case cases[] = {{FailureMode::kLocal, true, Source::kLocal, 99},
                        {FailureMode::kAllow, true, Source::kFailedOpen, 100},
                        {FailureMode::kDeny, false, Source::kFailedClosed, 0}};
  for (const StoreFault fault : {StoreFault::kUnreachable, StoreFault::kRefused, StoreFault::kTimeout,
                                 StoreFault::kLost, StoreFault::kBadState}) {
    for (const Case& c : cases) {
      remote_.fault = fault;
      const Answer answer = ask(c.mode);
      remote_.fault = StoreFault::kNone;
      for (int i = 0; i < 3; ++i) ask(c.mode, 1, Verb::kPeek);  // well again: the breaker stays closed
      EXPECT_EQ(answer.decision.allowed, c.allowed);
      EXPECT_EQ(answer.decision.source, c.source);
      EXPECT_EQ(answer.decision.limit, 100);
      EXPECT_EQ(answer.decision.granted, c.allowed ? 1 : 0);
      EXPECT_EQ(answer.decision.retry_after.count() > 0, !c.allowed);
      EXPECT_EQ(answer.violated, c.allowed ? 0 : 1);
      EXPECT_EQ(answer.fault, fault);
      EXPECT_EQ(answer.faulty, fault == StoreFault::kBadState ? 1 : 0);
      EXPECT_EQ(answer.decision.remaining, c.remaining);
      clock_.advance_us(kDay_us);  // and what was admitted alone has come back
    }
    EXPECT_EQ(safe_.stats().faults[static_cast<std::size_t>(fault)], std::size(cases));
  }
}

TEST_F(SafeStoreTest, TheStrictestModeOfAQuestionCounts) {
  const BoundLimit one = gcra(1, kDay_us, "one"), two = gcra(2, kDay_us, "two");
  remote_.fault = StoreFault::kUnreachable;
  std::array<Charge, 2> charges{Charge{.limit = &one, .key = "a", .on_failure = FailureMode::kAllow},
                                Charge{.limit = &two, .key = "b", .on_failure = FailureMode::kDeny}};
  Answer answer = ask(charges);
  EXPECT_EQ(answer.decision.source, Source::kFailedClosed);
  EXPECT_EQ(answer.binding, 1);
  EXPECT_EQ(answer.violated, 2);

  charges[1].on_failure = FailureMode::kLocal;
  for (const bool allowed : {true, true, false}) {  // `one` is let through, `two` is counted
    answer = ask(charges);
    EXPECT_EQ(answer.decision.allowed, allowed);
    EXPECT_EQ(answer.decision.source, Source::kLocal);
    EXPECT_EQ(answer.binding, 1);
  }
  EXPECT_EQ(answer.violated, 2);
}

TEST_F(SafeStoreTest, OpenNobodyAsksAndADenialSaysWhenToComeBack) {
  open();
  const int asked = remote_.asked;
  EXPECT_EQ(ask(FailureMode::kDeny).decision.retry_after.count(), Breaker::kFirstProbe_us);
  clock_.advance_us(10'000);
  EXPECT_EQ(ask(FailureMode::kDeny).decision.retry_after.count(), Breaker::kFirstProbe_us - 10'000);
  EXPECT_EQ(remote_.asked, asked);
}

TEST_F(SafeStoreTest, ABadKeyDoesNotOpenTheBreaker) {
  remote_.fault = StoreFault::kBadState;
  for (int i = 0; i < 100; ++i) ask(FailureMode::kDeny);
  EXPECT_EQ(safe_.state(), SafeStore::State::kUp);
}

TEST_F(SafeStoreTest, WhatNeverFitsIsDeniedWithoutAStoreInEveryMode) {
  const BoundLimit none = gcra(0, kDay_us, "none");
  const BoundLimit no_slot = bound({.algorithm = Algorithm::kConcurrency, .count = 0}, "no slot");
  struct Case {
    const char* what;
    const BoundLimit& limit;
    Verb verb;
    std::int64_t cost;
    bool never;
  };
  const Case cases[] = {
      {"above", limit_, Verb::kAllow, 101, true},           {"all of it", limit_, Verb::kAllow, 100, false},
      {"above, to see", limit_, Verb::kPeek, 101, true},    {"above, booked", limit_, Verb::kReserve, 101, true},
      {"up to more", limit_, Verb::kAtMost, 101, false},    {"given back", limit_, Verb::kRefund, 101, false},
      {"nothing at all", none, Verb::kAllow, 1, true},      {"up to some of nothing", none, Verb::kAtMost, 5, true},
      {"nothing of nothing", none, Verb::kAllow, 0, false}, {"no slot", no_slot, Verb::kAcquire, 1, true}};
  open();
  for (const FailureMode mode : {FailureMode::kLocal, FailureMode::kAllow, FailureMode::kDeny}) {
    for (const Case& c : cases) {
      SCOPED_TRACE(c.what);
      std::array<Charge, 2> charges{Charge{.limit = &limit_, .key = "a", .on_failure = FailureMode::kAllow},
                                    Charge{.limit = &c.limit, .key = "b", .on_failure = mode}};
      const Answer answer = ask(std::span(charges).subspan(1), c.cost, c.verb);
      EXPECT_EQ(answer.decision.retry_after == kNever && answer.decision.source == Source::kLocal, c.never);
      if (!c.never) continue;
      EXPECT_FALSE(answer.decision.allowed);
      EXPECT_EQ(answer.decision.limit, c.limit.limit.capacity);
      EXPECT_EQ(answer.decision.granted, 0);
      EXPECT_EQ(answer.violated, 1);
      if (&c.limit == &limit_) continue;
      const Answer of_two = ask(charges, c.cost, c.verb);
      EXPECT_EQ(of_two.decision.retry_after, kNever);
      EXPECT_EQ(of_two.binding, 1);
      EXPECT_EQ(of_two.violated, 2);
    }
  }
  EXPECT_EQ(safe_.stats().faults[static_cast<std::size_t>(StoreFault::kBadState)], 0U);
}

TEST_F(SafeStoreTest, ACostAboveTheShareMayFitLater) {
  local_.set_processes(10);
  open();
  const Answer answer = ask(FailureMode::kLocal, 50);
  EXPECT_FALSE(answer.decision.allowed);
  EXPECT_EQ(answer.decision.retry_after.count(), Breaker::kFirstProbe_us);
  EXPECT_EQ(ask(FailureMode::kLocal, 101).decision.retry_after, kNever);
}

TEST_F(SafeStoreTest, ProbesUntilTheStoreIsBack) {
  open();
  tick_when_due();
  EXPECT_EQ(safe_.state(), SafeStore::State::kDown);
  remote_.fault = StoreFault::kNone;
  tick_when_due();
  EXPECT_EQ(safe_.state(), SafeStore::State::kUp);
  EXPECT_EQ(ask(FailureMode::kDeny).decision.source, Source::kExact);
  EXPECT_EQ(safe_.stats().opened, 1U);
}

// A store slower than questions can wait is not back, though it answers.
TEST_F(SafeStoreTest, AProbeIsToBeAnsweredAsSoonAsQuestions) {
  struct Case {
    Micros deadline_us;
    Micros latency_us;
    bool back;
  };
  for (const Case& c : {Case{50'000, 80'000, false}, Case{50'000, 50'000, true}, Case{200'000, 80'000, true},
                        Case{10'000, 20'000, false}}) {
    SCOPED_TRACE(std::to_string(c.deadline_us) + " " + std::to_string(c.latency_us));
    clock_.advance_us(3 * Breaker::kWindow_us);
    SafeStore safe(remote_, local_, clock_, prng_);
    remote_.late = true;
    std::array<Charge, 1> charges{Charge{.limit = &limit_, .key = "k", .on_failure = FailureMode::kDeny}};
    const Question question{.charges = charges, .deadline_us = c.deadline_us};
    std::array<Answer, Breaker::kFailuresInARow> answers;
    for (Answer& answer : answers) safe.ask(question, clock_.now(), {keep_answer, &answer, 0});
    clock_.advance_us(c.deadline_us);
    while (!remote_.waiting.empty()) remote_.answer_next(StoreFault::kTimeout);
    ASSERT_EQ(safe.state(), SafeStore::State::kDown);
    clock_.advance_us(safe.due_us() - clock_.now().monotonic_us);
    safe.tick(clock_.now());
    ASSERT_EQ(remote_.waiting.size(), 1U);
    EXPECT_EQ(remote_.waiting.front().question->deadline_us, c.deadline_us);
    clock_.advance_us(c.latency_us);
    remote_.answer_next(StoreFault::kNone);
    EXPECT_EQ(safe.state() != SafeStore::State::kDown, c.back);
  }
}

TEST_F(SafeStoreTest, AQuestionWhoseTimeWasOverMakesNoProbeImpossible) {
  remote_.fault = StoreFault::kUnreachable;
  std::array<Charge, 1> charges{Charge{.limit = &limit_, .key = "k", .on_failure = FailureMode::kAllow}};
  for (int i = 0; i < Breaker::kFailuresInARow; ++i) {
    ratel::ask(safe_, {.charges = charges, .deadline_us = 0}, clock_.now());
  }
  remote_.late = true;
  tick_when_due();
  clock_.advance_us(500);
  remote_.answer_next(StoreFault::kNone);
  EXPECT_EQ(safe_.state(), SafeStore::State::kUp);
}

TEST_F(SafeStoreTest, ProbesLikeTheMostPatientOfLate) {
  open();
  std::array<Charge, 1> charges{Charge{.limit = &limit_, .key = "k", .on_failure = FailureMode::kDeny}};
  const auto probe_deadline_us = [&](Micros asked_deadline_us) {
    Answer answer;
    safe_.ask({.charges = charges, .deadline_us = asked_deadline_us}, clock_.now(), {keep_answer, &answer, 0});
    remote_.late = true;
    tick_when_due();
    const Micros deadline_us = remote_.waiting.front().question->deadline_us;
    remote_.answer_next(StoreFault::kTimeout);
    return deadline_us;
  };
  EXPECT_EQ(probe_deadline_us(300'000), 300'000);
  EXPECT_EQ(probe_deadline_us(20'000), 300'000);
  clock_.advance_us(Breaker::kWindow_us);
  EXPECT_EQ(probe_deadline_us(20'000), 300'000);
  clock_.advance_us(Breaker::kWindow_us);
  EXPECT_EQ(probe_deadline_us(20'000), 20'000);
}

// 10 ms of patience with a store that takes 20, beside others with 50.
TEST_F(SafeStoreTest, WhoHasLessPatienceThanTheStoreTakesKeepsItFromNobodyElse) {
  remote_.late = true;
  std::array<Charge, 1> charges{Charge{.limit = &limit_, .key = "k", .on_failure = FailureMode::kDeny}};
  const Question brief{.charges = charges, .deadline_us = 10'000}, patient{.charges = charges, .deadline_us = 50'000};
  Answer answer;
  const auto all_time_out = [&] {
    for (int i = 0; i < 2 * Breaker::kFailuresInARow; ++i) {
      safe_.ask(brief, clock_.now(), {keep_answer, &answer, 0});
      clock_.advance_us(10'000);
      remote_.answer_next(StoreFault::kTimeout);
    }
  };
  const auto ask_patiently = [&] {
    safe_.ask(patient, clock_.now(), {keep_answer, &answer, 0});
    if (remote_.waiting.empty()) return answer.decision.source;
    clock_.advance_us(20'000);
    remote_.answer_next(StoreFault::kNone);
    return answer.decision.source;
  };
  // The store has not answered anybody yet, so for all that is known it is dead.
  for (int i = 0; i < Breaker::kFailuresInARow - 1; ++i) {
    safe_.ask(brief, clock_.now(), {keep_answer, &answer, 0});
    remote_.answer_next(StoreFault::kTimeout);
  }
  safe_.ask(patient, clock_.now(), {keep_answer, &answer, 0});
  remote_.answer_next(StoreFault::kTimeout);
  ASSERT_EQ(safe_.state(), SafeStore::State::kDown);
  // But it does answer the probe of one who can wait.
  clock_.advance_us(safe_.due_us() - clock_.now().monotonic_us);
  safe_.tick(clock_.now());
  clock_.advance_us(20'000);
  remote_.answer_next(StoreFault::kNone);
  ASSERT_EQ(safe_.state(), SafeStore::State::kUp);
  for (int i = 0; i < 10; ++i) {
    all_time_out();
    EXPECT_EQ(ask_patiently(), Source::kExact) << i;
  }
  EXPECT_EQ(safe_.stats().opened, 1U);
  // Now and then it is quick enough for those as well.
  for (int i = 0; i < 10; ++i) {
    safe_.ask(brief, clock_.now(), {keep_answer, &answer, 0});
    remote_.answer_next(i % 2 == 0 ? StoreFault::kNone : StoreFault::kTimeout);
  }
  all_time_out();
  EXPECT_EQ(ask_patiently(), Source::kExact);
  EXPECT_EQ(safe_.stats().opened, 1U);
  // Those who can wait open it as ever.
  for (int i = 0; i < Breaker::kFailuresInARow; ++i) {
    safe_.ask(patient, clock_.now(), {keep_answer, &answer, 0});
    remote_.answer_next(StoreFault::kTimeout);
  }
  EXPECT_EQ(safe_.state(), SafeStore::State::kDown);
}

// A job that could wait has ended, and the store is as slow as ever.
TEST_F(SafeStoreTest, WhoIsLeftWithTooLittlePatienceIsNotMadeToWaitForEver) {
  remote_.late = true;
  std::array<Charge, 1> charges{Charge{.limit = &limit_, .key = "k", .on_failure = FailureMode::kDeny}};
  Answer answer;
  const auto ask_for = [&](Micros deadline_us, Micros takes_us) {
    const bool in_time = takes_us < deadline_us;
    const Question question{.charges = charges, .deadline_us = deadline_us};
    safe_.ask(question, clock_.now(), {keep_answer, &answer, 0});
    if (remote_.waiting.empty()) return;
    clock_.advance_us(std::min(deadline_us, takes_us));
    remote_.answer_next(in_time ? StoreFault::kNone : StoreFault::kTimeout);
  };
  for (int i = 0; i < 20; ++i) ask_for(kSecond_us, 100'000);
  for (Micros waited_us = 0; waited_us < 2 * StorePart::kPace_us; waited_us += 50'000) ask_for(50'000, 100'000);
  EXPECT_EQ(safe_.state(), SafeStore::State::kDown);
}

// Answers are read before it is seen whose time is over.
TEST_F(SafeStoreTest, AnAnswerJustAfterItsTimeMakesNobodyLessPatient) {
  remote_.late = true;
  std::array<Charge, 1> charges{Charge{.limit = &limit_, .key = "k", .on_failure = FailureMode::kDeny}};
  const Question question{.charges = charges};
  Answer answer;
  safe_.ask(question, clock_.now(), {keep_answer, &answer, 0});
  clock_.advance_us(question.deadline_us + 500);
  remote_.answer_next(StoreFault::kNone);
  for (int i = 0; i < Breaker::kFailuresInARow; ++i) {
    safe_.ask(question, clock_.now(), {keep_answer, &answer, 0});
    remote_.answer_next(StoreFault::kTimeout);
  }
  EXPECT_EQ(safe_.state(), SafeStore::State::kDown);
  // Nor is a probe that came too late as good as one in time: the next has more.
  for (int i = 0; i < 5; ++i) {
    Answer other;
    safe_.ask({.charges = charges, .deadline_us = 5 * kSecond_us}, clock_.now(), {keep_answer, &other, 0});
    tick_when_due();
    clock_.advance_us(StorePart::kProbePatience_us + 500);
    remote_.answer_next(StoreFault::kNone);
    if (safe_.state() == SafeStore::State::kUp) return;
  }
  FAIL() << "a store that answers in time for those who ask is never found";
}

// As on a connection of which nobody has noticed yet that it is dead.
TEST_F(SafeStoreTest, AProbeThatIsLostIsNotWaitedForAsLongAsTheMostPatientWould) {
  remote_.fault = StoreFault::kUnreachable;
  std::array<Charge, 1> charges{Charge{.limit = &limit_, .key = "k", .on_failure = FailureMode::kDeny}};
  for (int i = 0; i < Breaker::kFailuresInARow; ++i) {
    ratel::ask(safe_, {.charges = charges, .deadline_us = kMinute_us}, clock_.now());
  }
  remote_.late = true;
  const auto probe_deadline_us = [&](StoreFault fault) {
    Answer answer;
    safe_.ask({.charges = charges, .deadline_us = kMinute_us}, clock_.now(), {keep_answer, &answer, 0});
    tick_when_due();
    const Micros deadline_us = remote_.waiting.front().question->deadline_us;
    remote_.answer_next(fault);
    return deadline_us;
  };
  Micros expected_us = StorePart::kProbePatience_us;
  for (int i = 0; i < 10; ++i, expected_us = std::min(2 * expected_us, kMinute_us)) {
    EXPECT_EQ(probe_deadline_us(StoreFault::kTimeout), expected_us) << "a store that is as slow is found at last";
  }
  EXPECT_EQ(probe_deadline_us(StoreFault::kUnreachable), kMinute_us);
  EXPECT_EQ(probe_deadline_us(StoreFault::kNone), StorePart::kProbePatience_us);
}

TEST_F(SafeStoreTest, WhoHasNextToNoPatienceKeepsTheStoreFromNobodyElse) {
  std::array<Charge, 1> charges{Charge{.limit = &limit_, .key = "k", .on_failure = FailureMode::kDeny}};
  const auto impatient = [&](StoreFault fault) {
    Answer answer;
    remote_.fault = fault;
    safe_.ask({.charges = charges, .deadline_us = 2'000}, clock_.now(), {keep_answer, &answer, 0});
    EXPECT_EQ(answer.decision.source, Source::kFailedClosed);
  };
  for (int i = 0; i < 100; ++i) impatient(StoreFault::kTimeout);
  EXPECT_EQ(safe_.state(), SafeStore::State::kUp);
  remote_.fault = StoreFault::kNone;
  EXPECT_EQ(ask(FailureMode::kDeny).decision.source, Source::kExact);

  open();
  impatient(StoreFault::kUnreachable);
  remote_.late = true;
  tick_when_due();
  ASSERT_EQ(remote_.waiting.size(), 1U);
  clock_.advance_us(3'000);
  remote_.answer_next(StoreFault::kNone);
  EXPECT_NE(safe_.state(), SafeStore::State::kDown);
}

TEST_F(SafeStoreTest, OneProbeAtATime) {
  open();
  remote_.late = true;
  tick_when_due();
  EXPECT_EQ(remote_.waiting.size(), 1U);
  EXPECT_EQ(safe_.due_us(), SafeStore::kNone_us);
  clock_.advance_us(kSecond_us);
  safe_.tick(clock_.now());
  EXPECT_EQ(remote_.waiting.size(), 1U);
  remote_.answer_next(StoreFault::kTimeout);
  EXPECT_NE(safe_.due_us(), SafeStore::kNone_us);
}

TEST_F(SafeStoreTest, MoreThanTheStoreIsAskedAtOnceOpensNoBreaker) {
  remote_.fault = StoreFault::kCrowded;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ask(FailureMode::kDeny).decision.source, Source::kFailedClosed);
  EXPECT_EQ(safe_.state(), SafeStore::State::kUp);
  EXPECT_EQ(safe_.stats().faults[static_cast<std::size_t>(StoreFault::kCrowded)], 100U);
  remote_.fault = StoreFault::kNone;
  EXPECT_EQ(ask(FailureMode::kDeny).decision.source, Source::kExact);
}

TEST_F(SafeStoreTest, ARefundThatTheStoreMayHaveDoneIsNotDoneAgain) {
  for (const StoreFault fault :
       {StoreFault::kTimeout, StoreFault::kLost, StoreFault::kUnreachable, StoreFault::kRefused}) {
    const bool perhaps = fault == StoreFault::kTimeout || fault == StoreFault::kLost;
    LocalShare local({.start = at(kStart_us)}, debts_);
    SafeStore safe(remote_, local, clock_, prng_);
    std::array<Charge, 1> charges{Charge{.limit = &limit_, .key = "k"}};
    const auto ask_for = [&](Verb verb, std::int64_t cost) {
      return ratel::ask(safe, {.verb = verb, .charges = charges, .cost = cost}, clock_.now());
    };
    remote_.fault = fault;
    ask_for(Verb::kAllow, 10);
    const Answer answer = ask_for(Verb::kRefund, 4);
    EXPECT_TRUE(answer.decision.allowed);
    EXPECT_EQ(answer.decision.source, Source::kLocal);
    EXPECT_EQ(answer.decision.granted, 0);
    EXPECT_EQ(answer.decision.remaining, perhaps ? 90 : 94) << name_of(fault);
    EXPECT_EQ(local.owed(clock_.now()), perhaps ? 10U : 6U) << name_of(fault);
  }
}

TEST_F(SafeStoreTest, RemembersWhoseKeyHoldsSomethingElse) {
  EXPECT_EQ(safe_.last_faulty().key, "");
  remote_.fault = StoreFault::kBadState;
  ask(FailureMode::kLocal);
  EXPECT_EQ(safe_.last_faulty().key, "k");
  EXPECT_EQ(safe_.last_faulty().label, limit_.label);
  EXPECT_EQ(safe_.last_faulty().identity, limit_.identity);
}

TEST_F(SafeStoreTest, ProbesAtOnceWhenTheStoreHasAConnectionAgain) {
  ++remote_.recovered;
  EXPECT_EQ(safe_.due_us(), 0);
  safe_.tick(clock_.now());
  EXPECT_EQ(safe_.due_us(), SafeStore::kNone_us) << "nothing was wrong";
  open();
  for (int i = 0; i < 10; ++i) tick_when_due();
  const int asked = remote_.asked;
  safe_.tick(clock_.now());
  EXPECT_EQ(remote_.asked, asked) << "the next probe is due later";
  remote_.fault = StoreFault::kNone;
  ++remote_.recovered;
  EXPECT_LE(safe_.due_us(), clock_.now().monotonic_us);
  safe_.tick(clock_.now());
  EXPECT_EQ(safe_.state(), SafeStore::State::kUp);
}

TEST_F(SafeStoreTest, EachPartFailsByItself) {
  remote_.down_part = Store::kPartsMax - 1;
  ask_key("P", FailureMode::kLocal);
  for (int i = 1; i < Breaker::kFailuresInARow; ++i) {
    EXPECT_EQ(ask_key("A", FailureMode::kDeny).decision.source, Source::kExact);
    EXPECT_EQ(ask_key("P2", FailureMode::kDeny).decision.source, Source::kFailedClosed);
  }
  EXPECT_EQ(safe_.state(), SafeStore::State::kDown);
  const int asked = remote_.asked;
  EXPECT_EQ(ask_key("P", FailureMode::kLocal).decision.source, Source::kLocal);
  EXPECT_EQ(remote_.asked, asked) << "asked a part that is down";
  EXPECT_EQ(ask_key("A", FailureMode::kDeny).decision.source, Source::kExact);

  tick_when_due();
  EXPECT_EQ(safe_.state(), SafeStore::State::kDown) << "another part has answered its probe";
  // What this part is owed waits for it, though another takes charges meanwhile.
  remote_.fault = StoreFault::kUnreachable;
  ask_key("B", FailureMode::kLocal);
  remote_.fault = StoreFault::kNone;
  for (int i = 0; i < 10; ++i) tick_when_due();
  EXPECT_EQ(remote_.spent["B"], 1);
  EXPECT_EQ(local_.stats().owing, 1U);

  remote_.down_part = Store::kPartsMax;
  tick_when_due();
  EXPECT_EQ(safe_.state(), SafeStore::State::kUp);
  EXPECT_EQ(remote_.probed["P"], 1) << "the probe asks about a key that had no answer";
  EXPECT_EQ(remote_.spent["P"], 2);
  EXPECT_EQ(safe_.stats().opened, 1U);
}

}  // namespace
}  // namespace ratel
