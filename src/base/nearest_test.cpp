#include "base/nearest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace ratel {
namespace {

/// The whole edit table, as it is taught.
int plain_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<int>> table(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      int& cell = table[i][j];
      cell = static_cast<int>(std::max(i, j));
      if (i == 0 || j == 0) continue;
      cell = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i < 2 || j < 2 || a[i - 1] != b[j - 2] || a[i - 2] != b[j - 1]) continue;
      cell = std::min(cell, table[i - 2][j - 2] + 1);
    }
  }
  return table[a.size()][b.size()];
}

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

TEST(Nearest, LooksAtNoMoreThanTheBandAndFindsWhatTheWholeTableFinds) {
  std::mt19937 generator(1);
  const auto below = [&](std::size_t bound) { return generator() % bound; };
  int near = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string misspelt;
    for (std::size_t n = below(kNearestBytesMax - 3); n > 0; --n) misspelt += static_cast<char>('a' + below(3));
    std::string known = misspelt;
    for (std::size_t n = below(6); n > 0; --n) {
      const std::size_t at = below(known.size() + 1);
      switch (below(3)) {
        case 0:
          if (known.size() < kNearestBytesMax) known.insert(at, 1, static_cast<char>('a' + below(3)));
          break;
        case 1:
          if (at < known.size()) known.erase(at, 1);
          break;
        default:
          if (at + 1 < known.size()) std::swap(known[at], known[at + 1]);
      }
    }
    const int limit = static_cast<int>(std::min<std::size_t>(3, (misspelt.size() + 1) / 3));
    const int distance = plain_distance(misspelt, known);
    const std::optional<int> expected = distance <= limit ? std::optional(distance) : std::nullopt;
    ASSERT_EQ(typing_distance(misspelt, known), expected) << misspelt << " " << known;
    near += expected.has_value();
  }
  EXPECT_GT(near, 1'000);
  EXPECT_LT(near, 19'000);
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
