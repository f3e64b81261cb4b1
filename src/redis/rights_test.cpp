#include "redis/rights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "redis/redis_server_testing.h"
#include "redis/script.h"

namespace ratel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Every command that the script names is tried.
TEST(Rights, CoverWhatTheScriptCalls) {
  std::set<std::string> tried;
  for (const RightTrial& trial : right_trials("ratel")) tried.insert(std::string(trial.right));
  const std::string_view text = decision_script().text;
  int calls = 0;
  for (std::size_t at = 0; (at = text.find("call('", at)) != std::string_view::npos;) {
    at += 6;
    std::string name(text.substr(at, text.find('\'', at) - at));
    std::transform(name.begin(), name.end(), name.begin(), [](char c) { return static_cast<char>(c | 0x20); });
    EXPECT_TRUE(tried.contains(name)) << name;
    ++calls;
  }
  EXPECT_GT(calls, 20);
}

TEST(Rights, AreReadFromWhatServersAnswer) {
  struct Case {
    std::string reply;
    std::string_view lacked;
  };
  const Case cases[] = {
      {"+OK\r\n", ""},
      {"-NOSCRIPT No matching script.\r\n", ""},
      {"-READONLY You can't write against a read only replica.\r\n", ""},
      {"-OOM command not allowed when used memory > 'maxmemory'.\r\n", ""},
      {"-MOVED 7 127.0.0.1:7001\r\n", ""},
      {"-NOPERM this user has no permissions to run the 'zadd' command\r\n", "zadd"},
      {"-NOPERM User lim has no permissions to run the 'zadd' command\r\n", "zadd"},
      {"-NOPERM this user has no permissions to access one of the keys used as arguments\r\n", "keys"},
      {"-NOPERM No permissions to access a key\r\n", "keys"},
  };
  for (const Case& c : cases) {
    RespReplyReader reader;
    std::string_view bytes = c.reply;
    ASSERT_EQ(reader.read(bytes), RespReplyReader::Outcome::kReply) << c.reply;
    EXPECT_EQ(lacked_right({.right = "zadd", .command = {}}, reader.reply()), c.lacked) << c.reply;
  }
}

class RightsOnServers : public testing::TestWithParam<ServerKind> {
 protected:
  static std::vector<std::string> lacked_by(RedisServer& server, const std::string& user) {
    RedisClient client(server.socket());
    client.run({"AUTH", user, "x"});
    std::vector<std::string> lacked;
    for (const RightTrial& trial : right_trials("ratel")) {
      std::vector<std::string_view> words(trial.command.begin(), trial.command.end());
      const TestReply told = client.run(words);
      RespReplyReader reader;
      const std::string line = "-" + told.text + "\r\n";
      std::string_view bytes = told.kind == '-' ? std::string_view(line) : "+OK\r\n";
      EXPECT_EQ(reader.read(bytes), RespReplyReader::Outcome::kReply);
      const std::string_view right = lacked_right(trial, reader.reply());
      if (!right.empty() && std::count(lacked.begin(), lacked.end(), right) == 0) lacked.emplace_back(right);
    }
    return lacked;
  }
};

/// What the trials say is lacked is enough when it is granted, and nothing is left of them.
TEST_P(RightsOnServers, GrantingWhatIsLackedIsEnough) {
  RedisServer server(GetParam().binary);
  RedisClient admin(server.socket());
  admin.run({"ACL", "SETUSER", "new", "on", ">x"});
  // A right to no key hides that to commands, so it takes two rounds.
  for (int round = 0; round < 2; ++round) {
    std::vector<std::string_view> words = {"ACL", "SETUSER", "new"};
    const std::string rules = acl_rules(lacked_by(server, "new"), "ratel");
    std::string_view rest = rules;
    while (!rest.empty()) {
      words.push_back(rest.substr(0, rest.find(' ')));
      rest.remove_prefix(std::min(words.back().size() + 1, rest.size()));
    }
    EXPECT_GT(words.size(), 3U) << round;
    EXPECT_EQ(admin.run(words).text, "OK") << rules;
  }
  EXPECT_THAT(lacked_by(server, "new"), IsEmpty());
  EXPECT_EQ(admin.run({"DBSIZE"}).integer, 0);

  admin.run({"ACL", "SETUSER", "new", "-zadd"});
  EXPECT_THAT(lacked_by(server, "new"), ElementsAre("zadd"));
  admin.run({"ACL", "SETUSER", "new", "+zadd", "resetkeys", "~other:*"});
  EXPECT_THAT(lacked_by(server, "new"), ElementsAre("keys"));
}

INSTANTIATE_TEST_SUITE_P(Servers, RightsOnServers, testing::ValuesIn(server_kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ratel
