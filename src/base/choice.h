#pragma once
// A word of a short list, and whole numbers within bounds: the values of settings and fields. The errors say what would
// be right; the caller, who knows the field, adds its name and the value.

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ratel/result.h"

namespace ratel {

template <typename T>
struct Choice {
  std::string_view word;
  T value;
};

template <typename T, std::size_t N>
Result<T> parse_choice(std::string_view text, const std::array<Choice<T>, N>& choices) {
  std::string message = "one of";
  for (const Choice<T>& choice : choices) {
    if (choice.word == text) return choice.value;
    message.append(&choice == choices.data() ? " `" : ", `").append(choice.word).append("`");
  }
  return Error{ErrorCode::kBadArgument, std::move(message)};
}

/// The word for a value. REQUIRES: it is among the choices.
template <typename T, std::size_t N>
std::string_view word_of(T value, const std::array<Choice<T>, N>& choices) {
  for (const Choice<T>& choice : choices) {
    if (choice.value == value) return choice.word;
  }
  return {};
}

inline constexpr std::array kTrueOrFalse{Choice<bool>{"true", true}, Choice<bool>{"false", false}};

/// Decimal digits and nothing else.
inline Result<std::int64_t> parse_whole_number(std::string_view text, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end || text.front() == '-' || number < least || number > most) {
    return Error{ErrorCode::kBadArgument,
                 "a whole number from " + std::to_string(least) + " to " + std::to_string(most)};
  }
  return number;
}

}  // namespace ratel
