#include "base/duration.h"

#include <gtest/gtest.h>

namespace ratel {
namespace {

TEST(Duration, ReadsAWholeNumberAndAUnit) {
  struct Case {
    std::string_view text;
    Micros us;
    std::string_view canonical;
  };
  const Case cases[] = {
      {"0", 0, "0"},
      {"0s", 0, "0"},
      {"1us", 1, "1us"},
      {"50ms", 50'000, "50ms"},
      {"1000us", 1'000, "1ms"},
      {"1500ms", 1'500'000, "1500ms"},
      {"30s", 30 * kSecond_us, "30s"},
      {"60s", kMinute_us, "1m"},
      {"90s", 90 * kSecond_us, "90s"},
      {"5m", 5 * kMinute_us, "5m"},
      {"36h", 36 * kHour_us, "36h"},
      {"36500d", kDurationMax_us, "36500d"},
  };
  for (const Case& c : cases) {
    const Result<Micros> us = parse_duration(c.text);
    ASSERT_TRUE(us.ok()) << c.text;
    EXPECT_EQ(*us, c.us) << c.text;
    EXPECT_EQ(format_duration(*us), c.canonical);
    EXPECT_EQ(*parse_duration(c.canonical), c.us);
  }
}

TEST(Duration, RefusesEverythingElse) {
  for (const std::string_view text :
       {"", "s", "5", "5 s", " 5s", "5s ", "-5s", "+5s", "1.5s", "5S", "5sec", "1h30m", "0x5s", "five", "00"}) {
    const Result<Micros> us = parse_duration(text);
    ASSERT_FALSE(us.ok()) << text;
    EXPECT_NE(us.error().message.find("as in `50ms`"), std::string::npos) << text;
  }
  for (const std::string_view text : {"36501d", "9223372036854775807h", "99999999999999999999s"}) {
    const Result<Micros> us = parse_duration(text);
    ASSERT_FALSE(us.ok()) << text;
    EXPECT_EQ(us.error().message, "the longest duration is 36500d") << text;
  }
}

}  // namespace
}  // namespace ratel
