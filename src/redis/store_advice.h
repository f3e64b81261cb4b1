#pragma once
// What to change when a store does not decide, from what went wrong in words: those of servers, of the system and of
// links. Pure; any thread.

#include <string>
#include <string_view>

#include "redis/store_url.h"

namespace ratel {

/// Empty where nothing better is known than the error itself.
std::string_view store_advice(std::string_view error, StoreUrl::Topology topology);

/// The error and the advice, on one line.
std::string with_store_advice(std::string_view error, StoreUrl::Topology topology);

}  // namespace ratel
