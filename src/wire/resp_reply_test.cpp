#include "wire/resp_reply.h"

#include <gtest/gtest.h>

#include "wire/resp_writer.h"

namespace ratel {
namespace {

std::string flat(const RespReply& reply) {
  switch (reply.kind) {
    case RespReply::Kind::kNothing:
      return "~";
    case RespReply::Kind::kText:
      return "'" + reply.text + "'";
    case RespReply::Kind::kError:
      return "error " + reply.text;
    case RespReply::Kind::kInteger:
      return std::to_string(reply.integer);
    case RespReply::Kind::kList:
      break;
  }
  std::string text;
  for (const RespReply& item : reply.items) text += (text.empty() ? "" : " ") + flat(item);
  return "[" + text + "]";
}

TEST(RespReply, ReadsWhatTheWriterWritesAtEverySplit) {
  std::string bytes;
  RespWriter writer(bytes, RespVersion::k2);
  writer.simple("OK");
  writer.error("ERR no");
  writer.integer(-1);
  writer.bulk("a\r\nb");
  writer.bulk("");
  writer.null();
  writer.array(3);
  writer.integer(1);
  writer.array(0);
  writer.bulk("x");
  bytes += "*-1\r\n";
  const std::string_view expected[] = {"'OK'", "error ERR no", "-1", "'a\r\nb'", "''", "~", "[1 [] 'x']", "~"};
  for (std::size_t split = 0; split <= bytes.size(); ++split) {
    std::vector<std::string> got;
    RespReply reply;
    std::string_view input = std::string_view(bytes).substr(0, split);
    RespReplyOutcome outcome;
    while ((outcome = take_reply(input, reply)) == RespReplyOutcome::kReply) got.push_back(flat(reply));
    ASSERT_EQ(outcome, RespReplyOutcome::kPartial) << split;
    const std::size_t done = split - input.size();
    input = std::string_view(bytes).substr(done);
    while ((outcome = take_reply(input, reply)) == RespReplyOutcome::kReply) got.push_back(flat(reply));
    EXPECT_TRUE(std::equal(got.begin(), got.end(), std::begin(expected), std::end(expected))) << split;
    EXPECT_TRUE(input.empty());
  }
}

TEST(RespReply, RefusesWhatIsNoReplyAndWhatIsTooLarge) {
  std::string deep;
  for (std::size_t i = 0; i < kReplyDepthMax; ++i) deep += "*1\r\n";
  struct Case {
    std::string bytes;
    RespReplyOutcome outcome;
  };
  const Case cases[] = {
      {"", RespReplyOutcome::kPartial},
      {"hello\r\n", RespReplyOutcome::kMalformed},
      {"\r\n", RespReplyOutcome::kMalformed},
      {":x\r\n", RespReplyOutcome::kMalformed},
      {":\r\n", RespReplyOutcome::kMalformed},
      {":99999999999999999999\r\n", RespReplyOutcome::kMalformed},
      {"$-2\r\n", RespReplyOutcome::kMalformed},
      {"$1\r\nab\r\n", RespReplyOutcome::kMalformed},
      {"$65537\r\n", RespReplyOutcome::kMalformed},
      {"$65536\r\n", RespReplyOutcome::kPartial},
      {"*1025\r\n", RespReplyOutcome::kMalformed},
      {"*1024\r\n", RespReplyOutcome::kPartial},
      {deep + ":1\r\n", RespReplyOutcome::kReply},
      {"*1\r\n" + deep + ":1\r\n", RespReplyOutcome::kMalformed},
      {"+" + std::string(kReplyBytesMax - 2, 'x'), RespReplyOutcome::kPartial},
      {"+" + std::string(kReplyBytesMax - 1, 'x'), RespReplyOutcome::kMalformed},
  };
  for (const Case& c : cases) {
    std::string_view input = c.bytes;
    RespReply reply;
    EXPECT_EQ(take_reply(input, reply), c.outcome) << c.bytes.substr(0, 40);
  }
}

}  // namespace
}  // namespace ratel
