#pragma once
// For tests: a store that answers at once or when told.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "limit/decide.h"
#include "store/store.h"

namespace ratel {

/// Decides in a std::map. While `is_late`, questions are held until answer() is called for one of them.
class HeldStore final : public Store {
 public:
  void prepare(Question&) override { ++prepared; }
  void ask(const Question& question, Instant now, Completion done) override {
    deadline_us = question.deadline_us;
    on_failure = question.charges.front().on_failure;
    if (instead) return done(*instead);
    if (!is_late) return done(decide_one(question, now));
    held.push_back({&question, now, done});
  }
  /// Answers the i-th of those held.
  void answer(std::size_t i = 0) {
    const Held one = held[i];
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
    one.done(decide_one(*one.question, one.now));
  }

  struct Held {
    const Question* question;
    Instant now;
    Completion done;
  };
  bool is_late = false;
  std::deque<Held> held;
  std::size_t prepared = 0;
  std::optional<Answer> instead;  // what everybody is answered
  Micros deadline_us = 0;         // of the last question
  FailureMode on_failure = FailureMode::kLocal;

 private:
  struct State {
    Cell cell;
    std::unique_ptr<Record> record;
  };

  Answer decide_one(const Question& question, Instant now) {
    std::vector<Slot> slots;
    for (const Charge& charge : question.charges) {
      State& state = states_[{charge.limit->identity, std::string(charge.key)}];
      slots.push_back({&state.cell, &state.record});
    }
    return decide(question, slots, {.now_us = now.monotonic_us, .calendar_us = now.wall_us});
  }

  std::map<std::pair<std::string, std::string>, State> states_;
};

}  // namespace ratel
