#include "redis/script_call.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "base/allocations_testing.h"
#include "redis/script.h"
#include "store/store_testing.h"

namespace ratel {
namespace {

using Kind = ScriptOutcome::Kind;

const BoundLimit kGcra = gcra(7, kSecond_us, "g");
const BoundLimit kFixed = bound({.algorithm = Algorithm::kFixedWindow, .count = 5, .period_us = kMinute_us}, "f");
const BoundLimit kCalendar = bound(
    {.algorithm = Algorithm::kFixedWindow, .count = 5, .period_us = kDay_us, .calendar = CalendarUnit::kDay}, "k");
const BoundLimit kSliding = bound({.algorithm = Algorithm::kSlidingWindow, .count = 5, .period_us = kMinute_us}, "s");
const BoundLimit kLog = bound({.algorithm = Algorithm::kSlidingLog, .count = 5, .period_us = kMinute_us}, "l");
const BoundLimit kLeases = bound({.algorithm = Algorithm::kConcurrency, .count = 5}, "c");

/// The words of the command, from KEYS on, as `redis-cli` would be given them.
std::string words_of(const Question& question, const ScriptCallOptions& options) {
  std::string out;
  append_script_call(question, options, out);
  std::string words;
  for (std::size_t at = out.find('$'); at != std::string::npos && at < out.size();) {
    const std::size_t line = out.find("\r\n", at);
    const std::size_t size = std::stoul(out.substr(at + 1, line - at - 1));
    words += (words.empty() ? "" : " ") + out.substr(line + 2, size);
    at = line + 2 + size + 2;
  }
  const std::string begin = "EVALSHA " + std::string(decision_script().sha1) + " ";
  EXPECT_EQ(words.rfind(begin, 0), 0u) << words;
  return words.substr(begin.size());
}

TEST(ScriptCall, SaysWhatIsAsked) {
  struct Case {
    const BoundLimit* limit;
    Question question;
    std::string words;
  };
  const Case cases[] = {
      {&kGcra, {}, "1 ratel:1:{key}:g 77 a 1 g 7 142857 1 1000000 0 61000000"},
      {&kGcra, {.cost = 8}, "1 ratel:1:{key}:g 77 a 8 g 7 1000001 0 1000000 0 61000000"},
      {&kGcra, {.verb = Verb::kAtMost, .cost = 8}, "1 ratel:1:{key}:g 77 m 8 0 g 7 142857 1 1000000 0 61000000"},
      {&kGcra,
       {.verb = Verb::kAtMost, .cost = 8, .max_wait_us = 9},
       "1 ratel:1:{key}:g 77 m 8 9 g 7 142857 1 1000000 0 61000000"},
      {&kGcra,
       {.verb = Verb::kReserve, .max_wait_us = 9},
       "1 ratel:1:{key}:g 77 r 1 9 g 7 142857 1 1000000 0 61000000"},
      {&kGcra,
       {.verb = Verb::kRefund, .cost = kCostMax},
       "1 ratel:1:{key}:g 77 f 2147483647 g 7 61000001 0 1000000 0 61000000"},
      {&kGcra, {.verb = Verb::kReset}, "1 ratel:1:{key}:g 77 x 1"},
      {&kFixed, {.verb = Verb::kPeek, .cost = 3}, "1 ratel:1:{key}:f 77 p 3 f 5 60000000"},
      {&kCalendar,
       {},
       "1 ratel:1:{key}:k 77 a 1 k 5 1764460800000000 1764547200000000 1764633600000000 1764720000000000"},
      {&kSliding, {.verb = Verb::kRefund}, "1 ratel:1:{key}:s 77 f 1 s 5 60000000"},
      {&kLog, {}, "1 ratel:1:{key}:l 77 a 1 l 5 60000000"},
      {&kLeases, {.verb = Verb::kAcquire, .lease_id = "id", .lease_us = 30}, "1 ratel:1:{key}:c 77 a 1 c 5 30 id"},
      {&kLeases, {.verb = Verb::kRelease, .lease_id = "id"}, "1 ratel:1:{key}:c 77 l 1 c 5 0 id"},
      {&kLeases, {.verb = Verb::kRenew, .lease_id = "id", .lease_us = 30}, "1 ratel:1:{key}:c 77 n 1 c 5 30 id"},
  };
  for (const Case& c : cases) {
    Charge charge{.limit = c.limit, .key = "key"};
    Question question = c.question;
    question.charges = {&charge, 1};
    EXPECT_EQ(words_of(question, {.prefix = "ratel", .deadline_us = 77, .calendar_us = kStart_us}), c.words);
  }
}

TEST(ScriptCall, NamesEveryKeyOfSeveralLimitsAndThenEachLimit) {
  Charge charges[] = {{.limit = &kGcra, .key = "key"}, {.limit = &kFixed, .key = "a b"}};
  EXPECT_EQ(
      words_of({.charges = charges, .cost = 2}, {.prefix = "p"}),
      "2 p:1:{key}:g p:1:{#c8687a08aa5d6ed2044328fa6a697ab8}:f 0 a 2 g 7 285714 2 1000000 0 61000000 f 5 60000000");
}

TEST(ScriptCall, ReadsOnlyWhatTheScriptCanHaveSaid) {
  constexpr std::int64_t kNow = kStart_us;
  struct Case {
    const char* what;
    const BoundLimit* limit;
    std::vector<std::int64_t> reply;
    Kind kind;
  };
  const Case cases[] = {
      {"allowed", &kGcra, {0, kNow, 1, 0, -1, 0}, Kind::kAnswer},
      {"denied", &kGcra, {0, kNow, -1, 0, kNow + kSecond_us, 0}, Kind::kAnswer},
      {"expired", &kGcra, {1, kNow}, Kind::kExpired},
      {"another calendar", &kGcra, {2, kNow}, Kind::kAgain},
      {"a fault", &kGcra, {3, kNow, 1}, Kind::kFaults},
      {"nothing", &kGcra, {}, Kind::kMalformed},
      {"no time", &kGcra, {1}, Kind::kMalformed},
      {"a verdict that does not exist", &kGcra, {4, kNow}, Kind::kMalformed},
      {"a number too many", &kGcra, {0, kNow, 1, 0, -1, 0, 0}, Kind::kMalformed},
      {"a number too few", &kGcra, {0, kNow, 1, 0, -1}, Kind::kMalformed},
      {"the reply to an expired question, and more", &kGcra, {1, kNow, 0}, Kind::kMalformed},
      {"the reply to another algorithm", &kGcra, {0, kNow, 1, 0, -1, 0, 0}, Kind::kMalformed},
      {"a fault of a key that was not asked", &kGcra, {3, kNow, 2}, Kind::kMalformed},
      {"a note on a key that was not asked", &kGcra, {0, kNow, 1, 2, -1, 0}, Kind::kMalformed},
      {"allowed, where the state denies", &kGcra, {0, kNow, 1, 0, kNow + kSecond_us, 0}, Kind::kMalformed},
      {"denied, where the state allows", &kGcra, {0, kNow, -1, 0, -1, 0}, Kind::kMalformed},
      {"a cost that was not asked for", &kGcra, {0, kNow, 2, 0, -1, 0}, Kind::kMalformed},
      {"a time beyond 2^53", &kGcra, {0, std::int64_t{1} << 54, 1, 0, -1, 0}, Kind::kMalformed},
      {"a time before there was any", &kGcra, {0, -1, 1, 0, -1, 0}, Kind::kMalformed},
      {"a remainder that is none", &kGcra, {0, kNow, 1, 0, kNow, -1}, Kind::kMalformed},
      {"a window", &kFixed, {0, kNow, 1, 0, kNow + 9, 4}, Kind::kAnswer},
      {"a count beyond all counts", &kFixed, {0, kNow, -1, 0, kNow + 9, kCountMax + 1}, Kind::kMalformed},
      {"a calendar window", &kCalendar, {0, kNow, 1, 0, kStart_us, 4}, Kind::kAnswer},
      {"two windows", &kSliding, {0, kNow, 1, 0, kStart_us, 0, 4}, Kind::kAnswer},
      {"a log", &kLog, {0, kNow, 1, 0, 4, 0, 0, 5, kNow + 9}, Kind::kAnswer},
      {"a full log", &kLog, {0, kNow, -1, 0, 5, 3, 0, 5, kNow + 9}, Kind::kAnswer},
      {"a lease that is neither held nor not", &kLog, {0, kNow, 1, 0, 4, 0, 2, 5, kNow + 9}, Kind::kMalformed},
  };
  for (const Case& c : cases) {
    Charge charge{.limit = c.limit, .key = "key"};
    const ScriptOutcome outcome = read_script_reply({.charges = {&charge, 1}}, c.reply);
    EXPECT_EQ(outcome.kind, c.kind) << c.what;
    EXPECT_EQ(outcome.now_us, c.kind == Kind::kMalformed ? 0 : kNow) << c.what;
  }
}

// Whatever a server sends, what comes of it is an answer as there may be one, or malformed.
RC_GTEST_PROP(ScriptCall, NoReplyMakesAnAnswerThatCannotBe, ()) {
  const BoundLimit* const limits[] = {&kGcra, &kFixed, &kCalendar, &kSliding, &kLog, &kLeases};
  const BoundLimit& limit = **rc::gen::elementOf(std::vector<const BoundLimit*>(std::begin(limits), std::end(limits)));
  const bool leases = &limit == &kLeases;
  Charge charge{.limit = &limit, .key = "key"};
  const Question question{
      .verb = leases ? *rc::gen::element(Verb::kAcquire, Verb::kRenew, Verb::kRelease, Verb::kPeek)
                     : *rc::gen::element(Verb::kAllow, Verb::kAtMost, Verb::kPeek, Verb::kRefund, Verb::kReset),
      .charges = {&charge, 1},
      .cost = *rc::gen::element<std::int64_t>(0, 1, 5, 6, kCostMax),
      .lease_id = "id",
      .lease_us = 1};
  const auto number = rc::gen::element<std::int64_t>(-1, 0, 0, 0, 1, 1, 2, 5, 6, kCountMax, kStart_us, kStart_us + 1,
                                                     kStart_us - 1, kStart_us + kDay_us, std::int64_t{1} << 53,
                                                     std::numeric_limits<std::int64_t>::max());
  std::vector<std::int64_t> reply{0,
                                  *rc::gen::element<std::int64_t>(0, kStart_us, kStart_us + 1, std::int64_t{1} << 53),
                                  *rc::gen::element<std::int64_t>(-1, 0, question.cost), 0};
  const int more = limit.limit.algorithm == Algorithm::kSlidingWindow ? 3 : &limit == &kLog || leases ? 5 : 2;
  for (int i = 0; i < more; ++i) reply.push_back(*number);
  const ScriptOutcome outcome = read_script_reply(question, reply);
  RC_CLASSIFY(outcome.kind == Kind::kAnswer, "an answer");
  if (outcome.kind != Kind::kAnswer) return;
  const Decision& decision = outcome.answer.decision;
  RC_ASSERT(decision.remaining >= 0 && decision.remaining <= decision.limit);
  RC_ASSERT(decision.retry_after.count() >= kNever_us);
  RC_ASSERT((decision.retry_after.count() == 0) == decision.allowed);
  RC_ASSERT(decision.reset_after.count() >= 0);
}

TEST(ScriptCall, TellsFaultsClampsAndHealedKeysByCharge) {
  Charge charges[] = {{.limit = &kGcra, .key = "key"}, {.limit = &kFixed, .key = "key"}};
  const Question question{.charges = charges};
  EXPECT_EQ(read_script_reply(question, std::array<std::int64_t, 3>{3, kStart_us, 2}).faults, 2);
  const std::array<std::int64_t, 8> noted{0, kStart_us, -1, 1 << 17 | 1, kStart_us + kDay_us, 0, kStart_us + 9, 4};
  const ScriptOutcome outcome = read_script_reply(question, noted);
  ASSERT_EQ(outcome.kind, Kind::kAnswer);
  EXPECT_EQ(outcome.clamped, 1);
  EXPECT_EQ(outcome.healed, 2);
  EXPECT_EQ(outcome.answer.violated, 1);
  EXPECT_EQ(outcome.answer.decision.reset_after.count(), kSecond_us) << "as new a capacity from now";
}

TEST(ScriptCall, TheLongestReplyIsThatOfTheMostLimits) {
  std::array<Charge, kChargesMax> charges;
  std::vector<std::int64_t> reply{0, kStart_us, 1, 0};
  for (Charge& charge : charges) {
    charge = {.limit = &kLog, .key = "key"};
    for (const std::int64_t value : {Micros{0}, Micros{0}, Micros{0}, Micros{1}, kStart_us + 9}) reply.push_back(value);
  }
  EXPECT_EQ(reply.size(), kScriptReplyMax);
  EXPECT_EQ(read_script_reply({.charges = charges}, reply).kind, Kind::kAnswer);
}

TEST(ScriptCall, AllocatesNothingOnceItsBufferHasGrown) {
  Charge charges[] = {{.limit = &kGcra, .key = "key"},
                      {.limit = &kCalendar, .key = "a key that is hashed"},
                      {.limit = &kSliding, .key = "key"},
                      {.limit = &kLog, .key = "key"}};
  const Question question{.charges = charges};
  const ScriptCallOptions options{.prefix = "ratel", .deadline_us = kStart_us, .calendar_us = kStart_us};
  const std::array<std::int64_t, 16> reply{0, kStart_us, 1, 0, -1, 0, -1, 0, -1, 0, 0, 0, 0, 0, 1, kStart_us + 1};
  std::string out;
  append_script_call(question, options, out);
  out.clear();
  const std::uint64_t before = allocations_so_far();
  append_script_call(question, options, out);
  const ScriptOutcome outcome = read_script_reply(question, reply);
  EXPECT_EQ(allocations_so_far(), before);
  EXPECT_EQ(outcome.kind, Kind::kAnswer);
}

}  // namespace
}  // namespace ratel
