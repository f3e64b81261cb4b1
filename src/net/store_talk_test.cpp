#include "net/store_talk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "net/system_clock.h"
#include "redis/redis_server_testing.h"

namespace ratel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Command = StoreTalk::Command;

class StoreTalkTest : public testing::Test {
 protected:
  Result<std::unique_ptr<StoreTalk>> open(const std::string& path, std::string password = {}) {
    return StoreTalk::open(*access, {.host = {}, .port = 0, .path = path},
                           {.to = LinkOptions::To::kAnyNode, .user = {}, .password = std::move(password)});
  }

  SystemClock clock;
  std::unique_ptr<StoreAccess> access = *StoreAccess::make(clock, nullptr);
};

TEST_F(StoreTalkTest, HandsOutEachReplyInOrderAlsoErrorsAndLongOnes) {
  RedisServer server("redis-server");
  auto talk = open(server.socket());
  ASSERT_TRUE(talk.ok()) << talk.error().message;
  std::vector<std::string> seen;
  const Command commands[] = {{"SET", "k", std::string(300'000, 'x')}, {"GET", "k"}, {"NONSENSE"}, {"GET", "none"}};
  const Status asked = (*talk)->ask(commands, [&](std::size_t index, RespReply reply) {
    EXPECT_EQ(index, seen.size());
    seen.push_back(reply.text().size() > 100 ? std::to_string(reply.text().size()) : std::string(reply.text()));
  });
  ASSERT_TRUE(asked.ok()) << asked.error().message;
  EXPECT_THAT(seen, ElementsAre("OK", "300000", HasSubstr("unknown command"), ""));

  std::vector<Command> many(StoreTalk::kCommandsMax, {"INCR", "n"});
  std::int64_t last = 0;
  ASSERT_TRUE((*talk)->ask(many, [&](std::size_t, RespReply reply) { last = reply.integer(); }).ok());
  EXPECT_EQ(last, static_cast<std::int64_t>(StoreTalk::kCommandsMax));
}

TEST_F(StoreTalkTest, SaysWhyItCannotBegin) {
  RedisServer server("redis-server", {"--requirepass", "right"});
  EXPECT_THAT(open(server.socket()).error().message, HasSubstr("NOAUTH"));
  EXPECT_THAT(open(server.socket(), "other").error().message, HasSubstr("WRONGPASS"));
  EXPECT_TRUE(open(server.socket(), "right").ok());
  EXPECT_THAT(open(server.folder() + "/none").error().message, HasSubstr("cannot connect"));
}

TEST_F(StoreTalkTest, EndsWithTheServerAndSaysSo) {
  RedisServer server("redis-server");
  auto talk = open(server.socket());
  ASSERT_TRUE(talk.ok()) << talk.error().message;
  ::kill(server.pid(), SIGKILL);
  Status asked = Done{};
  while (asked.ok()) asked = (*talk)->ask({"PING"}, [](RespReply) {});
  EXPECT_FALSE(asked.error().message.empty());
  EXPECT_EQ((*talk)->ask({"PING"}, [](RespReply) {}).error().message, asked.error().message);
}

}  // namespace
}  // namespace ratel
