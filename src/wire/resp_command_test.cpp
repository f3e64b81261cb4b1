#include "wire/resp_command.h"

#include <gtest/gtest.h>

#include "wire/resp_parser.h"

namespace ratel {
namespace {

TEST(RespCommand, IsReadBackAsItWas) {
  std::string bytes = "*1\r\n$4\r\nPING\r\n";
  const std::size_t before = bytes.size();
  append_command({"SET", "a key\r\n", std::string_view("\0x", 2), ""}, bytes);
  RespParser parser;
  const RespParser::Parsed parsed = parser.parse(std::string_view(bytes).substr(before));
  ASSERT_EQ(parsed.outcome, RespParser::Outcome::kCommand);
  EXPECT_EQ(parsed.consumed, bytes.size() - before);
  const std::vector<std::string_view> expected = {"SET", "a key\r\n", std::string_view("\0x", 2), ""};
  EXPECT_EQ(std::vector(parser.arguments().begin(), parser.arguments().end()), expected);
  std::string same;
  append_command(std::vector<std::string>(expected.begin(), expected.end()), same);
  EXPECT_EQ(same, bytes.substr(before));
}

}  // namespace
}  // namespace ratel
