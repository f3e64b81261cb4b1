#pragma once
// The paths that ratel answers over HTTP, as a table. Immutable; any thread.

#include <span>
#include <string_view>

#include "limit/question.h"
#include "wire/http_parser.h"
#include "wire/json_reader.h"

namespace ratel {

struct HttpRoute {
  enum class Kind : std::uint8_t { kAsk, kAuth, kHealth, kReady, kMetrics, kPage };

  std::string_view path;
  Kind kind;
  std::string_view allow;  // the methods, as an Allow header names them
  Verb verb = Verb::kAllow;
  std::span<const JsonField> fields = {};  // of kAsk

  /// Answered to whoever asks: no token, and no guard against browsers, which learn nothing here.
  bool is_open() const { return kind == Kind::kHealth || kind == Kind::kReady; }
  bool allows(HttpMethod method) const;
};

/// Where the values of a question's fields are put.
enum HttpField : std::size_t { kRule, kLimit, kKey, kCost, kAtMost, kMaxWait, kLeaseId, kTtl };

std::span<const HttpRoute> http_routes();
/// nullptr when there is none of this path.
const HttpRoute* find_http_route(std::string_view path);
/// The path that a misspelt one is nearest to; empty when none is near.
std::string_view nearest_http_path(std::string_view path);

}  // namespace ratel
