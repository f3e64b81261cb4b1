#include "observe/log.h"

#include <gtest/gtest.h>

#include <vector>

namespace ratel {
namespace {

class LogTest : public testing::Test {
 protected:
  Log make(LogFormat format, LogLevel level = LogLevel::kDebug) {
    return Log(clock_, {.level = level, .format = format},
               [this](std::string_view line) { lines_.emplace_back(line); });
  }

  ManualClock clock_{{.monotonic_us = 5 * kSecond_us, .wall_us = 1'796'117'400'000'042}};
  std::vector<std::string> lines_;
};

TEST_F(LogTest, WritesTypedFieldsInOrder) {
  make(LogFormat::kLogfmt).info("rules loaded", {{"file", "a b.yaml"}, {"rules", 3}, {"ratio", 0.5}, {"ok", true}});
  make(LogFormat::kJson).warning("rules loaded", {{"file", "a b.yaml"}, {"rules", 3}, {"ratio", 0.5}, {"ok", true}});
  ASSERT_EQ(lines_.size(), 2U);
  EXPECT_EQ(lines_[0],
            "time=2026-12-01T09:30:00.000042Z level=info msg=\"rules loaded\" file=\"a b.yaml\" rules=3 ratio=0.5 "
            "ok=true\n");
  EXPECT_EQ(lines_[1],
            "{\"time\":\"2026-12-01T09:30:00.000042Z\",\"level\":\"warning\",\"msg\":\"rules loaded\","
            "\"file\":\"a b.yaml\",\"rules\":3,\"ratio\":0.5,\"ok\":true}\n");
}

TEST_F(LogTest, NoValueCanEndItsLineQuoteOrField) {
  struct Case {
    std::string value, logfmt, json;
  };
  const Case cases[] = {
      {"plain-1.0/x:y", "plain-1.0/x:y", R"("plain-1.0/x:y")"},
      {"", R"("")", R"("")"},
      {"a=b", R"("a=b")", R"("a=b")"},
      {"x\nlevel=error msg=forged", R"("x\nlevel=error msg=forged")", R"("x\nlevel=error msg=forged")"},
      {"a\r\tb", R"("a\r\tb")", R"("a\r\tb")"},
      {R"(say "hi" \ bye)", R"("say \"hi\" \\ bye")", R"("say \"hi\" \\ bye")"},
      {std::string("nul\0esc\x1b[m\x7f", 11), R"("nul\u0000esc\u001b[m\u007f")", R"("nul\u0000esc\u001b[m\u007f")"},
      {"grüße €  𝄞", R"("grüße €  𝄞")", R"("grüße €  𝄞")"},
      {"a\u0085b\u2028c\u2029d", R"("a\u0085b\u2028c\u2029d")", R"("a\u0085b\u2028c\u2029d")"},
      {"\xff\xc3", "\"\uFFFD\uFFFD\"", "\"\uFFFD\uFFFD\""},
      {"\xc0\x8a", "\"\uFFFD\uFFFD\"", "\"\uFFFD\uFFFD\""},                          // an overlong newline
      {"\xed\xa0\x80", "\"\uFFFD\uFFFD\uFFFD\"", "\"\uFFFD\uFFFD\uFFFD\""},          // a surrogate
      {"\xf4\x90\x80\x80", "\"\uFFFD\uFFFD\uFFFD\uFFFD\"", "\"\uFFFD\uFFFD\uFFFD\uFFFD\""},  // above U+10FFFF
  };
  for (const Case& c : cases) {
    lines_.clear();
    make(LogFormat::kLogfmt).error("m", {{"v", c.value}});
    make(LogFormat::kJson).error("m", {{"v", c.value}});
    EXPECT_EQ(lines_[0], "time=2026-12-01T09:30:00.000042Z level=error msg=m v=" + c.logfmt + "\n");
    EXPECT_EQ(lines_[1],
              R"({"time":"2026-12-01T09:30:00.000042Z","level":"error","msg":"m","v":)" + c.json + "}\n");
  }
}

TEST_F(LogTest, LeavesOutWhatIsBelowItsLevel) {
  Log log = make(LogFormat::kLogfmt, LogLevel::kWarning);
  log.debug("a");
  log.info("b");
  log.warning("c");
  log.error("d");
  ASSERT_EQ(lines_.size(), 2U);
  EXPECT_NE(lines_[0].find("msg=c"), std::string::npos);
  EXPECT_NE(lines_[1].find("msg=d"), std::string::npos);
}

TEST_F(LogTest, AStormIsOneLineASecondWithItsCount) {
  Log log = make(LogFormat::kLogfmt);
  SparseLog storm(log, LogLevel::kWarning, "refused");
  for (int i = 0; i < 30; ++i) {  // three seconds, ten a second
    storm.note(clock_.now(), {{"i", i}});
    clock_.advance_us(kSecond_us / 10);
  }
  ASSERT_EQ(lines_.size(), 3U);
  const char* ends[] = {"msg=refused i=0\n", "msg=refused i=10 count=10\n", "msg=refused i=20 count=10\n"};
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(lines_[i].ends_with(ends[i])) << lines_[i];
}

}  // namespace
}  // namespace ratel
