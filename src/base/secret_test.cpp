#include "base/secret.h"

#include <gtest/gtest.h>

#include <string>

namespace ratel {
namespace {

TEST(Secret, OnlyTheSecretItselfEqualsIt) {
  struct Case {
    std::string_view given, secret;
    bool equal;
  };
  const Case cases[] = {
      {"hunter2", "hunter2", true}, {"hunter3", "hunter2", false}, {"Hunter2", "hunter2", false},
      {"hunter", "hunter2", false}, {"hunter22", "hunter2", false}, {"", "hunter2", false},
      {"", "", false},              {"aa", "a", false},             {"abab", "ab", false},
      {"a\0b", "a\0b", true},
  };
  for (const Case& c : cases) EXPECT_EQ(equals_secret(c.given, c.secret), c.equal) << c.given << " / " << c.secret;
}

}  // namespace
}  // namespace ratel
