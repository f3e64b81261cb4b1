#include "redis/link.h"

#include <gmock/gmock.h>

#include "base/prng.h"
#include "redis/link_testing.h"
#include "wire/resp_command.h"

namespace ratel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Log = std::vector<std::string>;

constexpr std::string_view kHello3 = "%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$4\r\nrole\r\n$6\r\nmaster\r\n";
constexpr std::string_view kRoleMaster = "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";
constexpr std::string_view kTime = "*2\r\n$10\r\n1700000000\r\n$6\r\n000005\r\n";
const std::string kSettled = "+OK\r\n+OK\r\n-ERR unknown subcommand 'CAPA'\r\n" + std::string(kRoleMaster) +
                             "$3\r\nsha\r\n" + std::string(kTime) + "+PONG\r\n";

/// A link with all that stands around it.
struct Rig {
  explicit Rig(LinkOptions with = {.scripts = {"return 1"}}) : options(std::move(with)) {}

  void dial() { link.open({.host = "127.0.0.1", .port = 6379}, at_us(now_us)); }
  void receive(std::string_view bytes) { link.receive(bytes, at_us(now_us)); }
  void get_ready() {
    dial();
    link.connected(at_us(now_us));
    said(link);
    receive(kHello3);
    said(link);
    receive(kSettled);
    ASSERT_TRUE(link.is_ready()) << link.last_error();
    owner.log.clear();
  }
  /// Asks PING n, which the server may answer with anything.
  std::optional<RequestQueue::Place> ask(std::uint64_t token, Micros deadline_us = 50'000) {
    std::string bytes;
    append_command({"PING", std::to_string(token)}, bytes);
    return link.send({.bytes = bytes, .deadline_us = deadline_us}, receiver, token, at_us(now_us));
  }

  LinkOptions options;
  FakeShell shell;
  FakeOwner owner;
  FakeReceiver receiver;
  Link link{options, shell, owner};
  Micros now_us = 1'000'000;
};

TEST(Link, GreetsAndWaitsForEachAnswerThatMatters) {
  Rig rig({.user = "ann", .password = "secret", .database = 3, .scripts = {"return 1", "return 2"}});
  rig.dial();
  EXPECT_THAT(rig.shell.log, ElementsAre("dial 127.0.0.1:6379"));
  EXPECT_THAT(said(rig.link), IsEmpty());
  rig.link.connected(at_us(rig.now_us));
  EXPECT_THAT(said(rig.link), ElementsAre("HELLO 3 AUTH ann secret"));
  rig.receive(kHello3);
  EXPECT_THAT(said(rig.link),
              ElementsAre("CLIENT SETNAME ratel", "CLIENT SETINFO LIB-NAME ratel", "CLIENT CAPA redirect", "SELECT 3",
                          "ROLE", "SCRIPT LOAD return 1", "SCRIPT LOAD return 2", "TIME", "PING"));
  EXPECT_FALSE(rig.ask(1).has_value()) << "nothing goes before the greeting is over";
  rig.receive("+OK\r\n+OK\r\n+OK\r\n+OK\r\n" + std::string(kRoleMaster) + "$1\r\na\r\n$1\r\nb\r\n" +
              std::string(kTime) + "+PONG\r\n");
  EXPECT_THAT(rig.owner.log, ElementsAre("ready"));
  EXPECT_TRUE(rig.link.resp3());
  EXPECT_EQ(rig.link.clock().lowest_us(), 1'700'000'000'000'005 - rig.now_us);
}

TEST(Link, GreetingsComeToTheirEndHoweverTheServerAnswers) {
  const std::string settled_resp2 =
      "+OK\r\n+OK\r\n+OK\r\n" + std::string(kRoleMaster) + "$1\r\na\r\n" + std::string(kTime) + "+PONG\r\n";
  const std::string replica =
      "+OK\r\n+OK\r\n+OK\r\n*5\r\n$5\r\nslave\r\n$1\r\nh\r\n:1\r\n$9\r\nconnected\r\n:0\r\n$1\r\na"
      "\r\n" +
      std::string(kTime) + "+PONG\r\n";
  struct Case {
    const char* name;
    LinkOptions options;
    std::vector<std::string> replies;  // each after what the link said
    std::string_view outcome;          // the owner's last
    std::string_view said;             // at last
  };
  const LinkOptions plain{.scripts = {"s"}};
  const LinkOptions password{.password = "pw", .scripts = {"s"}};
  const Case cases[] = {
      {"RESP2", plain, {"-ERR unknown command 'HELLO'\r\n", settled_resp2}, "ready", ""},
      {"RESP2 and a password", password, {"-ERR unknown command\r\n", "+OK\r\n", settled_resp2}, "ready", ""},
      {"RESP2 and a wrong one",
       password,
       {"-ERR unknown command\r\n", "-ERR invalid password\r\n"},
       "closed: refused: ERR invalid password",
       "AUTH pw"},
      {"wrong password", password, {"-WRONGPASS invalid username-password pair\r\n"}, "closed: refused: WRONGPASS", ""},
      {"no password", plain, {"-NOAUTH HELLO must be\r\n"}, "closed: refused: NOAUTH HELLO", ""},
      {"too many clients", plain, {"-ERR max number of clients reached\r\n"}, "closed: refused: ERR max number", ""},
      {"a replica", plain, {std::string(kHello3), replica}, "closed: replica", ""},
      {"a replica of a cluster",
       {.to = LinkOptions::To::kAnyNode, .scripts = {"s"}},
       {std::string(kHello3), replica},
       "ready",
       ""},
      {"no right to SCRIPT",
       plain,
       {std::string(kHello3),
        "+OK\r\n+OK\r\n+OK\r\n" + std::string(kRoleMaster) + "-NOPERM script\r\n" + std::string(kTime) + "+PONG\r\n"},
       "closed: refused: NOPERM script",
       ""},
      {"no right to ROLE and TIME, HELLO said it",
       plain,
       {std::string(kHello3), "+OK\r\n+OK\r\n+OK\r\n-NOPERM role\r\n$1\r\na\r\n-NOPERM time\r\n+PONG\r\n"},
       "ready",
       ""},
      {"cannot persist, but lives",
       plain,
       {std::string(kHello3), "+OK\r\n+OK\r\n+OK\r\n" + std::string(kRoleMaster) + "$1\r\na\r\n" + std::string(kTime) +
                                  "-MISCONF Redis is configured to save\r\n"},
       "ready",
       ""},
      {"bad database",
       {.database = 99, .scripts = {"s"}},
       {std::string(kHello3), "+OK\r\n+OK\r\n+OK\r\n-ERR DB index is out of range\r\n" + std::string(kRoleMaster) +
                                  "$1\r\na\r\n" + std::string(kTime) + "+PONG\r\n"},
       "closed: refused: ERR DB index is out of range",
       ""},
      {"a sentinel", {.to = LinkOptions::To::kSentinel}, {std::string(kHello3), "+OK\r\n+PONG\r\n"}, "ready", ""},
      {"a sentinel's error",
       {.to = LinkOptions::To::kSentinel},
       {std::string(kHello3), "+OK\r\n-NOAUTH x\r\n"},
       "closed: refused: NOAUTH x",
       ""},
      {"hangs up", plain, {std::string(kHello3), "+OK\r\n"}, "", ""},
      {"speaks first", plain, {"+hi\r\n+hi\r\n"}, "closed: poisoned", ""},
      {"speaks HTTP", plain, {"HTTP/1.1 400 Bad Request\r\n\r\n"}, "closed: poisoned", ""},
  };
  for (const Case& c : cases) {
    Rig rig(c.options);
    rig.dial();
    rig.link.connected(at_us(rig.now_us));
    std::vector<std::string> last;
    for (const std::string& reply : c.replies) {
      last = said(rig.link);
      for (const char byte : reply) rig.receive({&byte, 1});  // in the smallest pieces there are
    }
    EXPECT_EQ(rig.owner.log.empty() ? "" : rig.owner.log.back().substr(0, c.outcome.size()), c.outcome) << c.name;
    if (!c.said.empty()) {
      EXPECT_EQ(last.back(), c.said) << c.name;
    }
  }
}

TEST(Link, WhatTakesTooLongToBeginIsClosed) {
  Rig dialing;
  dialing.dial();
  EXPECT_EQ(dialing.link.next_us(), dialing.now_us + dialing.options.dial_us);
  dialing.link.tick(at_us(dialing.link.next_us() - 1));
  EXPECT_THAT(dialing.owner.log, IsEmpty());
  dialing.link.tick(at_us(dialing.link.next_us()));
  EXPECT_THAT(dialing.owner.log, ElementsAre("closed: unreachable: no connection in time"));
  EXPECT_THAT(dialing.shell.log.back(), "hang up 127.0.0.1:6379");

  Rig greeting;
  greeting.dial();
  greeting.link.connected(at_us(greeting.now_us));
  greeting.link.tick(at_us(greeting.link.next_us()));
  EXPECT_THAT(greeting.owner.log, ElementsAre("closed: unreachable: no answer in time"));

  Rig refused;
  refused.dial();
  refused.link.lost("connection refused", at_us(refused.now_us));
  EXPECT_THAT(refused.owner.log, ElementsAre("closed: unreachable: connection refused"));
}

TEST(Link, WaitsForAServerThatLoads) {
  Rig rig;
  rig.dial();
  rig.link.connected(at_us(rig.now_us));
  said(rig.link);
  rig.receive(kHello3);
  const std::string loading =
      "+OK\r\n+OK\r\n+OK\r\n" + std::string(kRoleMaster) + "-LOADING x\r\n" + std::string(kTime) + "-LOADING x\r\n";
  for (const Micros pause_us : {100'000, 200'000, 400'000, 800'000, 1'000'000, 1'000'000}) {
    EXPECT_EQ(said(rig.link).size(), 7U);
    rig.receive(loading);
    EXPECT_EQ(rig.link.next_us(), rig.now_us + pause_us);
    rig.now_us = rig.link.next_us();
    rig.link.tick(at_us(rig.now_us));
  }
  EXPECT_THAT(rig.owner.log, IsEmpty());
  said(rig.link);
  rig.receive(kSettled);
  EXPECT_THAT(rig.owner.log, ElementsAre("ready"));
  // and again, if a question is told so
  rig.link.pause(at_us(rig.now_us));
  EXPECT_FALSE(rig.ask(1).has_value());
  rig.now_us += 100'000;
  rig.link.tick(at_us(rig.now_us));
  EXPECT_EQ(said(rig.link).size(), 7U);
  rig.receive(kSettled);
  EXPECT_TRUE(rig.ask(1).has_value());
}

TEST(Link, RepliesReachTheirAskersAtEverySplit) {
  const std::string replies = ":1\r\n-ERR no\r\n>2\r\n+message\r\n+x\r\n$1\r\n3\r\n|1\r\n+a\r\n+b\r\n:4\r\n";
  for (std::size_t split = 0; split <= replies.size(); ++split) {
    Rig rig;
    rig.get_ready();
    for (std::uint64_t token = 1; token <= 4; ++token) ASSERT_TRUE(rig.ask(token).has_value());
    EXPECT_THAT(said(rig.link), ElementsAre("PING 1", "PING 2", "PING 3", "PING 4"));
    rig.receive(replies.substr(0, split));
    rig.receive(replies.substr(split));
    EXPECT_THAT(rig.receiver.log, ElementsAre("1=1", "2=ERR no", "3=3", "4=4")) << split;
    EXPECT_THAT(rig.owner.log, ElementsAre("pushed message")) << split;
  }
}

TEST(Link, WhoStopsWaitingLeavesATombstone) {
  Rig rig;
  rig.get_ready();
  const auto first = rig.ask(1);
  rig.ask(2);
  said(rig.link);
  const auto third = rig.ask(3);  // not written yet
  rig.ask(4);
  EXPECT_FALSE(rig.link.cancel(*first));
  EXPECT_TRUE(rig.link.cancel(*third));
  EXPECT_THAT(said(rig.link), ElementsAre("PING 4"));
  rig.receive(":1\r\n:2\r\n:4\r\n");
  EXPECT_THAT(rig.receiver.log, ElementsAre("2=2", "4=4"));
  EXPECT_FALSE(rig.link.cancel(*first)) << "long gone";
  EXPECT_EQ(rig.link.owed(), 0U);
}

TEST(Link, RepliesOutOfStepPoisonIt) {
  struct Case {
    const char* name;
    std::string_view bytes;
    bool refuses;
    Log receiver;
  };
  const Case cases[] = {
      {"no owner", ":1\r\n:2\r\n:3\r\n", false, {"1=1", "2=2"}},
      {"no RESP", ":1\r\nhello\r\n", false, {"1=1", "2 perhaps"}},
      {"wrong shape", ":1\r\n:2\r\n", true, {"1=1", "2 perhaps"}},
  };
  for (const Case& c : cases) {
    Rig rig;
    rig.get_ready();
    rig.ask(1);
    rig.ask(2);
    said(rig.link);
    rig.ask(3);  // never written
    rig.receiver.refuses = c.refuses;
    rig.receive(c.bytes);
    Log expected = c.receiver;
    expected.emplace_back("3 not");
    EXPECT_EQ(rig.receiver.log, expected) << c.name;
    EXPECT_THAT(rig.owner.log.back(), HasSubstr("closed: poisoned")) << c.name;
    EXPECT_FALSE(rig.link.is_ready());
  }
}

TEST(Link, WhenItIsLostEachRequestIsToldWhetherItWasPerhapsExecuted) {
  Rig rig;
  rig.get_ready();
  rig.ask(1);
  const auto second = rig.ask(2);
  rig.ask(3);
  rig.ask(4);
  const std::size_t each = rig.link.output().size() / 4;
  rig.link.wrote(2 * each + each / 2);  // the third is on its way in part: no server runs half a command
  rig.link.cancel(*second);
  rig.link.lost("reset", at_us(rig.now_us));
  EXPECT_THAT(rig.receiver.log, ElementsAre("1 perhaps", "3 not", "4 not"));
  EXPECT_THAT(rig.owner.log, ElementsAre("closed: lost: reset"));
  // nothing of it is left for the next connection
  rig.receiver.log.clear();
  rig.get_ready();
  rig.ask(5);
  EXPECT_THAT(said(rig.link), ElementsAre("PING 5"));
  rig.receive(":5\r\n");
  EXPECT_THAT(rig.receiver.log, ElementsAre("5=5"));
}

TEST(Link, ASilentServerThatOwesAnswersIsDead) {
  struct Case {
    Micros deadline_us;
    Micros dead_after_us;
  };
  for (const Case& c : {Case{10'000, 200'000}, Case{50'000, 200'000}, Case{100'000, 400'000}}) {
    Rig rig;
    rig.get_ready();
    const auto place = rig.ask(1, c.deadline_us);
    rig.ask(2, 5 * kSecond_us);  // has time, and dies with it
    said(rig.link);
    const Micros asked_us = rig.now_us;
    rig.now_us += c.deadline_us;
    rig.link.cancel(*place);
    EXPECT_EQ(rig.link.next_us(), asked_us + c.dead_after_us);
    rig.link.tick(at_us(asked_us + c.dead_after_us - 1));
    EXPECT_TRUE(rig.link.is_ready());
    rig.link.tick(at_us(asked_us + c.dead_after_us));
    EXPECT_THAT(rig.owner.log.back(), HasSubstr("closed: silent"));
    EXPECT_THAT(rig.receiver.log, ElementsAre("2 perhaps"));
  }
}

TEST(Link, AnyByteIsASignOfLife) {
  Rig rig;
  rig.get_ready();
  const auto place = rig.ask(1);
  said(rig.link);
  rig.now_us += 50'000;
  rig.link.cancel(*place);
  rig.now_us += 149'999;
  rig.receive("$");
  rig.link.tick(at_us(rig.now_us + 1));
  EXPECT_TRUE(rig.link.is_ready());
}

TEST(Link, AsksForASignOfLifeWhereNothingIsOwed) {
  Rig rig;
  rig.get_ready();
  EXPECT_EQ(rig.link.next_us(), rig.now_us + Link::kHeartbeat_us);
  rig.now_us = rig.link.next_us();
  rig.link.tick(at_us(rig.now_us));
  EXPECT_THAT(said(rig.link), ElementsAre("TIME"));
  rig.now_us += 500;
  rig.receive("*2\r\n$10\r\n1700000010\r\n$1\r\n0\r\n");
  EXPECT_EQ(rig.link.clock().lowest_us(), 1'700'000'010'000'000 - rig.now_us);
  rig.now_us = rig.link.next_us();
  rig.link.tick(at_us(rig.now_us));
  said(rig.link);
  rig.receive("-MISCONF it cannot persist\r\n");  // and is alive
  EXPECT_TRUE(rig.link.is_ready());
  rig.now_us = rig.link.next_us();
  rig.link.tick(at_us(rig.now_us));
  said(rig.link);
  EXPECT_EQ(rig.link.next_us(), rig.now_us + Link::kHeartbeatPatience_us);
  rig.link.tick(at_us(rig.link.next_us()));
  EXPECT_THAT(rig.owner.log.back(), HasSubstr("closed: silent"));
}

TEST(Link, TakesNoMoreThanItsBounds) {
  Rig rig;
  rig.get_ready();
  std::uint64_t taken = 0;
  while (rig.ask(taken).has_value()) ++taken;
  EXPECT_EQ(taken, kLinkSlotsMax - kLinkSlotsReserved);
  EXPECT_EQ(said(rig.link).size(), taken);
  rig.receive(":0\r\n");
  EXPECT_TRUE(rig.ask(taken).has_value());

  Rig large;
  large.get_ready();
  const std::string bytes = "*1\r\n$65536\r\n" + std::string(65'536, 'x') + "\r\n";
  taken = 0;
  while (large.link.send({.bytes = bytes, .deadline_us = 1}, large.receiver, 0, at_us(large.now_us))) ++taken;
  EXPECT_EQ(taken, kLinkUnsentBytesMax / bytes.size());
}

TEST(Link, TakesNothingWhereTheOldestWaitsTooLongAlready) {
  Rig rig;
  rig.get_ready();
  rig.ask(1);
  said(rig.link);
  rig.now_us += 100'000;
  EXPECT_TRUE(rig.ask(2).has_value());
  rig.now_us += 1;
  EXPECT_FALSE(rig.ask(3).has_value());
  rig.receive(":1\r\n");
  EXPECT_TRUE(rig.ask(3).has_value());
}

TEST(Link, LoadsScriptsAgainOnceForAllThatMissThem) {
  Rig rig({.scripts = {"return 1", "return 2"}});
  rig.dial();
  rig.link.connected(at_us(rig.now_us));
  said(rig.link);
  rig.receive(kHello3);
  said(rig.link);
  rig.receive("+OK\r\n+OK\r\n+OK\r\n" + std::string(kRoleMaster) + "+a\r\n+b\r\n" + std::string(kTime) + "+PONG\r\n");
  for (std::uint64_t token = 1; token <= 3; ++token) rig.ask(token);
  said(rig.link);
  rig.receive("-NOSCRIPT No matching script\r\n-NOSCRIPT No matching script\r\n");
  rig.ask(4);  // behind the scripts
  EXPECT_THAT(said(rig.link), ElementsAre("SCRIPT LOAD return 1", "SCRIPT LOAD return 2", "PING 4"));
  rig.receive("-NOSCRIPT No matching script\r\n$1\r\na\r\n$1\r\nb\r\n:4\r\n");
  EXPECT_THAT(said(rig.link), IsEmpty());
  EXPECT_EQ(rig.link.script_loads(), 1U);
  EXPECT_EQ(rig.receiver.log.back(), "4=4");
  rig.ask(5);
  said(rig.link);
  rig.receive("-NOSCRIPT flushed again\r\n");
  EXPECT_EQ(said(rig.link).size(), 2U);
}

TEST(Link, APreludeGoesWithItsRequestAndIsTakenBackWithIt) {
  Rig rig;
  rig.get_ready();
  std::string bytes;
  append_command({"ASKING"}, bytes);
  append_command({"PING", "1"}, bytes);
  const Link::Request request{.bytes = bytes, .preludes = 1, .deadline_us = 50'000};
  const auto first = rig.link.send(request, rig.receiver, 1, at_us(rig.now_us));
  rig.link.cancel(*first);
  rig.link.send(request, rig.receiver, 2, at_us(rig.now_us));
  rig.ask(3);
  EXPECT_THAT(said(rig.link), ElementsAre("ASKING", "PING 1", "PING 3"));
  rig.receive("+OK\r\n:2\r\n:3\r\n");
  EXPECT_THAT(rig.receiver.log, ElementsAre("2=2", "3=3"));
}

/// Against a slow and obvious model: an echo server that answers in order what it was sent.
TEST(Link, RandomAsksCancelsWritesAndReadsNeverMixUpReplies) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Prng prng(seed);
    Rig rig;
    rig.get_ready();
    std::string wire, replies;
    std::vector<std::pair<std::uint64_t, RequestQueue::Place>> waiting;
    std::uint64_t token = 0, cancelled = 0;
    for (int step = 0; step < 300; ++step) {
      switch (prng.next() % 5) {
        case 0:
        case 1:
          if (const auto place = rig.ask(++token)) waiting.emplace_back(token, *place);
          break;
        case 2:
          if (!waiting.empty()) {
            const std::size_t i = prng.next() % waiting.size();
            rig.link.cancel(waiting[i].second);
            waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
            ++cancelled;
          }
          break;
        case 3: {
          const std::string_view output = rig.link.output();
          const std::size_t some = output.empty() ? 0 : 1 + prng.next() % output.size();
          wire += output.substr(0, some);
          rig.link.wrote(some);
          RespParser parser;
          for (RespParser::Parsed parsed; (parsed = parser.parse(wire)).outcome == RespParser::Outcome::kCommand;) {
            replies += ":" + std::string(parser.arguments()[1]) + "\r\n";
            wire.erase(0, parsed.consumed);
          }
          break;
        }
        case 4: {
          const std::size_t some = replies.empty() ? 0 : 1 + prng.next() % replies.size();
          const std::string piece = replies.substr(0, some);
          replies.erase(0, some);
          rig.receive(piece);
          for (const std::string& got : rig.receiver.log) {
            const std::string echoed = got.substr(0, got.find('='));
            ASSERT_EQ(got, echoed + "=" + echoed) << seed;
            const auto asked = std::find_if(waiting.begin(), waiting.end(),
                                            [&](const auto& w) { return std::to_string(w.first) == echoed; });
            ASSERT_NE(asked, waiting.end()) << "answered twice, or after it was cancelled; seed " << seed;
            waiting.erase(asked);
          }
          rig.receiver.log.clear();
          break;
        }
      }
      ASSERT_TRUE(rig.link.is_ready()) << rig.link.last_error() << " seed " << seed;
    }
    rig.link.lost("end", at_us(rig.now_us));
    EXPECT_EQ(rig.receiver.log.size(), waiting.size()) << seed;
  }
}

}  // namespace
}  // namespace ratel
