#include "redis/slot_map.h"

#include <gtest/gtest.h>

namespace ratel {
namespace {

TEST(SlotMap, KnowsTheSlotOfAKey) {
  struct Case {
    std::string_view key;
    std::uint16_t slot;
  };
  const Case cases[] = {
      {"123456789", 0x31c3 % 16'384},  // the check value of CRC-16/XMODEM
      {"", 0},
      {"foo", 12'182},
      {"rl:user:42:minute", 1339},
      {"rl:user:42:day", 2278},
      {"rl:{user:42}:minute", 15'880},
      {"rl:{user:42}:day", 15'880},
      {"{user:42}", 15'880},
      {"user:42", 15'880},
      {"{user:42}{x}", 15'880},  // the first braces
  };
  for (const Case& c : cases) EXPECT_EQ(slot_of(c.key), c.slot) << c.key;
  EXPECT_NE(slot_of("{}a"), slot_of("{}b")) << "empty braces are no tag";
  EXPECT_NE(slot_of("{a"), slot_of("a"));
  EXPECT_EQ(slot_of("{{a}"), slot_of("{a"));
}

TEST(SlotMap, ReadsWhatAClusterSays) {
  const Address asked{.host = "10.0.0.9", .port = 7, .path = {}};
  struct Case {
    std::string_view reply;
    bool good;
    std::string_view ranges;
  };
  const Case cases[] = {
      {"*0\r\n", true, ""},
      {"*1\r\n*4\r\n:0\r\n:100\r\n*3\r\n$8\r\n10.0.0.1\r\n:6379\r\n$2\r\nid\r\n*2\r\n$1\r\nr\r\n:1\r\n", true,
       "0-100 10.0.0.1:6379 "},
      {"*1\r\n*3\r\n:5\r\n:5\r\n*4\r\n$0\r\n\r\n:6379\r\n$2\r\nid\r\n*0\r\n", true, "5-5 10.0.0.9:6379 "},
      {"*1\r\n*3\r\n:5\r\n:5\r\n*4\r\n_\r\n:6379\r\n$2\r\nid\r\n*2\r\n+ip\r\n+1\r\n", true, "5-5 10.0.0.9:6379 "},
      {"*1\r\n*3\r\n:5\r\n:5\r\n*2\r\n+?\r\n:1\r\n", true, "5-5 10.0.0.9:1 "},
      {"*2\r\n*3\r\n:0\r\n:1\r\n*2\r\n+a\r\n:1\r\n*3\r\n:2\r\n:16383\r\n*2\r\n+::1\r\n:2\r\n", true,
       "0-1 a:1 2-16383 [::1]:2 "},
      {"+OK\r\n", false, ""},
      {"*1\r\n+x\r\n", false, ""},
      {"*1\r\n*2\r\n:0\r\n:1\r\n", false, ""},
      {"*1\r\n*3\r\n:2\r\n:1\r\n*2\r\n+a\r\n:1\r\n", false, ""},
      {"*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n+a\r\n:1\r\n", false, ""},
      {"*1\r\n*3\r\n:-1\r\n:1\r\n*2\r\n+a\r\n:1\r\n", false, ""},
      {"*1\r\n*3\r\n+0\r\n:1\r\n*2\r\n+a\r\n:1\r\n", false, ""},
      {"*1\r\n*3\r\n:0\r\n:1\r\n*1\r\n+a\r\n", false, ""},
      {"*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n+a\r\n:0\r\n", false, ""},
      {"*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n+a\r\n:65536\r\n", false, ""},
  };
  for (const Case& c : cases) {
    RespReplyReader reader;
    std::string_view input = c.reply;
    ASSERT_EQ(reader.read(input), RespReplyReader::Outcome::kReply) << c.reply;
    std::vector<SlotRange> ranges;
    EXPECT_EQ(read_slot_ranges(reader.reply(), asked, ranges), c.good) << c.reply;
    if (!c.good) continue;
    std::string text;
    for (const SlotRange& range : ranges) {
      text +=
          std::to_string(range.first) + "-" + std::to_string(range.last) + " " + format_address(range.primary) + " ";
    }
    EXPECT_EQ(text, c.ranges);
  }
}

}  // namespace
}  // namespace ratel
