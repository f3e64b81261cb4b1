#pragma once
// Which ratel this is, as `ratel version` and the start-up line say it. Any thread may ask.

#include <string_view>

namespace ratel {

/// `0.1.0`.
std::string_view version();

/// The commit it was built from, `-changed` after it where the work tree differed; `unknown` without one.
std::string_view revision();

}  // namespace ratel
