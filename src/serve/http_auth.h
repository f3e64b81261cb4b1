#pragma once
// /v1/auth, where a proxy asks before it passes a request on: a query becomes a question, its answer a status and
// headers. Belongs to one event loop.

#include <string>
#include <string_view>

#include "gate/gate.h"
#include "serve/http_question.h"
#include "wire/http_parser.h"

namespace ratel {

/// What of the query says how to answer.
struct AuthReply {
  bool deny_403 = false;  // nginx's auth_request takes only 2xx, 401 and 403 for an answer
  HeaderStyle headers = HeaderStyle::kRateLimit;
};

struct AuthSettings {
  int trusted_hops = 0;
  HeaderStyle adhoc_headers = HeaderStyle::kRateLimit;  // of a limit given in the query
};

/// Resolves and prepares the question of `rule` or `limit`, `key` (an address from X-Forwarded-For when it is `ip` or
/// left out), `cost` and `deny`, or sets `item.problem`. Parameters are form-encoded; unknown and repeated ones are
/// refused.
AuthReply read_auth(std::string_view query, const HttpHead& head, const AuthSettings& settings, Gate& gate,
                    Resolver& resolver, HttpItem& item);

/// 200; 429, or 403 where only that is understood; 403 also for what no waiting makes fit, which 429 and any client's
/// retries would hide; 503 when the store's failure denied.
int auth_status(const Decision& decision, const AuthReply& reply);

/// The header lines of an answer, each with its CRLF.
void append_auth_headers(const HttpItem& item, const AuthReply& reply, std::string& out);

/// The body of a denial.
void write_auth_denial(const HttpItem& item, int status, JsonWriter& json);

}  // namespace ratel
