#include "net/name_resolver.h"

#include <gtest/gtest.h>

#include <optional>

#include "net/slow_names_testing.h"
#include "net/system_clock.h"

namespace ratel {
namespace {

Address name(const std::string& host) {
  return {.host = host, .port = 1, .path = {}};
}

struct Rig {
  /// Asks, and notes "<host>: found" or the error.
  NameResolver::Asked ask(const std::string& host) {
    return resolver->resolve(name(host), loop, [this, host](const Found& found) {
      told.push_back(host + ": " + (found.addresses.empty() ? found.error : "found"));
    });
  }
  void turn_until_told(std::size_t count) {
    while (told.size() < count) loop.turn();
  }

  SystemClock clock;
  EventLoop loop{clock, {.tick = [] {}, .turn_ended = [] {}}};
  SlowNames names;
  std::optional<NameResolver> resolver{names.look_up()};
  std::vector<std::string> told;
};

using Told = std::vector<std::string>;

TEST(NameResolver, TellsNumbersAndPathsAtOnce) {
  struct Case {
    Address address;
    int family;  // 0: it is a name
  };
  const Case cases[] = {
      {{.host = "127.0.0.1", .port = 1, .path = {}}, AF_INET},
      {{.host = "::1", .port = 1, .path = {}}, AF_INET6},
      {{.host = {}, .port = 0, .path = "/run/x"}, AF_UNIX},
      {{.host = "localhost", .port = 1, .path = {}}, 0},
  };
  for (const Case& c : cases) {
    const std::vector<SocketAddress> found = addresses_of_number(c.address);
    ASSERT_EQ(found.size(), c.family == 0 ? 0U : 1U);
    if (c.family != 0) {
      EXPECT_EQ(found.front().generic.sa_family, c.family);
    }
  }
}

TEST(NameResolver, AsksTheSystem) {
  SystemClock clock;
  EventLoop loop(clock, {.tick = [] {}, .turn_ended = [] {}});
  NameResolver resolver;
  std::vector<SocketAddress> found;
  const auto asked = resolver.resolve({.host = "localhost", .port = 80, .path = {}}, loop,
                                      [&](Found all) { found = std::move(all.addresses); });
  EXPECT_TRUE(found.empty());
  while (found.empty()) loop.turn();
  EXPECT_TRUE(found.front().generic.sa_family == AF_INET || found.front().generic.sa_family == AF_INET6);
}

TEST(NameResolver, WhoAsksWhileANameIsLookedUpWaitsForTheSame) {
  Rig rig;
  rig.names.hold("a");
  const auto first = rig.ask("a");
  rig.names.wait_until_asked("a");
  const auto second = rig.ask("a");
  rig.names.hold("");
  rig.turn_until_told(2);
  EXPECT_EQ(rig.names.asked("a"), 1);
  const auto third = rig.ask("a");
  rig.turn_until_told(3);
  EXPECT_EQ(rig.names.asked("a"), 2) << "anew for each connection";
}

TEST(NameResolver, NamesThatHangHoldUpNoOtherWhileAThreadIsLeft) {
  Rig rig;
  rig.names.hold("*");
  std::vector<NameResolver::Asked> asked;
  for (std::size_t i = 0; i < NameResolver::kThreadsMax; ++i) {
    asked.push_back(rig.ask(std::to_string(i)));
    rig.names.wait_until_asked(std::to_string(i));
  }
  asked.push_back(rig.ask("waits"));
  asked.push_back(rig.ask("gives up"));
  asked.pop_back();
  EXPECT_EQ(rig.names.asked("waits"), 0) << "no more threads than the bound";
  rig.names.hold("0");
  rig.turn_until_told(NameResolver::kThreadsMax);
  EXPECT_EQ(std::count(rig.told.begin(), rig.told.end(), "waits: found"), 1);
  EXPECT_EQ(std::count(rig.told.begin(), rig.told.end(), "0: found"), 0);
  rig.names.hold("");
  rig.turn_until_told(NameResolver::kThreadsMax + 1);
  EXPECT_EQ(rig.names.asked("gives up"), 0) << "nobody waited for it";
}

TEST(NameResolver, WhatComesTooLateIsKnownToTheNext) {
  Rig rig;
  rig.names.hold("a");
  {
    const auto late = rig.ask("a");
    rig.names.wait_until_asked("a");
  }
  EXPECT_TRUE(rig.resolver->known(name("a")).empty());
  rig.names.hold("");
  while (rig.resolver->known(name("a")).empty()) rig.loop.turn(false);
  EXPECT_TRUE(rig.told.empty()) << "it had given up";
}

TEST(NameResolver, RemembersWhileNobodyAnswersAndForgetsWhenThatIsTheAnswer) {
  struct Case {
    bool may_pass;
    const char* told;
    bool known;
  };
  const Case cases[] = {{true, "a: found", true}, {false, "a: away", false}};
  for (const Case& c : cases) {
    Rig rig;
    rig.names.answer({.addresses = {}, .error = "away", .may_pass = true});
    const auto unknown = rig.ask("a");
    rig.turn_until_told(1);
    rig.names.answer({});
    const auto first = rig.ask("a");
    rig.turn_until_told(2);
    rig.names.answer({.addresses = {}, .error = "away", .may_pass = c.may_pass});
    const auto second = rig.ask("a");
    rig.turn_until_told(3);
    EXPECT_EQ(rig.told, (Told{"a: away", "a: found", c.told}));
    EXPECT_EQ(!rig.resolver->known(name("a")).empty(), c.known);
  }
}

TEST(NameResolver, EndsWhileTheSystemIsHeldUp) {
  Rig rig;
  rig.names.hold("*");
  const auto asked = rig.ask("a");
  rig.names.wait_until_asked("a");
  rig.resolver.reset();
  rig.names.hold("");  // whoever it was finds nobody there
  rig.loop.turn(false);
  EXPECT_TRUE(rig.told.empty());
}

TEST(NameResolver, AnAnswerThatIsUnderWayReachesNobodyWhoHasGone) {
  Rig rig;
  auto asked = rig.ask("a");
  while (rig.resolver->known(name("a")).empty()) {
  }
  asked = {};  // posted, and not run yet
  rig.loop.turn(false);
  EXPECT_TRUE(rig.told.empty());
}

TEST(NameResolver, RefusesMoreThanItsBounds) {
  constexpr const char* kRefusal = ": too many names wait to be resolved";
  Rig rig;
  rig.names.hold("*");
  std::vector<NameResolver::Asked> asked;
  for (std::size_t i = 0; i < NameResolver::kNamesMax; ++i) asked.push_back(rig.ask(std::to_string(i)));
  asked.push_back(rig.ask("one more"));
  rig.turn_until_told(1);
  EXPECT_EQ(rig.told.back(), std::string("one more") + kRefusal);
  while (asked.size() <= NameResolver::kAskersMax) asked.push_back(rig.ask("0"));
  EXPECT_EQ(rig.told.size(), 1U);
  asked.push_back(rig.ask("0"));
  rig.turn_until_told(2);
  EXPECT_EQ(rig.told.back(), std::string("0") + kRefusal);
  rig.names.hold("");
  rig.turn_until_told(2 + NameResolver::kAskersMax);
  EXPECT_FALSE(rig.resolver->known(name("1")).empty());
  asked.push_back(rig.ask("one more"));  // now for one that nobody wants
  rig.turn_until_told(3 + NameResolver::kAskersMax);
  EXPECT_EQ(rig.told.back(), "one more: found");
}

}  // namespace
}  // namespace ratel
