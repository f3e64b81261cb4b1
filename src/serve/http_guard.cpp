#include "serve/http_guard.h"

#include <algorithm>

#include "base/constant_time.h"
#include "base/ip_address.h"
#include "rules/errors.h"

namespace ratel {
namespace {

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

/// Whether what an origin or the address of a page begins with is `host` over HTTP.
bool is_at(std::string_view url, std::string_view host) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!url.starts_with(scheme)) continue;
    url.remove_prefix(scheme.size());
    return same_word(url.substr(0, url.find_first_of("/?#")), host);
  }
  return false;
}

}  // namespace

bool is_own_host(std::string_view host, std::span<const std::string> allowed) {
  std::string_view name = host;
  if (const std::size_t colon = host.rfind(':'); !host.ends_with(']') && colon != std::string_view::npos) {
    name = host.substr(0, colon);
  }
  if (same_word(name, "localhost") || name == "127.0.0.1") return true;
  for (const std::string& own : allowed) {
    if (same_word(name, own) || same_word(host, own)) return true;
  }
  return is_ip_address(host);
}

bool is_cross_site(const HttpHead& head, std::string_view host) {
  // The page on another port of the same machine is same-site, and still another's.
  if (!head.fetch_site.empty() && head.fetch_site != "same-origin" && head.fetch_site != "none") return true;
  return !head.origin.empty() && !is_at(head.origin, host);
}

bool has_token(const HttpHead& head, std::string_view token) {
  constexpr std::string_view kBearer = "bearer ";
  std::string_view given = head.authorization;
  if (same_word(given.substr(0, kBearer.size()), kBearer)) {
    given.remove_prefix(kBearer.size());
  } else {
    given = {};
  }
  // Both are always compared, so that time tells nothing of either.
  const bool by_bearer = equal_in_constant_time(token, given);
  const bool by_header = equal_in_constant_time(token, head.token);
  return by_bearer || by_header;
}

std::optional<Problem> check_guards(const HttpHead& head, std::string_view host, const HttpRoute* route,
                                    std::span<const std::string> allowed_hosts, std::string_view token) {
  if (route != nullptr && route->is_open()) return std::nullopt;
  // HTTP/1.0 need not name a host, and no browser speaks it.
  if (!(head.http_1_0 && host.empty()) && !is_own_host(host, allowed_hosts)) {
    return Problem{.status = 421,
                   .detail = quote(host) + " is not a name of this server; allowed_hosts adds names",
                   .field = "Host"};
  }
  // A proxy hands on what a browser told it about the page it protects. No page can make a browser send
  // X-Forwarded-For here: that takes a preflight, which is not granted. A link to the start page may stand anywhere.
  const bool is_auth = route != nullptr && route->kind == HttpRoute::Kind::kAuth;
  const bool asked_by_proxy = is_auth && !head.forwarded_for.empty();
  const bool is_page = route != nullptr && route->kind == HttpRoute::Kind::kPage;
  // A GET takes tokens there. Of an image that a page shows from an address beyond loopback, without TLS, browsers send
  // neither mark; only the page.
  const bool referred = is_auth && !head.referer.empty() && !is_at(head.referer, host);
  if (!asked_by_proxy && !is_page && (referred || is_cross_site(head, host))) {
    return Problem{.status = 403, .detail = "a web page of another site sent this request"};
  }
  if (!token.empty() && !has_token(head, token)) {
    return Problem{.status = 401,
                   .detail = "the token is missing or wrong: send it as `Authorization: Bearer` or `X-Ratel-Token`",
                   .headers = "WWW-Authenticate: Bearer realm=\"ratel\"\r\n"};
  }
  return std::nullopt;
}

}  // namespace ratel
