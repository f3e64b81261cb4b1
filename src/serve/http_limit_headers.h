#pragma once
// What a decision tells an HTTP client of its limits: RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-
// headers-10) or X-RateLimit-*, and Retry-After. Pure; any thread.

#include <cstdint>
#include <string>

#include "limit/question.h"
#include "rules/rule_book.h"

namespace ratel {

/// Seconds to name in a header for a wait: rounded up, and at least 1. REQUIRES: wait >= 0.
std::int64_t header_seconds(std::chrono::microseconds wait);

/// Appends the lines of `style`, each with its CRLF; none where every limit is unlimited or of a shadow rule, which
/// says nothing to clients.
///
/// The binding limit stands first in RateLimit-Policy, with its capacity as quota and, as window, the time in which
/// that much comes back. RateLimit and X-RateLimit-* are of the binding limit alone, whose numbers the answer has.
/// Their reset is in seconds from now: until a denied cost would be admitted, else until the limit is as good as new.
void append_limit_headers(const Question& question, const Answer& answer, HeaderStyle style, std::string& out);

/// Retry-After of a denial that waiting ends.
void append_retry_after(const Decision& decision, std::string& out);

}  // namespace ratel
