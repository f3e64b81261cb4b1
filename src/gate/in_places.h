#pragma once
// The answer to a part of a question's charges, in the terms of the whole question. Pure; any thread.

#include <cstdint>
#include <span>

#include "limit/question.h"

namespace ratel {

/// `places[i]` is where the part's charge i stands in the whole question. REQUIRES: the part has charges.
inline Answer in_places(Answer answer, std::span<const std::uint8_t> places) {
  const auto moved = [places](std::uint16_t bits) {
    std::uint16_t result = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if ((bits >> i & 1U) != 0) result = static_cast<std::uint16_t>(result | 1U << places[i]);
    }
    return result;
  };
  answer.violated = moved(answer.violated);
  answer.faulty = moved(answer.faulty);
  answer.binding = places[answer.binding];
  return answer;
}

}  // namespace ratel
