#include "serve/http_guard.h"

#include <gtest/gtest.h>

#include <vector>

namespace ratel {
namespace {

const std::vector<std::string> kAllowed = {"ratel.internal", "limits.example:8443"};

TEST(HttpGuard, KnowsItsOwnNames) {
  struct Case {
    std::string_view host;
    bool own;
  };
  const Case cases[] = {
      {"localhost", true},
      {"LocalHost:8080", true},
      {"127.0.0.1", true},
      {"127.0.0.1:8080", true},
      {"[::1]:8080", true},
      {"[::1]", true},
      {"10.0.0.7:8080", true},
      {"[2001:db8::7]:8080", true},
      {"ratel.internal", true},
      {"RATEL.internal:8080", true},
      {"limits.example:8443", true},
      {"limits.example", false},
      {"limits.example:1", false},
      {"", false},
      {":8080", false},
      {"evil.example", false},
      {"evil.example:8080", false},
      {"localhost.evil.example", false},
      {"127.0.0.1.evil.example", false},
      {"127.0.0.1@evil.example", false},
      {"evil.example#localhost", false},
      {"notlocalhost", false},
      {"0x7f000001", false},
      {"2130706433", false},
      {"127.1", false},
      {"localhost.", false},
  };
  for (const Case& c : cases) EXPECT_EQ(is_own_host(c.host, kAllowed), c.own) << c.host;
}

TEST(HttpGuard, KnowsPagesOfOtherSites) {
  struct Case {
    std::string_view origin;
    std::string_view fetch_site;
    bool cross;
  };
  const Case cases[] = {
      {"", "", false},
      {"http://localhost:8080", "", false},
      {"https://LOCALHOST:8080", "same-origin", false},
      {"", "none", false},
      {"", "cross-site", true},
      {"", "same-site", true},
      {"", "anything", true},
      {"http://localhost:8080", "cross-site", true},
      {"http://localhost:3000", "", true},
      {"http://localhost", "", true},
      {"http://evil.example", "", true},
      {"http://localhost:8080.evil.example", "", true},
      {"http://localhost:8080@evil.example", "", true},
      {"null", "", true},
      {"localhost:8080", "", true},
      {"file://localhost:8080", "", true},
  };
  for (const Case& c : cases) {
    HttpHead head;
    head.origin = c.origin;
    head.fetch_site = c.fetch_site;
    EXPECT_EQ(is_cross_site(head, "localhost:8080"), c.cross) << c.origin << " " << c.fetch_site;
  }
}

TEST(HttpGuard, TakesTheTokenFromEitherHeader) {
  struct Case {
    std::string_view authorization;
    std::string_view token;
    bool good;
  };
  const Case cases[] = {
      {"Bearer secret", "", true},
      {"bearer secret", "", true},
      {"", "secret", true},
      {"Basic dTpw", "secret", true},
      {"Bearer theirs", "secret", true},
      {"Bearer secret", "wrong", true},
      {"", "", false},
      {"secret", "", false},
      {"Bearer", "", false},
      {"Bearer ", "", false},
      {"Bearer  secret", "", false},
      {"Bearer secrets", "", false},
      {"Bearer SECRET", "", false},
      {"Basic secret", "", false},
      {"", "secre", false},
      {"", "Bearer secret", false},
  };
  for (const Case& c : cases) {
    HttpHead head;
    head.authorization = c.authorization;
    head.token = c.token;
    EXPECT_EQ(has_token(head, "secret"), c.good) << c.authorization << " " << c.token;
  }
}

TEST(HttpGuard, RefusesInThisOrder) {
  HttpHead good;
  good.host = "localhost";
  good.token = "secret";
  HttpHead cross = good;
  cross.fetch_site = "cross-site";
  HttpHead image = good;
  image.referer = "http://evil.example/page";
  HttpHead own = good;
  own.referer = "http://LOCALHOST/?a";
  HttpHead proxied_image = image;
  proxied_image.forwarded_for = "192.0.2.1";
  HttpHead stranger = good;
  stranger.token = "guess";
  HttpHead old = good;
  old.http_1_0 = true;
  HttpHead proxied = cross;
  proxied.forwarded_for = "192.0.2.1";
  struct Case {
    const char* name;
    HttpHead head;
    std::string_view host;
    std::string_view path;
    int status;
  };
  const Case cases[] = {
      {"good", good, "localhost", "/v1/allow", 0},
      {"another name", good, "evil.example", "/v1/allow", 421},
      {"another name, no such path", good, "evil.example", "/nothing", 421},
      {"no name", good, "", "/v1/allow", 421},
      {"no name in HTTP/1.0", old, "", "/v1/allow", 0},
      {"another name in HTTP/1.0", old, "evil.example", "/v1/allow", 421},
      {"cross-site", cross, "localhost", "/v1/allow", 403},
      {"cross-site", cross, "localhost", "/v1/auth", 403},
      {"cross-site", cross, "localhost", "/metrics", 403},
      {"a link to the page", cross, "localhost", "/", 0},
      {"of a page behind a proxy", proxied, "localhost", "/v1/auth", 0},
      {"an image in a page of another site", image, "localhost", "/v1/auth", 403},
      {"an image in a page of another site", image, "10.0.0.1", "/v1/auth", 403},
      {"a page of its own", own, "localhost", "/v1/auth", 0},
      {"an image of a page behind a proxy", proxied_image, "localhost", "/v1/auth", 0},
      {"what a link may open", image, "localhost", "/metrics", 0},
      {"not of auth", proxied, "localhost", "/v1/allow", 403},
      {"token", stranger, "localhost", "/v1/allow", 401},
      {"token", stranger, "localhost", "/", 401},
      {"token", stranger, "localhost", "/metrics", 401},
      {"token", stranger, "localhost", "/nothing", 401},
      {"open", stranger, "evil.example", "/healthz", 0},
      {"open", cross, "10.0.0.1", "/readyz", 0},
  };
  for (const Case& c : cases) {
    const auto problem = check_guards(c.head, c.host, find_http_route(c.path), {}, "secret");
    EXPECT_EQ(problem ? problem->status : 0, c.status) << c.name << " " << c.host << c.path;
  }
}

}  // namespace
}  // namespace ratel
