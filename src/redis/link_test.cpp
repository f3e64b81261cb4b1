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

TEST(Link, RepliesReachTheirAskersAtEverySplit) {
  const std::string replies = ":1\r\n-ERR no\r\n>2\r\n+message\r\n+x\r\n$1\r\n3\r\n|1\r\n+a\r\n+b\r\n:4\r\n";
  for (std::size_t split = 0; split <= replies.size(); ++split) {
    LinkRig rig;
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
  LinkRig rig;
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
    LinkRig rig;
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
  LinkRig rig;
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
    LinkRig rig;
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
  LinkRig rig;
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
  LinkRig rig;
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
  LinkRig rig;
  rig.get_ready();
  std::uint64_t taken = 0;
  while (rig.ask(taken).has_value()) ++taken;
  EXPECT_EQ(taken, kLinkSlotsMax - kLinkSlotsReserved);
  EXPECT_EQ(said(rig.link).size(), taken);
  rig.receive(":0\r\n");
  EXPECT_TRUE(rig.ask(taken).has_value());

  LinkRig large;
  large.get_ready();
  const std::string bytes = "*1\r\n$65536\r\n" + std::string(65'536, 'x') + "\r\n";
  taken = 0;
  while (large.link.send({.bytes = bytes, .deadline_us = 1}, large.receiver, 0, at_us(large.now_us))) ++taken;
  EXPECT_EQ(taken, kLinkUnsentBytesMax / bytes.size());
}

TEST(Link, TakesNothingWhereTheOldestWaitsTooLongAlready) {
  LinkRig rig;
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
  LinkRig rig({.scripts = {"return 1", "return 2"}});
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

TEST(Link, RetiresWhenWhatItIsOwedHasCome) {
  LinkRig idle;
  idle.get_ready();
  idle.link.retire("moved", at_us(idle.now_us));
  EXPECT_THAT(idle.owner.log, ElementsAre("closed: by us: moved"));

  LinkRig rig;
  rig.get_ready();
  rig.ask(1);
  rig.ask(2);
  said(rig.link);
  rig.link.retire("moved", at_us(rig.now_us));
  EXPECT_FALSE(rig.ask(3).has_value());
  rig.receive(":1\r\n");
  EXPECT_THAT(rig.owner.log, IsEmpty());
  rig.receive(":2\r\n");
  EXPECT_THAT(rig.receiver.log, ElementsAre("1=1", "2=2"));
  EXPECT_THAT(rig.owner.log, ElementsAre("closed: by us: moved"));

  LinkRig silent;
  silent.get_ready();
  silent.ask(1);
  said(silent.link);
  silent.link.retire("moved", at_us(silent.now_us));
  EXPECT_EQ(silent.link.next_us(), silent.now_us + Link::kRetiring_us);
  silent.link.tick(at_us(silent.link.next_us()));
  EXPECT_THAT(silent.receiver.log, ElementsAre("1 perhaps"));
}

TEST(Link, APreludeGoesWithItsRequestAndIsTakenBackWithIt) {
  LinkRig rig;
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
    LinkRig rig;
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
