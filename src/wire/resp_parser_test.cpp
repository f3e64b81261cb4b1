#include "wire/resp_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ratel {
namespace {

using Command = std::vector<std::string>;

/// What came out of a stream of bytes: whole commands, then perhaps an error; and how much was left over.
struct Outcome {
  std::vector<Command> commands;
  std::string error;
  std::size_t left = 0;

  bool operator==(const Outcome&) const = default;
};

void PrintTo(const Outcome& outcome, std::ostream* out) {
  for (const Command& command : outcome.commands) *out << testing::PrintToString(command) << ' ';
  *out << "error '" << outcome.error << "', " << outcome.left << " left";
}

/// Feeds the pieces as a connection would, keeping what is incomplete.
Outcome feed(std::initializer_list<std::string_view> pieces) {
  RespParser parser;
  Outcome outcome;
  std::string kept;
  for (std::string_view piece : pieces) {
    kept += piece;
    while (true) {
      const RespParser::Parsed parsed = parser.parse(kept);
      if (parsed.outcome == RespParser::Outcome::kCommand) {
        outcome.commands.emplace_back(parser.arguments().begin(), parser.arguments().end());
      }
      kept.erase(0, parsed.consumed);
      if (parsed.outcome == RespParser::Outcome::kError) {
        outcome.error = parser.error();
        return outcome;
      }
      if (parsed.outcome == RespParser::Outcome::kPartial) break;
    }
  }
  outcome.left = kept.size();
  return outcome;
}

std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

struct Case {
  std::string input;
  Outcome expected;
};

std::vector<Case> cases() {
  const std::string nul("\0", 1);
  return {
      {"", {}},
      {"*1\r\n$4\r\nPING\r\n", {{{"PING"}}}},
      {"*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", {{{"ECHO", ""}}}},
      {"*2\r\n$4\r\nECHO\r\n$11\r\nhello\r\nyou!\r\n", {{{"ECHO", "hello\r\nyou!"}}}},
      {"*1\r\n$1\r\n" + nul + "\r\n", {{{nul}}}},
      {"*1\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n*1\r\n$1\r\n", {{{"a"}, {"b"}}, "", 8}},
      {"*5\r\n$11\r\nCL.THROTTLE\r\n$7\r\nuser:42\r\n$2\r\n15\r\n$2\r\n30\r\n$2\r\n60\r\n",
       {{{"CL.THROTTLE", "user:42", "15", "30", "60"}}}},
      {"*1\r\n$07\r\nabcdefg\r\n", {{{"abcdefg"}}}},
      {"*1\r\n" + bulk(std::string(99, 'a')), {{{std::string(99, 'a')}}}},
      {"*1\r\n" + bulk(std::string(100, 'a')), {{{std::string(100, 'a')}}}},
      {"*10\r\n$1\r\n0\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n$1\r\n4\r\n$1\r\n5\r\n$1\r\n6\r\n$1\r\n7\r\n$1\r\n8\r\n$"
       "1\r\n9\r\n",
       {{{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}}}},
      // empty commands are passed over
      {"*0\r\n*-1\r\n\r\n\n*1\r\n$1\r\na\r\n", {{{"a"}}}},
      {"*0\r\n*1\r\n$1", {{}, "", 6}},
      {"  \t \r\n", {}},
      // inline
      {"PING\r\n", {{{"PING"}}}},
      {"PING\n", {{{"PING"}}}},
      {"  set\tkey  value \r\nGET x\r\n", {{{"set", "key", "value"}, {"GET", "x"}}}},
      {"a \"b c\" 'd e'\r\n", {{{"a", "b c", "d e"}}}},
      {"a \"\" ''\r\n", {{{"a", "", ""}}}},
      {R"(a "\x41\x7a\n\r\t\b\a\\\"\q" '\'\n')"
       "\r\n",
       {{{"a", "Az\n\r\t\b\a\\\"q", "'\\n"}}}},
      {R"(a "\x4" "\xzz")"
       "\r\n",
       {{{"a", "x4", "xzz"}}}},
      {"a b\"c d\"\r\n", {{{"a", "bc d"}}}},
      {"a \"b\"c\r\n", {{}, "Protocol error: unbalanced quotes in request"}},
      {"a \"b\r\n", {{}, "Protocol error: unbalanced quotes in request"}},
      {"a 'b\\'\r\n", {{}, "Protocol error: unbalanced quotes in request"}},
      {"a \"b\\\r\n", {{}, "Protocol error: unbalanced quotes in request"}},
      {"PING", {{}, "", 4}},
      // what is no command at all
      {"*1\r\n+OK\r\n", {{}, "Protocol error: expected '$', got '+'"}},
      {"*1\r\n:1\r\n", {{}, "Protocol error: expected '$', got ':'"}},
      {"*2\r\n$1\r\na\r\nPING\r\n", {{}, "Protocol error: expected '$', got 'P'"}},
      {"*a\r\n", {{}, "Protocol error: invalid multibulk length"}},
      {"*\r\n", {{}, "Protocol error: invalid multibulk length"}},
      {"*1 \r\n", {{}, "Protocol error: invalid multibulk length"}},
      {"*+1\r\n", {{}, "Protocol error: invalid multibulk length"}},
      {"*1\r*", {{}, "Protocol error: invalid multibulk length"}},
      {"*99999999999999999999\r\n", {{}, "Protocol error: invalid multibulk length"}},
      {"*1\r\n$a\r\n", {{}, "Protocol error: invalid bulk length"}},
      {"*1\r\n$-1\r\n", {{}, "Protocol error: invalid bulk length"}},
      {"*1\r\n$\r\n", {{}, "Protocol error: invalid bulk length"}},
      {"*1\r\n$9223372036854775807\r\n", {{}, "Protocol error: invalid bulk length"}},
      {"*1\r\n$18446744073709551617\r\n", {{}, "Protocol error: invalid bulk length"}},
      {"*1\r\n$12\ra", {{}, "Protocol error: invalid bulk length"}},
      {"*1\r\n$1x\r\na\r\n", {{}, "Protocol error: invalid bulk length"}},
      {"*1\r\n$0\r\nab\r\n", {{}, "Protocol error: expected CRLF after bulk string"}},
      {"*1\r\n$1\r\nab\r\n", {{}, "Protocol error: expected CRLF after bulk string"}},
      {"*1\r\n$1\r\na\r*", {{}, "Protocol error: expected CRLF after bulk string"}},
      {"PING\r\n*1\r\n$x\r\nPING\r\n", {{{"PING"}}, "Protocol error: invalid bulk length"}},
  };
}

TEST(RespParser, ReadsTheWholeInput) {
  for (const Case& c : cases()) EXPECT_EQ(feed({c.input}), c.expected) << testing::PrintToString(c.input);
}

TEST(RespParser, EverySplitInThreeReadsTheSame) {
  for (const Case& c : cases()) {
    const std::string_view input = c.input;
    for (std::size_t i = 0; i <= input.size(); ++i) {
      for (std::size_t j = i; j <= input.size(); ++j) {
        EXPECT_EQ(feed({input.substr(0, i), input.substr(i, j - i), input.substr(j)}), c.expected)
            << testing::PrintToString(c.input) << " at " << i << ", " << j;
      }
    }
  }
}

TEST(RespParser, OneByteAtATimeReadsTheSame) {
  for (const Case& c : cases()) {
    RespParser parser;
    Outcome outcome;
    std::string kept;
    for (char byte : c.input) {
      kept += byte;
      const RespParser::Parsed parsed = parser.parse(kept);
      if (parsed.outcome == RespParser::Outcome::kError) {
        outcome.error = parser.error();
        kept.clear();
        break;
      }
      if (parsed.outcome == RespParser::Outcome::kCommand) {
        outcome.commands.emplace_back(parser.arguments().begin(), parser.arguments().end());
      }
      kept.erase(0, parsed.consumed);
    }
    outcome.left = kept.size();
    EXPECT_EQ(outcome, c.expected) << testing::PrintToString(c.input);
  }
}

TEST(RespParser, ArgumentsAreNotCopied) {
  RespParser parser;
  const std::string input = "*2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n";
  ASSERT_EQ(parser.parse(input).outcome, RespParser::Outcome::kCommand);
  EXPECT_EQ(parser.arguments()[1].data(), input.data() + 18);
}

TEST(RespParser, EachBoundIsReachedAndHeld) {
  const auto array_of = [](std::size_t count) {
    std::string input = "*" + std::to_string(count) + "\r\n";
    for (std::size_t i = 0; i < count; ++i) input += "$1\r\na\r\n";
    return input;
  };
  const auto words = [](std::size_t count) {
    std::string input;
    for (std::size_t i = 0; i < count; ++i) input += "a ";
    return input + "\r\n";
  };
  // Arguments that make a command of exactly `size` bytes, the last of them short.
  const auto command_of = [](std::size_t size) {
    const std::string first = "*3\r\n" + bulk(std::string(kRespBulkBytesMax, 'a'));
    const std::string last = bulk(std::string(10, 'c'));
    const std::size_t rest = size - first.size() - last.size() - 10;  // `$65436\r\n` and CRLF
    std::string input = first + bulk(std::string(rest, 'b')) + last;
    EXPECT_EQ(input.size(), size);
    return input;
  };
  struct BoundCase {
    const char* name;
    std::string input;
    std::size_t commands;
    std::string error;
  };
  const std::string zeros(kRespLengthLineBytesMax - 3, '0');
  const BoundCase bound_cases[] = {
      {"most arguments", array_of(kRespArgumentsMax), 1, ""},
      {"one argument more", array_of(kRespArgumentsMax + 1), 0, "Protocol error: invalid multibulk length"},
      {"most words", words(kRespArgumentsMax), 1, ""},
      {"one word more", words(kRespArgumentsMax + 1), 0, "Protocol error: too big inline request"},
      {"longest bulk", "*1\r\n" + bulk(std::string(kRespBulkBytesMax, 'a')), 1, ""},
      {"longer bulk", "*1\r\n$" + std::to_string(kRespBulkBytesMax + 1) + "\r\n", 0,
       "Protocol error: invalid bulk length"},
      {"longest command", command_of(kRespCommandBytesMax), 1, ""},
      {"longer command", command_of(kRespCommandBytesMax + 1), 0, "Protocol error: too big command"},
      {"longest line", "a" + std::string(kRespInlineBytesMax - 2, ' ') + "\n", 1, ""},
      {"longer line", "a" + std::string(kRespInlineBytesMax - 1, ' ') + "\n", 0,
       "Protocol error: too big inline request"},
      {"endless line", std::string(kRespInlineBytesMax, 'a'), 0, "Protocol error: too big inline request"},
      {"longest count", "*" + zeros + "1\r\n$1\r\na\r\n", 1, ""},
      {"longer count", "*0" + zeros + "1\r\n$1\r\na\r\n", 0, "Protocol error: too big mbulk count string"},
      {"longest length", "*1\r\n$" + zeros + "1\r\na\r\n", 1, ""},
      {"longer length", "*1\r\n$0" + zeros + "1\r\na\r\n", 0, "Protocol error: too big bulk count string"},
  };
  for (const BoundCase& c : bound_cases) {
    const Outcome whole = feed({c.input});
    EXPECT_EQ(whole.commands.size(), c.commands) << c.name;
    EXPECT_EQ(whole.error, c.error) << c.name;
    const std::string_view input = c.input;
    for (std::size_t i = 0; i < input.size(); i += input.size() / 50 + 1) {
      EXPECT_EQ(feed({input.substr(0, i), input.substr(i)}), whole) << c.name << " split at " << i;
    }
  }
}

}  // namespace
}  // namespace ratel
