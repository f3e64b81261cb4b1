#include "app/question_text.h"

#include <gtest/gtest.h>

namespace ratel {
namespace {

TEST(QuestionText, IsOneCommand) {
  struct Case {
    AskedQuestion question;
    std::string_view command;
  };
  const Case cases[] = {
      {{.rule = "login", .key = "user:42"},
       "*5\r\n$11\r\nRATEL.ALLOW\r\n$5\r\nlogin\r\n$7\r\nuser:42\r\n$4\r\nCOST\r\n$1\r\n1\r\n"},
      {{.rule = "a,b", .key = "k", .cost = "3", .peek = true},
       "*5\r\n$10\r\nRATEL.PEEK\r\n$3\r\na,b\r\n$1\r\nk\r\n$4\r\nCOST\r\n$1\r\n3\r\n"},
      {{.limit = "5/min", .key = ""},
       "*6\r\n$11\r\nRATEL.ALLOW\r\n$5\r\nLIMIT\r\n$5\r\n5/min\r\n$0\r\n\r\n$4\r\nCOST\r\n$1\r\n1\r\n"},
  };
  for (const Case& c : cases) EXPECT_EQ(format_question(c.question), c.command);
}

TEST(QuestionText, DescribesAnswers) {
  using Verdict = AskedAnswer::Verdict;
  struct Case {
    std::string_view reply;
    Verdict verdict;
    std::string_view line;
  };
  const Case cases[] = {
      {"*7\r\n:1\r\n:5\r\n:4\r\n:0\r\n:12000\r\n$5\r\nexact\r\n$5\r\nlogin\r\n", Verdict::kAllowed,
       "allowed rule=login limit=5 remaining=4 reset_after=12s source=exact"},
      {"*7\r\n:0\r\n:5\r\n:0\r\n:11500\r\n:60000\r\n$5\r\nexact\r\n$5\r\napi#2\r\n", Verdict::kDenied,
       "denied rule=api#2 limit=5 remaining=0 retry_after=11500ms reset_after=1m source=exact"},
      {"*7\r\n:0\r\n:5\r\n:5\r\n:-1\r\n:0\r\n$5\r\nexact\r\n$5\r\nlogin\r\n", Verdict::kDenied,
       "denied rule=login limit=5 remaining=5 retry_after=never reset_after=0 source=exact"},
      {"*7\r\n:1\r\n:-1\r\n:-1\r\n:0\r\n:9223372036854775807\r\n$5\r\nexact\r\n$4\r\nopen\r\n", Verdict::kAllowed,
       "allowed rule=open limit=unlimited remaining=unlimited reset_after=36500d source=exact"},
      {"-ERR unknown rule `tow`\r\n", Verdict::kNone, "ERR unknown rule `tow`"},
      {"-ERR \x1b[2J\x7f\r\n", Verdict::kNone, "ERR ?[2J?"},
      {"+OK\r\n", Verdict::kNone, "this is no answer of ratel: is the address right?"},
      {"*7\r\n:1\r\n:5\r\n:4\r\n:0\r\n:0\r\n:0\r\n$5\r\nlogin\r\n", Verdict::kNone,
       "this is no answer of ratel: is the address right?"},
  };
  for (const Case& c : cases) {
    std::string_view input = c.reply;
    RespReplyReader reader;
    ASSERT_EQ(reader.read(input), RespReplyReader::Outcome::kReply);
    const AskedAnswer answer = describe_answer(reader.reply());
    EXPECT_EQ(answer.verdict, c.verdict) << c.line;
    EXPECT_EQ(answer.line, c.line);
  }
}

}  // namespace
}  // namespace ratel
