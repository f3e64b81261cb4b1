#pragma once
// The page at `/`, for a person who looks what is listening here. Immutable; any thread.

#include <string_view>

namespace ratel {

std::string_view http_page();
/// Nothing but itself: no script, no other address, no frame around it.
std::string_view http_page_headers();

}  // namespace ratel
