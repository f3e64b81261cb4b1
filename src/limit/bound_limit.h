#pragma once
// A limit with its identity: which counter it is, for any key.

#include <string>
#include <string_view>

#include "limit/limit.h"

namespace ratel {

/// Two questions meet the same counter exactly when identity and key are equal bytes. Never made of a limit's numbers,
/// but for windows of the period, and for a limit given in the question of its canonical text.
struct BoundLimit {
  Limit limit;
  std::string identity;
  std::string label;  // as answers name it: `login`, `api#2`, `api#daily`, or the canonical text
};

/// The identity of a rule's limit. `which` is the limit's name, else its place from 1. Fields are length-prefixed, so
/// no two different tuples can ever give the same bytes.
std::string rule_identity(std::string_view rule, std::string_view which, const Limit& limit);
/// The identity of a limit given in the question.
std::string adhoc_identity(std::string_view canonical_text, const Limit& limit);
/// The space of CL.THROTTLE, identified by the key alone.
std::string_view throttle_identity();
/// Of what is asked only to see whether a store decides: so much that it is never denied, and so fast that it leaves
/// nothing behind. Its counters are nobody else's.
BoundLimit probe_limit();
/// Of the leases that processes hold which share a store: more than there will ever be.
BoundLimit heartbeat_limit();

}  // namespace ratel
