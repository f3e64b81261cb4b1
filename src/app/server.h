#pragma once
// The object graph of `ratel serve`.

#include "app/settings.h"

namespace ratel {

/// Loads the rules, listens, and serves until SIGTERM or SIGINT has drained it. What stops it from starting is one line
/// on standard error. Returns the exit code: 0 after a drain, 1 for a failure at run time (a port in use), 2 for rules
/// that cannot be used. Called once, from main's thread.
int run_server(const Settings& settings);

}  // namespace ratel
