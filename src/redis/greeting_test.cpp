#include "redis/greeting.h"

#include <gmock/gmock.h>

#include "redis/link_testing.h"

namespace ratel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Greeting, GreetsAndWaitsForEachAnswerThatMatters) {
  LinkRig rig({.user = "ann", .password = "secret", .database = 3, .scripts = {"return 1", "return 2"}});
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

TEST(Greeting, GreetingsComeToTheirEndHoweverTheServerAnswers) {
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
      {"repeats what it does not know",
       password,
       {"-ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'default' 'pw'\r\n",
        "-ERR unknown command 'AUTH', with args beginning with: 'pw' \r\n"},
       "closed: refused: ERR unknown command 'AUTH', with args beginning with: '***' ",
       ""},
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
      {"a node of a cluster, asked as one server",
       plain,
       {"%3\r\n+server\r\n+redis\r\n+mode\r\n+cluster\r\n+role\r\n+master\r\n"},
       "closed: refused: it is a node of a cluster",
       ""},
      {"a node of a cluster",
       {.to = LinkOptions::To::kAnyNode, .scripts = {"s"}},
       {"%2\r\n+mode\r\n+cluster\r\n+role\r\n+master\r\n", settled_resp2},
       "ready",
       ""},
      {"a sentinel, asked as a server",
       plain,
       {"%2\r\n+mode\r\n+sentinel\r\n+role\r\n+master\r\n"},
       "closed: refused: it is a sentinel",
       ""},
      {"too old for the script",
       plain,
       {"%2\r\n+server\r\n+redis\r\n+version\r\n+6.2.14\r\n", "+OK\r\n+OK\r\n+OK\r\n" + std::string(kRoleMaster) +
                                                                  "-ERR Error compiling script\r\n" +
                                                                  std::string(kTime) + "+PONG\r\n"},
       "closed: refused: it is Redis 6.2.14, which is too old",
       ""},
      {"new enough, and dislikes the script",
       plain,
       {"%2\r\n+server\r\n+redis\r\n+version\r\n+7.0.0\r\n", "+OK\r\n+OK\r\n+OK\r\n" + std::string(kRoleMaster) +
                                                                 "-ERR Error compiling script\r\n" +
                                                                 std::string(kTime) + "+PONG\r\n"},
       "closed: refused: ERR Error compiling script",
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
    LinkRig rig(c.options);
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

TEST(Greeting, WhatTakesTooLongToBeginIsClosed) {
  LinkRig dialing;
  dialing.dial();
  EXPECT_EQ(dialing.link.next_us(), dialing.now_us + dialing.options.dial_us);
  dialing.link.tick(at_us(dialing.link.next_us() - 1));
  EXPECT_THAT(dialing.owner.log, IsEmpty());
  dialing.link.tick(at_us(dialing.link.next_us()));
  EXPECT_THAT(dialing.owner.log, ElementsAre("closed: unreachable: no connection in time"));
  EXPECT_THAT(dialing.shell.log.back(), "hang up 127.0.0.1:6379");

  LinkRig greeting;
  greeting.dial();
  greeting.link.connected(at_us(greeting.now_us));
  greeting.link.tick(at_us(greeting.link.next_us()));
  EXPECT_THAT(greeting.owner.log, ElementsAre("closed: unreachable: no answer in time"));

  LinkRig refused;
  refused.dial();
  refused.link.lost("connection refused", at_us(refused.now_us));
  EXPECT_THAT(refused.owner.log, ElementsAre("closed: unreachable: connection refused"));
}

TEST(Greeting, WaitsForAServerThatLoads) {
  LinkRig rig;
  rig.dial();
  rig.link.connected(at_us(rig.now_us));
  said(rig.link);
  rig.receive(kHello3);
  const std::string loading =
      "+OK\r\n+OK\r\n+OK\r\n" + std::string(kRoleMaster) + "-LOADING x\r\n" + std::string(kTime) + "-LOADING x\r\n";
  for (const Micros pause_us : {100'000, 200'000, 400'000, 500'000, 500'000}) {
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

}  // namespace
}  // namespace ratel
