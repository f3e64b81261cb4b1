#pragma once
// The one question of `ratel ask`: as RESP, and its answer as a line for people. Pure.

#include <string>
#include <string_view>

#include "wire/resp_reply.h"

namespace ratel {

struct AskedQuestion {
  std::string rule;   // `rule[,rule...]`; empty: `limit` is asked
  std::string limit;  // as in `5/min burst 10`
  std::string key;
  std::string cost = "1";  // the server judges it
  bool peek = false;
};

/// A command of RESP.
std::string format_question(const AskedQuestion& question);

/// What `ratel ask` prints, and what its exit code says.
struct AskedAnswer {
  enum class Verdict { kAllowed, kDenied, kNone };
  Verdict verdict = Verdict::kNone;
  std::string line;
};
AskedAnswer describe_answer(const RespReply& reply);

}  // namespace ratel
