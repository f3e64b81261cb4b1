#include "base/nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ratel {
namespace {

TEST(Nearest, CountsTypingMistakes) {
  struct Case {
    std::string_view misspelt;
    std::string_view known;
    std::optional<int> distance;
  };
  const Case cases[] = {
      {"login", "login", 0},
      {"logn", "login", 1},
      {"loginn", "login", 1},
      {"lagin", "login", 1},
      {"lgoin", "login", 1},
      {"limit", "limits", 1},
      {"algoritm", "algorithm", 1},
      {"on_stor_failre", "on_store_failure", 2},
      {"login", "api", {}},
      {"logout", "login", {}},
      {"x", "y", {}},
      {"", "a", {}},
      {"ab", "ba", 1},
      {"shadwo", "shadow", 1},
      {"checkuot", "checkout", 1},
  };
  for (const Case& c : cases)
    EXPECT_EQ(typing_distance(c.misspelt, c.known), c.distance) << c.misspelt << " " << c.known;
}

TEST(Nearest, NamesBeyondTheBoundAreNearToNone) {
  const std::string longest(kNearestBytesMax, 'x');
  EXPECT_EQ(typing_distance(longest, longest), 0);
  EXPECT_EQ(typing_distance(longest + "x", longest + "x"), std::nullopt);
  EXPECT_EQ(typing_distance(longest, longest + "x"), std::nullopt);
}

TEST(Nearest, PicksTheNearestAndTheFirstOfEquals) {
  const std::vector<std::string> names{"lease", "limit", "limits", "key"};
  EXPECT_EQ(nearest_of("limut", names), "limit");
  EXPECT_EQ(nearest_of("limitx", names), "limit");
  EXPECT_EQ(nearest_of("limits", names), "limits");
  EXPECT_EQ(nearest_of("prepay", names), "");
}

}  // namespace
}  // namespace ratel
