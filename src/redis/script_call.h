#pragma once
// One question as a call of the decision script, and the script's reply as an answer. README.md has the layout.
//
// Pure: appends to and reads from what it is handed, and allocates nothing but the growth of the caller's buffer. Any
// thread. Does not know of connections: an error reply (NOSCRIPT, OOM, …) never comes here.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "limit/decide.h"
#include "limit/question.h"

namespace ratel {

struct ScriptCallOptions {
  std::string_view prefix;  // of the fleet's keys; is_key_prefix()
  Micros deadline_us = 0;   // in the store's time: a script that runs later decides nothing. 0: no deadline
  Micros calendar_us = 0;   // about what time it is in the store: windows of the calendar are looked up around it
};

/// Appends the command. REQUIRES: the question is valid (gate/ checks) and names no unlimited limit.
void append_script_call(const Question& question, const ScriptCallOptions& options, std::string& out);

/// How many integers a reply may have.
inline constexpr std::size_t kScriptReplyMax = 4 + 5 * kChargesMax;

struct ScriptOutcome {
  enum class Kind : std::uint8_t {
    kAnswer,
    kExpired,  // the deadline had passed: nothing was read or written
    /// Nothing was decided: ask again, with `now_us` as calendar_us. Either it is another calendar window than the
    /// caller thought, or a great many leases had ended and some are still to be forgotten.
    kAgain,
    /// What lies under the keys in `faults` is no state of ours; nothing was charged. Asking without them is possible.
    kFaults,
    /// No reply of this script to this question, or one that contradicts itself. What was done is unknown.
    kMalformed,
  };

  Kind kind = Kind::kMalformed;
  Micros now_us = 0;                  // the store's time when it decided; 0 where malformed
  Answer answer;                      // kAnswer
  std::array<Use, kChargesMax> uses;  // kAnswer: of each charge, after the question
  std::uint16_t faults = 0;           // kFaults: bit i for charge i
  std::uint16_t clamped = 0;          // kAnswer: counters whose time was further ahead than any that we write
  std::uint16_t healed = 0;           // kAnswer: keys that had no TTL and have one now
};

/// `reply` is the array the script returned. Decides the question once more over the state that the reply tells: that
/// gives waits and remainders, and any disagreement shows that the reply belongs to something else.
ScriptOutcome read_script_reply(const Question& question, std::span<const std::int64_t> reply);

}  // namespace ratel
