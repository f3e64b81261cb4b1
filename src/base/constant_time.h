#pragma once
// Comparing secrets. Pure; any thread.

#include <cstddef>
#include <string_view>

namespace ratel {

/// Whether `given` is `secret`, in a time that depends on the length of `given` alone, so that a guess learns nothing
/// from how long its refusal took.
inline bool equal_in_constant_time(std::string_view secret, std::string_view given) {
  std::size_t difference = secret.size() ^ given.size();
  for (std::size_t i = 0; i < given.size(); ++i) {
    // An empty secret has no byte to compare with; the lengths differ already.
    const char byte = secret.empty() ? '\0' : secret[i % secret.size()];
    difference |= static_cast<unsigned char>(byte ^ given[i]);
    // Keeps the compiler from leaving the loop as soon as the outcome is certain.
    asm volatile("" : "+r"(difference));
  }
  return difference == 0;
}

}  // namespace ratel
