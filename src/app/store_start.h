#pragma once
// What the start of a server says of its store, beside whether it decides.

#include "app/settings.h"
#include "base/clock.h"
#include "observe/log.h"

namespace ratel {

/// Takes what a first question came to, and returns that, or the error that the store's user lacks rights, and which:
/// of them this says more than the question did, and rules that need others may come later. Of a store that decides it
/// warns in the log where a server evicts counters or has no bound to its memory; that it may not be asked is an info.
/// Takes some seconds at most. REQUIRES: settings.store
Status examine_store(const Settings& settings, Status decides, const Clock& clock, Log& log);

}  // namespace ratel
