#pragma once
// The known name that a misspelt one was most likely meant to be. Pure, allocates nothing; any thread.

#include <cstddef>
#include <optional>
#include <string_view>

namespace ratel {

/// A name longer than this is near to none: what a suggestion may cost is bounded, because requests ask for it too.
inline constexpr std::size_t kNearestBytesMax = 32;

/// How many single-letter insertions, deletions, replacements and swaps of neighbours lie between two names, or nothing
/// when they are too far apart to be the same word mistyped.
std::optional<int> typing_distance(std::string_view misspelt, std::string_view known);

/// Collects the nearest of the names it is shown, which outlive this; the first of equals.
class Nearest {
 public:
  explicit Nearest(std::string_view misspelt) : misspelt_(misspelt) {}
  /// Whether this is the nearest so far.
  bool consider(std::string_view known);
  /// Empty when none is near. A view of what was considered.
  std::string_view name() const { return name_; }

 private:
  std::string_view misspelt_;
  std::string_view name_;
  std::optional<int> distance_;
};

/// The nearest of `names`, a range of string views or strings.
template <typename Names>
std::string_view nearest_of(std::string_view misspelt, const Names& names) {
  Nearest nearest(misspelt);
  for (const auto& name : names) nearest.consider(name);
  return nearest.name();
}

}  // namespace ratel
