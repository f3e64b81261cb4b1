#include "base/nearest.h"

#include <algorithm>
#include <array>

namespace ratel {
namespace {

/// A third of the letters may be wrong, and no more than three: beyond that a suggestion is a guess.
int distance_max(std::size_t length) {
  return static_cast<int>(std::min<std::size_t>(3, (length + 1) / 3));
}

}  // namespace

std::optional<int> typing_distance(std::string_view misspelt, std::string_view known) {
  if (misspelt.size() > kNearestBytesMax || known.size() > kNearestBytesMax) return std::nullopt;
  const int limit = distance_max(misspelt.size());
  const std::size_t longer = std::max(misspelt.size(), known.size());
  if (longer - std::min(misspelt.size(), known.size()) > static_cast<std::size_t>(limit)) return std::nullopt;

  // Three rows of the edit table: the swap of neighbours looks two rows back. Of each row only the band within `limit`
  // of the diagonal, because every step away from it costs one; what lies beside the band is too far.
  const int far = limit + 1;
  const int columns = static_cast<int>(known.size());
  std::array<std::array<int, kNearestBytesMax + 2>, 3> rows{};
  for (int j = 0; j <= std::min(columns, far); ++j) rows[0][j] = j;
  for (int i = 1; i <= static_cast<int>(misspelt.size()); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    const auto& above_that = rows[(i + 1) % 3];
    const int first = std::max(1, i - limit);
    const int last = std::min(columns, i + limit);
    row[first - 1] = first == 1 ? i : far;
    int least = row[first - 1];
    for (int j = first; j <= last; ++j) {
      const bool same = misspelt[i - 1] == known[j - 1];
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && misspelt[i - 1] == known[j - 2] && misspelt[i - 2] == known[j - 1]) {
        row[j] = std::min(row[j], above_that[j - 2] + 1);
      }
      least = std::min(least, row[j]);
    }
    row[last + 1] = far;
    if (least > limit) return std::nullopt;
  }
  const int distance = rows[misspelt.size() % 3][known.size()];
  if (distance > limit) return std::nullopt;
  return distance;
}

bool Nearest::consider(std::string_view known) {
  const std::optional<int> distance = typing_distance(misspelt_, known);
  if (!distance || (distance_ && *distance >= *distance_)) return false;
  name_ = known;
  distance_ = distance;
  return true;
}

}  // namespace ratel
