#include "base/choice.h"

#include <gtest/gtest.h>

namespace ratel {
namespace {

TEST(Choice, KnowsItsWordsAndNamesThem) {
  EXPECT_EQ(*parse_choice("true", kTrueOrFalse), true);
  EXPECT_EQ(*parse_choice("false", kTrueOrFalse), false);
  EXPECT_EQ(word_of(false, kTrueOrFalse), "false");
  for (const std::string_view text : {"", "True", "yes", "1", "true "}) {
    const Result<bool> value = parse_choice(text, kTrueOrFalse);
    ASSERT_FALSE(value.ok()) << text;
    EXPECT_EQ(value.error().message, "one of `true`, `false`");
  }
}

TEST(WholeNumber, IsDigitsWithinBounds) {
  EXPECT_EQ(*parse_whole_number("0", 0, 9), 0);
  EXPECT_EQ(*parse_whole_number("9", 0, 9), 9);
  EXPECT_EQ(*parse_whole_number("007", 0, 9), 7);
  for (const std::string_view text :
       {"", "10", "-1", "-0", "+1", " 1", "1 ", "1.0", "0x1", "1e0", "99999999999999999999"}) {
    const Result<std::int64_t> number = parse_whole_number(text, 0, 9);
    ASSERT_FALSE(number.ok()) << text;
    EXPECT_EQ(number.error().message, "a whole number from 0 to 9");
  }
}

}  // namespace
}  // namespace ratel
