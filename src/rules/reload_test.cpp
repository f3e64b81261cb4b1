#include "rules/reload.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "limit/decide.h"

namespace ratel {
namespace {

std::uint32_t series_of(std::string_view name) {
  return static_cast<std::uint32_t>(name.size());
}

std::vector<RuleFile> texts(std::string_view text) {
  return {{.name = "r.yaml", .text = std::string(text)}};
}

TEST(Reload, PutsABookInForceOnceAndKeepsItOverABadOne) {
  Reloader reloader(series_of);
  EXPECT_TRUE(reloader.book()->rules().empty());

  auto offered = reloader.offer(texts("rules: { login: { limit: 5/min } }"));
  ASSERT_TRUE(offered.ok());
  const RuleBookPtr first = *offered;
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(reloader.book(), first);
  EXPECT_EQ(first->find("login")->series, 5U);

  offered = reloader.offer(texts("rules: { login: { limit: 5/min } }"));
  ASSERT_TRUE(offered.ok());
  EXPECT_EQ(*offered, nullptr) << "nothing has changed";
  EXPECT_EQ(reloader.book(), first);

  offered = reloader.offer(texts("rules: { login: { limit: 5/mn } }"));
  ASSERT_FALSE(offered.ok());
  EXPECT_EQ(reloader.book(), first) << "a bad file changes nothing";
  offered = reloader.offer(texts("rules: { login: { limit: 5/mn } }"));
  EXPECT_FALSE(offered.ok()) << "it is as bad as before";
  offered = reloader.offer(texts("rules: { login: { limit: 5/min } }"));
  ASSERT_TRUE(offered.ok());
  EXPECT_EQ(*offered, nullptr) << "back to what is in force";
  EXPECT_EQ(reloader.book(), first);

  offered = reloader.offer(texts("rules: { login: { limit: 6/min } }"));
  ASSERT_TRUE(offered.ok());
  EXPECT_EQ(reloader.book(), *offered);
  EXPECT_EQ(reloader.book()->find("login")->limits.at(0).limit.count, 6);
  EXPECT_EQ(first->find("login")->limits.at(0).limit.count, 5) << "who holds the old book keeps it";
}

TEST(Reload, NoFilesAreAnEmptyBook) {
  Reloader reloader(series_of);
  EXPECT_NE(*reloader.offer({}), nullptr);
  EXPECT_EQ(*reloader.offer({}), nullptr);
  ASSERT_TRUE(reloader.offer(texts("rules: { login: { limit: 5/min } }")).ok());
  EXPECT_TRUE((*reloader.offer({}))->rules().empty());
}

TEST(Reload, TheSameCounterExactlyWhenOnlyNumbersChange) {
  struct Case {
    std::string_view before;
    std::string_view after;
    bool same;
  };
  const Case cases[] = {
      {"limit: 5/min", "limit: 5/min # as ever\n", true},
      {"limit: 5/min", "limit: 5 per 60s", true},
      {"limit: 5/min", "limit: 50/min burst 7", true},
      {"limit: 5/min", "limit: 5/h", true},
      {"limit: 5/min", "limit: [5/min, 9/h]", true},
      {"limit: 5/min", "limit: 5/min\n    shadow: true\n    key: ip", true},
      {"limit: 5/min", "limit: 5/min\n    algorithm: leaky_bucket", true},
      {"limit: 5/min", "limit: 5/min\n    algorithm: fixed_window", false},
      {"limit: 5/min", "limit: { limit: 5/min, name: one }", false},
      {"limit: 5/min\n    algorithm: fixed_window", "limit: 9/min\n    algorithm: fixed_window", true},
      {"limit: 5/min\n    algorithm: fixed_window", "limit: 5/h\n    algorithm: fixed_window", false},
      {"limit: 5/min\n    algorithm: sliding_window", "limit: 5/h\n    algorithm: sliding_window", false},
      {"limit: 5/min\n    algorithm: sliding_log", "limit: 5/h\n    algorithm: sliding_log", false},
      {"limit: 5/day\n    algorithm: fixed_window", "limit: { limit: 5/day, calendar: true }", false},
      {"limit: { limit: 5/day, calendar: true }", "limit: { limit: 5/day, calendar: true, zone: Europe/Berlin }",
       false},
      {"limit: 5 concurrent", "limit: 9 concurrent\n    lease: 5s", true},
  };
  for (const Case& c : cases) {
    Reloader reloader(series_of);
    const auto before = reloader.offer(texts("rules:\n  r:\n    " + std::string(c.before)));
    const auto after = reloader.offer(texts("rules:\n  r:\n    " + std::string(c.after)));
    ASSERT_TRUE(before.ok() && after.ok()) << (before.ok() ? after.error().message : before.error().message);
    const std::string& old_identity = (*before)->find("r")->limits.at(0).identity;
    const std::string& new_identity = (*after)->find("r")->limits.at(0).identity;
    EXPECT_EQ(old_identity == new_identity, c.same) << c.before << " -> " << c.after;
  }
}

/// Counters by identity, as a store has them.
class Counters {
 public:
  Answer ask(const BoundLimit& bound, Verb verb, std::int64_t cost, Micros now_us) {
    auto& [cell, record] = counters_[bound.identity];
    Charge charge{.limit = &bound, .key = "key"};
    const std::string lease = std::to_string(++leases_);
    Question question{.verb = verb, .charges = {&charge, 1}, .cost = cost, .lease_id = lease, .lease_us = kMinute_us};
    if (bound.limit.algorithm == Algorithm::kConcurrency && verb == Verb::kAllow) question.verb = Verb::kAcquire;
    const Slot slot{.cell = &cell, .record = &record};
    return decide(question, {&slot, 1}, {.now_us = now_us, .calendar_us = now_us});
  }
  std::size_t size() const { return counters_.size(); }

 private:
  std::map<std::string, std::pair<Cell, std::unique_ptr<Record>>> counters_;
  int leases_ = 0;
};

/// A limit of any algorithm, in its two numbers.
struct Written {
  std::string_view algorithm;
  std::int64_t count = 1;
  std::int64_t burst = 0;  // 0: not written

  BoundLimit in_force(std::string_view comment = "") const {
    std::string fields;
    if (algorithm == "concurrency") {
      fields = "limit: " + std::to_string(count) + " concurrent";
    } else {
      fields = "limit: " + std::to_string(count) + "/s" + (burst == 0 ? "" : " burst " + std::to_string(burst)) +
               "\n    algorithm: " + std::string(algorithm);
    }
    const auto rules = load_rules(texts("rules:\n  r:\n    " + fields + " #" + std::string(comment) + "\n"));
    RC_ASSERT(rules.ok());
    return rules->at(0).limits.at(0);
  }
};

Written any_limit() {
  const auto algorithm =
      *rc::gen::element<std::string_view>("gcra", "fixed_window", "sliding_window", "sliding_log", "concurrency");
  Written written{.algorithm = algorithm, .count = *rc::gen::inRange<std::int64_t>(1, 12)};
  if (algorithm == "gcra") written.burst = *rc::gen::inRange<std::int64_t>(0, 12);
  return written;
}

struct Step {
  Micros after_us = 0;
  std::int64_t cost = 1;
};

std::vector<Step> any_trace() {
  return *rc::gen::container<std::vector<Step>>(
      rc::gen::build<Step>(rc::gen::set(&Step::after_us, rc::gen::inRange<Micros>(0, 400'000)),
                           rc::gen::set(&Step::cost, rc::gen::inRange<std::int64_t>(0, 4))));
}

constexpr Micros kStart_us = 1'760'000'000'000'000;

bool same(const Answer& a, const Answer& b) {
  return a.decision.allowed == b.decision.allowed && a.decision.remaining == b.decision.remaining &&
         a.decision.limit == b.decision.limit && a.decision.retry_after == b.decision.retry_after &&
         a.decision.reset_after == b.decision.reset_after;
}

RC_GTEST_PROP(Reload, WithTheSameRulesChangesNothing, ()) {
  const Written written = any_limit();
  const BoundLimit kept = written.in_force();
  Counters undisturbed;
  Counters reloaded;
  Micros now_us = kStart_us;
  int reloads = 0;
  for (const Step& step : any_trace()) {
    now_us += step.after_us;
    const BoundLimit again = written.in_force(std::to_string(++reloads));
    RC_ASSERT(same(undisturbed.ask(kept, Verb::kAllow, step.cost, now_us),
                   reloaded.ask(again, Verb::kAllow, step.cost, now_us)));
  }
  RC_ASSERT(reloaded.size() <= 1U);
}

RC_GTEST_PROP(Reload, RaisingALimitNeverTurnsAnAdmitIntoADeny, ()) {
  const Written before = any_limit();
  Written after = before;
  // What the bucket holds in time must not shrink: a higher rate with the burst left as it was written refills it
  // sooner, and a debt is kept as time (docs/concepts.md, "Changing a limit").
  if (before.burst == 0) after.count += *rc::gen::inRange<std::int64_t>(0, 5);
  if (before.burst != 0) after.burst += *rc::gen::inRange<std::int64_t>(0, 5);
  const BoundLimit old_limit = before.in_force();
  const BoundLimit new_limit = after.in_force();
  Counters counters;
  Micros now_us = kStart_us;
  for (const Step& step : any_trace()) {
    now_us += step.after_us;
    const bool would_be_admitted = counters.ask(old_limit, Verb::kPeek, step.cost, now_us).decision.allowed;
    if (would_be_admitted) {
      RC_ASSERT(counters.ask(new_limit, Verb::kPeek, step.cost, now_us).decision.allowed);
    }
    counters.ask(old_limit, Verb::kAllow, step.cost, now_us);
  }
}

RC_GTEST_PROP(Reload, RemainingNeverExceedsTheNewCapacity, ()) {
  const Written before = any_limit();
  Written after = before;
  after.count = *rc::gen::inRange<std::int64_t>(0, 12);
  if (after.algorithm == "gcra" && after.count > 0) after.burst = *rc::gen::inRange<std::int64_t>(0, 12);
  if (after.count == 0) after.burst = 0;
  const BoundLimit old_limit = before.in_force();
  const BoundLimit new_limit = after.in_force();
  Counters counters;
  Micros now_us = kStart_us;
  bool swapped = false;
  for (const Step& step : any_trace()) {
    now_us += step.after_us;
    swapped = *rc::gen::arbitrary<bool>() ? !swapped : swapped;
    const Answer answer = counters.ask(swapped ? new_limit : old_limit, Verb::kAllow, step.cost, now_us);
    const std::int64_t capacity = swapped ? new_limit.limit.capacity : old_limit.limit.capacity;
    RC_ASSERT(answer.decision.limit == capacity);
    RC_ASSERT(answer.decision.remaining >= 0);
    RC_ASSERT(answer.decision.remaining <= capacity);
  }
}

}  // namespace
}  // namespace ratel
