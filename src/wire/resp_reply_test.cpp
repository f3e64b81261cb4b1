#include "wire/resp_reply.h"

#include <gtest/gtest.h>

#include "wire/resp_writer.h"

namespace ratel {
namespace {

using Outcome = RespReplyReader::Outcome;
using Kind = RespReply::Kind;

std::string flat(RespReply reply) {
  switch (reply.kind()) {
    case Kind::kNothing:
      return "~";
    case Kind::kText:
      return "'" + std::string(reply.text()) + "'";
    case Kind::kError:
      return "error " + std::string(reply.text());
    case Kind::kInteger:
      return std::to_string(reply.integer());
    case Kind::kBoolean:
      return reply.integer() == 1 ? "true" : "false";
    case Kind::kDouble:
      return std::to_string(reply.number());
    case Kind::kBigNumber:
      return "big " + std::string(reply.text());
    case Kind::kList:
    case Kind::kSet:
    case Kind::kMap:
    case Kind::kPush:
      break;
  }
  std::string text;
  std::size_t i = 0;
  for (const RespReply item : reply) {
    text += (text.empty() ? "" : " ") + flat(item);
    EXPECT_EQ(flat(reply[i++]), flat(item));
  }
  EXPECT_EQ(i, reply.size());
  constexpr std::string_view kMarks = "*~%>";
  const std::string mark(1, kMarks[static_cast<std::size_t>(reply.kind()) - static_cast<std::size_t>(Kind::kList)]);
  return (mark == "*" ? "" : mark) + "[" + text + "]";
}

/// All replies in `bytes`, given in two pieces, and then "!" if it ends malformed.
std::vector<std::string> replies_in(std::string_view bytes, std::size_t split) {
  RespReplyReader reader;
  std::vector<std::string> got;
  for (std::string_view input : {bytes.substr(0, split), bytes.substr(split)}) {
    Outcome outcome;
    while ((outcome = reader.read(input)) == Outcome::kReply) got.push_back(flat(reader.reply()));
    if (outcome == Outcome::kMalformed) {
      got.push_back("!");
      break;
    }
    EXPECT_TRUE(input.empty());
  }
  return got;
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
  const std::vector<std::string> expected = {"'OK'", "error ERR no", "-1", "'a\r\nb'", "''", "~", "[1 [] 'x']", "~"};
  for (std::size_t split = 0; split <= bytes.size(); ++split) EXPECT_EQ(replies_in(bytes, split), expected) << split;
}

TEST(RespReply, ReadsResp3AtEverySplit) {
  struct Case {
    std::string_view bytes;
    std::vector<std::string> replies;
  };
  const Case cases[] = {
      {"_\r\n#t\r\n#f\r\n", {"~", "true", "false"}},
      {",1.5\r\n,-2e3\r\n,10\r\n", {"1.500000", "-2000.000000", "10.000000"}},
      {",inf\r\n,-inf\r\n", {"inf", "-inf"}},
      {"(3492890328409238509324850943850943825024385\r\n(-1\r\n",
       {"big 3492890328409238509324850943850943825024385", "big -1"}},
      {"=8\r\ntxt:a\r\nb\r\n=4\r\nmkd:\r\n", {"'a\r\nb'", "''"}},
      {"!5\r\nERR x\r\n", {"error ERR x"}},
      {"%2\r\n+a\r\n:1\r\n+b\r\n*2\r\n:2\r\n:3\r\n", {"%['a' 1 'b' [2 3]]"}},
      {"~2\r\n:1\r\n~0\r\n", {"~[1 ~[]]"}},
      {">2\r\n+message\r\n%1\r\n+x\r\n_\r\n:7\r\n", {">['message' %['x' ~]]", "7"}},
      // attributes: of the reply, of an item, empty, nested, and before a bulk string
      {"|1\r\n+ttl\r\n:3600\r\n:7\r\n", {"7"}},
      {"*2\r\n|1\r\n+k\r\n$3\r\nabc\r\n$1\r\nx\r\n|0\r\n:9\r\n", {"['x' 9]"}},
      {"|1\r\n|1\r\n+a\r\n+b\r\n+c\r\n*1\r\n+d\r\n+OK\r\n", {"'OK'"}},
      {"*3\r\n*2\r\n:1\r\n:2\r\n:3\r\n*1\r\n*1\r\n:4\r\n", {"[[1 2] 3 [[4]]]"}},
  };
  for (const Case& c : cases) {
    for (std::size_t split = 0; split <= c.bytes.size(); ++split) {
      EXPECT_EQ(replies_in(c.bytes, split), c.replies) << c.bytes << " at " << split;
    }
  }
}

TEST(RespReply, FindsWhatAMapOrListOfPairsNames) {
  struct Case {
    std::string_view bytes;
    std::string_view name;
    std::string_view value;  // empty: none
  };
  const Case cases[] = {
      {"%2\r\n+role\r\n+master\r\n+mode\r\n+cluster\r\n", "mode", "'cluster'"},
      {"*4\r\n+role\r\n+master\r\n+mode\r\n+cluster\r\n", "role", "'master'"},
      {"*4\r\n+role\r\n+mode\r\n+mode\r\n+cluster\r\n", "mode", "'cluster'"},
      {"*4\r\n+modules\r\n*2\r\n+role\r\n+x\r\n+role\r\n+slave\r\n", "role", "'slave'"},
      {"*3\r\n+a\r\n+b\r\n+role\r\n", "role", ""},
      {"*4\r\n+a\r\n+role\r\n+b\r\n+c\r\n", "role", ""},
      {"+role\r\n", "role", ""},
      {"*0\r\n", "role", ""},
  };
  for (const Case& c : cases) {
    RespReplyReader reader;
    std::string_view input = c.bytes;
    ASSERT_EQ(reader.read(input), Outcome::kReply);
    const std::optional<RespReply> found = reader.reply().find(c.name);
    EXPECT_EQ(found ? flat(*found) : "", c.value) << c.bytes;
  }
}

TEST(RespReply, RefusesWhatIsNoReplyAndWhatIsTooLarge) {
  std::string deep;
  for (std::size_t i = 0; i < kReplyDepthMax; ++i) deep += "*1\r\n";
  struct Case {
    std::string bytes;
    Outcome outcome;
  };
  const std::string longest = "$" + std::to_string(kReplyBytesMax) + "\r\n";
  const Case cases[] = {
      {"", Outcome::kPartial},
      {"hello\r\n", Outcome::kMalformed},
      {"\r\n", Outcome::kMalformed},
      {"\n", Outcome::kMalformed},
      {"+OK\n", Outcome::kMalformed},
      {":x\r\n", Outcome::kMalformed},
      {":\r\n", Outcome::kMalformed},
      {":99999999999999999999\r\n", Outcome::kMalformed},
      {"$-2\r\n", Outcome::kMalformed},
      {"!-1\r\n", Outcome::kMalformed},
      {"$?\r\n", Outcome::kMalformed},
      {"*?\r\n", Outcome::kMalformed},
      {"%-1\r\n", Outcome::kMalformed},
      {"#x\r\n", Outcome::kMalformed},
      {"_x\r\n", Outcome::kMalformed},
      {",\r\n", Outcome::kMalformed},
      {"(12a\r\n", Outcome::kMalformed},
      {"(-\r\n", Outcome::kMalformed},
      {"=3\r\ntxt\r\n", Outcome::kMalformed},
      {"=4\r\ntxt;\r\n", Outcome::kMalformed},
      {"*1\r\n>0\r\n", Outcome::kMalformed},
      {"$1\r\nab\r\n", Outcome::kMalformed},
      {"$1\r\na\rb", Outcome::kMalformed},
      {"$" + std::to_string(kReplyBytesMax + 1) + "\r\n", Outcome::kMalformed},
      {longest, Outcome::kPartial},
      {"*2\r\n+a\r\n" + longest, Outcome::kMalformed},
      {"*" + std::to_string(kReplyItemsMax + 1) + "\r\n", Outcome::kMalformed},
      {"*" + std::to_string(kReplyItemsMax) + "\r\n", Outcome::kPartial},
      {"%" + std::to_string(kReplyItemsMax) + "\r\n", Outcome::kMalformed},
      {deep + ":1\r\n", Outcome::kReply},
      {"*1\r\n" + deep + ":1\r\n", Outcome::kMalformed},
      {"+" + std::string(kReplyLineBytesMax - 1, 'x'), Outcome::kPartial},
      {"+" + std::string(kReplyLineBytesMax, 'x'), Outcome::kMalformed},
  };
  for (const Case& c : cases) {
    std::string_view input = c.bytes;
    RespReplyReader reader;
    EXPECT_EQ(reader.read(input), c.outcome) << c.bytes.substr(0, 40);
  }
}

TEST(RespReply, HoldsNoMoreValuesThanItsBoundHoweverTheyAreNested) {
  // Each list may be as long as the bound; together they may not be.
  std::string bytes = "*" + std::to_string(kReplyItemsMax) + "\r\n";
  for (std::size_t i = 0; i + 2 < kReplyItemsMax; ++i) bytes += "_\r\n";
  RespReplyReader reader;
  std::string_view input = bytes;
  EXPECT_EQ(reader.read(input), Outcome::kPartial);
  input = "*1\r\n";
  EXPECT_EQ(reader.read(input), Outcome::kPartial);
  input = "_\r\n";
  EXPECT_EQ(reader.read(input), Outcome::kMalformed);
}

}  // namespace
}  // namespace ratel
