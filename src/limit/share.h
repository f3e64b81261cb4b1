#pragma once
// What one of several processes may spend of a limit by itself, while they cannot count together. Pure; any thread.

#include "limit/limit.h"

namespace ratel {

/// The limit divided by `processes`: capacity and rate, the capacity never below 1, so that nobody is shut out. All
/// shares together are at most the limit, or one unit a process where there are more processes than units. The state
/// of one number of processes can be read under another.
/// REQUIRES: `whole` is neither unlimited nor a concurrency limit; processes >= 1.
Limit share_of(const Limit& whole, int processes);

}  // namespace ratel
