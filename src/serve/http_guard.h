#pragma once
// Who may ask over HTTP: names that are the server's own, no web page of another site, and whoever knows the token.
//
// A server on loopback is not private to a browser: any page can make it send requests there, and a page whose name is
// made to resolve to 127.0.0.1 can read the answers. Pure; any thread.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "serve/http_problem.h"
#include "serve/http_routes.h"
#include "wire/http_parser.h"

namespace ratel {

/// Whether a Host header names this server: `localhost`, any address (a page cannot make a browser send one that is not
/// in its own URL), or one of `allowed`, with or without a port.
bool is_own_host(std::string_view host, std::span<const std::string> allowed);

/// Whether a browser says that the page of another site sent this.
bool is_cross_site(const HttpHead& head, std::string_view host);

/// Whether the request carries the token, in `Authorization: Bearer` or `X-Ratel-Token`.
bool has_token(const HttpHead& head, std::string_view token);

/// The first reason to answer nothing else. `host` is that of the request's target or Host header.
std::optional<Problem> check_guards(const HttpHead& head, std::string_view host, const HttpRoute* route,
                                    std::span<const std::string> allowed_hosts, std::string_view token);

}  // namespace ratel
