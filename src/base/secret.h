#pragma once
// Comparing a password or token without telling how much of it was right. Pure; any thread.

#include <cstddef>
#include <string_view>

namespace ratel {

/// Takes time by the length of `given` alone. An empty secret equals nothing.
inline bool equals_secret(std::string_view given, std::string_view secret) {
  if (secret.empty()) return false;
  volatile unsigned difference = given.size() == secret.size() ? 0 : 1;  // volatile: no early way out to optimise to
  for (std::size_t i = 0, j = 0; i < given.size(); ++i) {
    difference = difference | static_cast<unsigned char>(given[i] ^ secret[j]);
    j = j + 1 == secret.size() ? 0 : j + 1;
  }
  return difference == 0;
}

}  // namespace ratel
