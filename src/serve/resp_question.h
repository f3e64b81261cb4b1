#pragma once
// CL.THROTTLE and RATEL.*: from a command's arguments to a question, and from its answer to a reply. No connection
// here; a question may outlive the one that asked it. Belongs to one event loop.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/randomness.h"
#include "limit/question.h"
#include "serve/resolver.h"
#include "wire/resp_writer.h"

namespace ratel {

class RespQuestionPool;
class RespSession;

/// A command's name and arguments, on loan.
using RespArguments = std::span<const std::string_view>;

/// A question with all that it points to, so that an answer may come at any time. Reused: after warm-up it allocates
/// nothing.
struct RespQuestion {
  /// What is said of the answer.
  enum class Shape : std::uint8_t {
    kThrottle,  // CL.THROTTLE: five integers
    kDecision,  // RATEL.*: seven fields, and what the verb adds
    kLease,     // RATEL.RENEW and RELEASE
  };

  RespQuestion();

  Question question;
  Shape shape = Shape::kDecision;
  bool lists_violated = false;
  RespVersion version = RespVersion::k2;
  Target target;         // of RATEL.*
  std::string key;       // what the charges point to, unless it is an address
  std::string lease_id;  // what question.lease_id points to

  // CL.THROTTLE: one charge, of a limit that is made anew only when a call's numbers are not those of the call before.
  Charge throttle_charge;
  BoundLimit throttle_limit;
  std::int64_t throttle_period_s = 0;

  // The session's: its place among the replies that are owed.
  RespQuestionPool* pool = nullptr;
  RespSession* session = nullptr;  // who asked; nullptr when that connection is gone
  LoopMetrics* metrics = nullptr;  // that count the answer, whoever still waits for it
  Micros asked_us = 0;             // monotonic
  RespQuestion* next = nullptr;
  Answer answer;
  bool answered = false;
  bool awaited = false;  // ask() has returned without an answer
  std::string tail;      // replies to what was sent after this question and needs no store
};

/// Questions that are not under way, for reuse. Holds as many as ever were at once, which the sessions bound.
class RespQuestionPool {
 public:
  /// What a waiting question keeps of each of its texts: enough for a key, so that only bad ones cost an allocation.
  static constexpr std::size_t kPooledBytesMax = kKeyBytesMax;

  RespQuestion* take();
  void give_back(RespQuestion* question);
  /// The rules in force from now on; no others are kept alive by what waits for reuse.
  void use(const RuleBookPtr& book);

 private:
  const RuleBook* in_force_ = nullptr;
  std::vector<std::unique_ptr<RespQuestion>> all_;
  std::vector<RespQuestion*> free_;
};

/// `CL.THROTTLE key max_burst count period [quantity]`. REQUIRES: 5 or 6 arguments with the name.
Status read_throttle(RespArguments arguments, RespQuestion& asked);

/// One of the RATEL commands: its verb and which options it knows.
struct RatelVerb {
  std::string_view name;  // upper case
  Verb verb;
  bool takes_cost = false;
  bool takes_at_most = false;
  bool takes_violated = false;
  bool takes_max_wait = false;
  bool takes_id = false;
  bool takes_ttl = false;
};

/// `name RULE key [id] [options]`, where RULE is `rule[,rule...]` or `LIMIT text`. `randomness` makes the id of a lease
/// that was given none. REQUIRES: 3 arguments with the name.
Status read_ratel(const RatelVerb& verb, RespArguments arguments, Resolver& resolver, Randomness& randomness,
                  RespQuestion& asked);

/// Counts an answered question.
void count_answer(const RespQuestion& asked);

/// The reply to an answered question.
void write_answer(const RespQuestion& asked, std::string& output);

/// Whether two words are the same but for the case of ASCII letters.
bool same_word(std::string_view one, std::string_view other);
/// A decimal 64-bit integer, perhaps signed, and nothing else.
bool read_integer(std::string_view text, std::int64_t& value);
/// `ERR wrong number of arguments for 'x' command`, without `ERR `. The name is written in lower case.
std::string wrong_arity(std::string_view command);

}  // namespace ratel
