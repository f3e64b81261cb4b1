#pragma once
// Asking a store, in the words of its tests.

#include <string>
#include <string_view>
#include <utility>

#include "store/store.h"

namespace ratel {

inline constexpr std::uint64_t kSeed = 42;
inline constexpr Micros kStart_us = 1'764'547'200'000'000;

inline BoundLimit bound(LimitSpec spec, std::string identity, Micros max_wait_us = 0) {
  return {*make_limit(spec, max_wait_us), std::move(identity), "test"};
}

inline BoundLimit gcra(std::int64_t count, Micros period_us, std::string identity = "test") {
  return bound({.count = count, .period_us = period_us}, std::move(identity));
}

inline void keep_answer(void* context, std::uint64_t, const Answer& answer) {
  *static_cast<Answer*>(context) = answer;
}

inline Answer ask(Store& store, Question question, Instant now) {
  Answer answer;
  store.prepare(question);
  store.ask(question, now, {keep_answer, &answer, 0});
  return answer;
}

inline Instant at(Micros us) {
  return {us, us};
}

inline Answer allow(Store& store, const BoundLimit& limit, std::string_view key, Micros now_us, std::int64_t cost = 1) {
  Charge charge{.limit = &limit, .key = key};
  return ask(store, {.charges = {&charge, 1}, .cost = cost}, at(now_us));
}

}  // namespace ratel
