#pragma once
// The target of a request: path and query parameters. Pure; any thread.

#include <optional>
#include <string>
#include <string_view>

namespace ratel {

struct RequestTarget {
  std::string_view authority;  // of `http://host/path`, which proxies send; else empty
  std::string_view path;       // still percent-encoded; `/` where an absolute form has none
  std::string_view query;      // without its `?`
};

/// Splits `/path?query` and `http://host/path?query`.
RequestTarget split_target(std::string_view target);

/// Appends `text` decoded as a form's value: `%41` is `A`, `+` a space. False when a `%` is not followed by two hex
/// digits.
bool append_form_decoded(std::string_view text, std::string& out);

/// The next `name=value` of a query, still encoded, taken from its front; nothing at the end. Empty ones are passed
/// over.
struct QueryParameter {
  std::string_view name;
  std::string_view value;
};
std::optional<QueryParameter> next_parameter(std::string_view& query);

}  // namespace ratel
