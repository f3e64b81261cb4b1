#pragma once
// Which of the addresses in X-Forwarded-For is the client's. Pure; any thread.

#include <string_view>

#include "ratel/result.h"

namespace ratel {

/// The `trusted_hops`-th address from the right: the one that the outermost trusted proxy saw and wrote down. Whatever
/// stands further left was sent by the client, which may say what it likes. `header` holds all lines of the header,
/// joined by commas; empty elements do not count. The view is of `header`.
///
/// Errors, each with an explanation: no trusted hops (then nothing in the header can be believed), fewer addresses than
/// hops, and something that is no address where one must be.
Result<std::string_view> client_address(std::string_view header, int trusted_hops);

}  // namespace ratel
