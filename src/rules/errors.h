#pragma once
// What is wrong with a file, collected so that one run shows every mistake. Not thread-safe.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ratel/result.h"

namespace ratel {

/// A place in a file, both counted from 1.
struct Place {
  int line = 1;
  int column = 1;
};

/// `file:line:column`.
std::string format_place(std::string_view file, Place place);

class ErrorList {
 public:
  /// More than this helps nobody: the first ones explain the rest.
  static constexpr std::size_t kErrorsMax = 20;

  void add(std::string_view file, Place place, std::string_view message);
  /// What is wrong with no place in particular.
  void add(std::string line);
  bool empty() const { return lines_.empty(); }
  /// One line each. REQUIRES: !empty().
  Error error() const;

 private:
  std::vector<std::string> lines_;
  std::size_t left_out_ = 0;
};

/// A value as an error shows it: between backquotes, shortened to 60 bytes, nothing unprintable.
std::string quote(std::string_view value);

/// `did you mean `limit`?`, or, when none is near, `known are `limit`, `key``.
std::string suggest(std::string_view misspelt, std::span<const std::string_view> names);

}  // namespace ratel
