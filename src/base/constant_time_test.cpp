#include "base/constant_time.h"

#include <gtest/gtest.h>

namespace ratel {
namespace {

TEST(ConstantTime, ComparesWholeStrings) {
  struct Case {
    std::string_view secret;
    std::string_view given;
    bool equal;
  };
  const Case cases[] = {
      {"", "", true},
      {"secret", "secret", true},
      {"secret", "secreT", false},
      {"secret", "Secret", false},
      {"secret", "", false},
      {"secret", "secretsecret", false},
      {"", "secret", false},
      {"secret", "secre", false},
      {"aa", "aaa", false},
  };
  for (const Case& c : cases)
    EXPECT_EQ(equal_in_constant_time(c.secret, c.given), c.equal) << c.secret << " " << c.given;
}

}  // namespace
}  // namespace ratel
