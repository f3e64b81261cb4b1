// /v1/auth: what a proxy is answered.

#include "serve/http_auth.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include "serve/http_testing.h"

namespace ratel {
namespace {

using testing::HasSubstr;

HttpBenchOptions with_rules() {
  return {.rules = R"(
rules:
  login: {limit: 5/min}
  client: {limit: 2/min, key: ip}
  wide: {limit: 2/min, key: ip, ipv6_prefix: 48}
  old: {limit: 5/min, headers: x-ratelimit}
  quiet: {limit: 5/min, headers: none}
  watch: {limit: 1/min, shadow: true}
  closed: {limit: 0/min}
  slots: {limit: 2 concurrent}
)"};
}

std::string forwarded(std::string_view addresses) {
  return "X-Forwarded-For: " + std::string(addresses) + "\r\n";
}

TEST(HttpAuth, AnswersInStatusAndHeaders) {
  HttpBench bench(with_rules());
  struct Case {
    std::string_view query;
    int status;
    std::string_view policy;
    std::string_view limit;
    std::string_view retry_after;
  };
  const Case cases[] = {
      {"rule=login&key=u", 200, "\"login\";q=5;w=60", "\"login\";r=4;t=12", ""},
      {"rule=login&key=u&cost=4", 200, "\"login\";q=5;w=60", "\"login\";r=0;t=60", ""},
      {"rule=login&key=u", 429, "\"login\";q=5;w=60", "\"login\";r=0;t=12", "12"},
      {"rule=login&key=u&deny=429", 429, "\"login\";q=5;w=60", "\"login\";r=0;t=12", "12"},
      {"rule=login&key=u&deny=403", 403, "\"login\";q=5;w=60", "\"login\";r=0;t=12", "12"},
      {"key=u&cost=0&rule=login", 200, "\"login\";q=5;w=60", "\"login\";r=0;t=60", ""},
      {"rule=login&key=v&cost=6", 403, "\"login\";q=5;w=60", "\"login\";r=5;t=0", ""},
      {"rule=login&key=v&cost=6&deny=403", 403, "\"login\";q=5;w=60", "\"login\";r=5;t=0", ""},
      {"rule=closed&key=v", 403, "\"closed\";q=0;w=60", "\"closed\";r=0;t=0", ""},
      {"rule=quiet&key=u&cost=5", 200, "", "", ""},
      {"rule=quiet&key=u", 429, "", "", "12"},
      {"rule=watch&key=u", 200, "", "", ""},
      {"rule=login,watch&key=w", 200, "\"login\";q=5;w=60", "\"login\";r=4;t=12", ""},
      {"limit=3/s&key=u", 200, "\"3/s\";q=3;w=1", "\"3/s\";r=2;t=1", ""},
      {"limit=5%2Fmin+burst%2010&key=%F0%9F%A6%A1", 200, "\"5/min burst 10\";q=10;w=120", "\"5/min burst 10\";r=9;t=12",
       ""},
      {"limit=unlimited&key=u", 200, "", "", ""},
  };
  for (const Case& c : cases) {
    const std::string target = "/v1/auth?" + std::string(c.query);
    for (const std::string_view method : {"GET", "HEAD", "POST"}) {
      if (method != "GET" && c.status == 200) continue;  // a denial spends nothing, and may be asked again
      const HttpResponse response = bench.run(get(target, "", method));
      EXPECT_EQ(response.status, c.status) << c.query;
      EXPECT_EQ(response.header("RateLimit-Policy"), c.policy) << c.query;
      EXPECT_EQ(response.header("RateLimit"), c.limit) << c.query;
      EXPECT_EQ(response.header("Retry-After"), c.retry_after) << c.query;
      EXPECT_EQ(response.header("X-Ratel-Source"), "") << c.query;
      EXPECT_EQ(response.body.empty(), c.status == 200 || method == "HEAD") << c.query;
    }
  }
}

TEST(HttpAuth, ExplainsADenialInItsBody) {
  HttpBench bench(with_rules());
  bench.run(get("/v1/auth?rule=login&key=u&cost=5"));
  const HttpResponse denied = bench.run(get("/v1/auth?rule=login&key=u"));
  EXPECT_EQ(denied.header("Content-Type"), "application/problem+json");
  EXPECT_EQ(denied.body, R"({"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",)"
                         R"("title":"Request cannot be satisfied as assigned quota has been exceeded","status":429,)"
                         R"("violated-policies":["login"]})");
  EXPECT_THAT(bench.run(get("/v1/auth?rule=closed&key=u")).body,
              testing::StartsWith(R"({"type":"urn:ratel:never","title":"No waiting makes this fit","status":403,)"));
}

TEST(HttpAuth, SpeaksTheOlderHeaders) {
  HttpBench bench(with_rules());
  const HttpResponse allowed = bench.run(get("/v1/auth?rule=old&key=u&cost=5"));
  EXPECT_EQ(allowed.header("X-RateLimit-Limit"), "5");
  EXPECT_EQ(allowed.header("X-RateLimit-Remaining"), "0");
  EXPECT_EQ(allowed.header("X-RateLimit-Reset"), "60");
  EXPECT_EQ(allowed.header("RateLimit"), "");
  const HttpResponse denied = bench.run(get("/v1/auth?rule=old&key=u"));
  EXPECT_EQ(denied.header("X-RateLimit-Reset"), "12");
  EXPECT_EQ(denied.header("Retry-After"), "12");

  HttpBenchOptions options = with_rules();
  options.adhoc_headers = HeaderStyle::kXRateLimit;
  HttpBench other(std::move(options));
  EXPECT_EQ(other.run(get("/v1/auth?limit=5/min&key=u")).header("X-RateLimit-Remaining"), "4");
  EXPECT_EQ(other.run(get("/v1/auth?rule=login&key=u")).header("X-RateLimit-Remaining"), "");
}

TEST(HttpAuth, MarksWhatIsNotExactOrOnlyWatched) {
  struct Case {
    Source source;
    bool allowed;
    std::string_view query;
    int status;
    std::string_view marked;
    std::string_view type;
  };
  const Case cases[] = {
      {Source::kExact, true, "", 200, "", ""},
      {Source::kDenyCache, false, "", 429, "", "quota-exceeded"},
      {Source::kLocal, true, "", 200, "local", ""},
      {Source::kLocal, false, "", 429, "local", "quota-exceeded"},
      {Source::kFailedOpen, true, "", 200, "failed_open", ""},
      {Source::kFailedClosed, false, "", 503, "failed_closed", "temporary-reduced-capacity"},
      {Source::kFailedClosed, false, "&deny=403", 403, "failed_closed", "temporary-reduced-capacity"},
  };
  for (const Case& c : cases) {
    HttpBench bench(with_rules());
    bench.store.is_late = true;
    EXPECT_EQ(bench.send(get("/v1/auth?rule=login&key=u" + std::string(c.query))), "");
    Answer answer;
    answer.decision = {.allowed = c.allowed,
                       .source = c.source,
                       .limit = 5,
                       .retry_after = std::chrono::microseconds(c.allowed ? 0 : 1)};
    bench.store.held[0].done(answer);
    const auto responses = read_responses(bench.take());
    ASSERT_EQ(responses.size(), 1u);
    EXPECT_EQ(responses[0].status, c.status);
    EXPECT_EQ(responses[0].header("X-Ratel-Source"), c.marked);
    EXPECT_EQ(responses[0].header("Retry-After"), c.allowed ? "" : "1");
    EXPECT_THAT(responses[0].body, HasSubstr(c.type));
  }
  HttpBench bench(with_rules());
  EXPECT_EQ(bench.run(get("/v1/auth?rule=watch&key=u")).header("X-Ratel-Would-Deny"), "");
  EXPECT_EQ(bench.run(get("/v1/auth?rule=watch&key=u")).header("X-Ratel-Would-Deny"), "true");
}

TEST(HttpAuth, RefusesABadQuery) {
  HttpBench bench(with_rules());
  struct Case {
    std::string_view query;
    std::string_view field;
    std::string_view detail;
  };
  const Case cases[] = {
      {"", "rule", "rule or limit is missing"},
      {"key=u", "rule", "rule or limit is missing"},
      {"rule=login&limit=5/min&key=u", "rule", "not both"},
      {"rule=logni&key=u", "rule", "did you mean `login`"},
      {"rule=&key=u", "rule", "unknown rule"},
      {"rule=login,&key=u", "rule", "unknown rule"},
      {"limit=5/mim&key=u", "limit", "5/mim"},
      {"rule=slots&key=u", "", "use ACQUIRE"},
      {"rule=login&key=u&cost=-1", "cost", "a whole number from 0 to 2147483647"},
      {"rule=login&key=u&cost=1.5", "cost", "a whole number"},
      {"rule=login&key=u&cost=2147483648", "cost", "a whole number"},
      {"rule=login&key=u&cost=", "cost", "a whole number"},
      {"rule=login&key=u&cost", "cost", "a whole number"},
      {"rule=login&key=u&deny=200", "deny", "deny must be 429 or 403"},
      {"rule=login&key=u&kost=1", "kost", "there are rule, limit, key, cost, deny"},
      {"rule=login&key=%zz", "key", "two hexadecimal digits"},
      {"rule=%4&key=u", "rule", "two hexadecimal digits"},
      {"rule=client&key=localhost", "rule", "is for IP addresses"},
      // What a key that a proxy did not encode can smuggle in changes no question.
      {"rule=login&cost=5&key=u&cost=0", "cost", "given twice"},
      {"rule=login&key=u&rule=quiet", "rule", "given twice"},
      {"rule=login&key=u&key=v", "key", "given twice"},
      {"rule=login&key=u&limit=1000/s", "rule", "not both"},
  };
  for (const Case& c : cases) {
    const HttpResponse response = bench.run(get("/v1/auth?" + std::string(c.query)));
    EXPECT_EQ(response.status, 400) << c.query;
    EXPECT_THAT(response.body, HasSubstr(c.detail)) << c.query;
    if (!c.field.empty()) {
      EXPECT_THAT(response.body, HasSubstr("\"field\":\"" + std::string(c.field) + "\"")) << c.query;
    }
  }
  EXPECT_EQ(bench.run(get("/v1/auth?rule=login&key=u&cost=5")).status, 200) << "nothing was spent";
  const std::string longest = "/v1/auth?rule=login&key=" + std::string(kKeyBytesMax, 'k');
  EXPECT_EQ(bench.run(get(longest)).status, 200);
  EXPECT_EQ(bench.run(get(longest + "k")).status, 400);
}

TEST(HttpAuth, TakesTheAddressFromTheHeaderThatProxiesWrite) {
  HttpBenchOptions options = with_rules();
  options.trusted_hops = 2;
  HttpBench bench(std::move(options));
  struct Case {
    std::string_view target;
    std::string headers;
    int status;
  };
  const Case cases[] = {
      {"/v1/auth?rule=client&key=ip", forwarded("192.0.2.1, 10.0.0.1"), 200},
      {"/v1/auth?rule=client", forwarded("192.0.2.1, 10.0.0.2"), 200},
      {"/v1/auth?rule=client", forwarded("evil, ::ffff:192.0.2.1") + forwarded("10.0.0.3"), 429},
      {"/v1/auth?rule=client&key=192.0.2.1", "", 429},
      {"/v1/auth?rule=client&key=192.0.2.2", "", 200},
      // Each rule cuts IPv6 as it says; a rule that says nothing gets a /64.
      {"/v1/auth?rule=client,wide", forwarded("2001:db8:1:1::1, 10.0.0.1"), 200},
      {"/v1/auth?rule=client,wide", forwarded("2001:db8:1:2::1, 10.0.0.1"), 200},
      {"/v1/auth?rule=client,wide", forwarded("2001:db8:1:3::1, 10.0.0.1"), 429},
      {"/v1/auth?rule=client", forwarded("2001:db8:1:3::1, 10.0.0.1"), 200},
      {"/v1/auth?limit=1/min", forwarded("2001:db8:1:3::1, 10.0.0.1"), 200},
      {"/v1/auth?limit=1/min", forwarded("2001:db8:1:3::2, 10.0.0.1"), 429},
      {"/v1/auth?limit=1/min&key=2001:db8:1:3::/64", "", 429},
      {"/v1/auth?rule=login,client&cost=2", forwarded("192.0.2.9, 10.0.0.1"), 200},
      {"/v1/auth?rule=login&key=192.0.2.9&cost=4", "", 429},
      // No address, no answer: neither the neighbour's nor nobody's key.
      {"/v1/auth?rule=client", "", 400},
      {"/v1/auth?rule=client", forwarded("192.0.2.1"), 400},
      {"/v1/auth?rule=client", forwarded("unknown, 10.0.0.1"), 400},
      {"/v1/auth?rule=login,nothing", forwarded("192.0.2.1, 10.0.0.1"), 400},
  };
  for (const Case& c : cases) EXPECT_EQ(bench.run(get(c.target, c.headers)).status, c.status) << c.target << c.headers;
}

TEST(HttpAuth, ExplainsWhyTheHeaderIsNotBelieved) {
  HttpBenchOptions options = with_rules();
  options.trusted_hops = 0;
  HttpBench bench(std::move(options));
  const HttpResponse response = bench.run(get("/v1/auth?rule=client", forwarded("192.0.2.1")));
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, HasSubstr("set trusted_hops"));
}

/// Whatever the client writes into the header, its questions meet one counter.
TEST(Invariant44, AClientCannotChooseItsCounter) {
  EXPECT_TRUE(rc::check([] {
    HttpBench bench(with_rules());
    for (int i = 0; i < 3; ++i) {
      // As many lines as fit: with the proxy's own and Host, one head holds no more.
      const auto sent = *rc::gen::resize(
          kHttpHeaderLinesMax - 2, rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
                                       "203.0.113.7", "::1", "unknown", "", "198.51.100.1:80", "[::1]:1", "\"", ";")));
      std::string headers;
      for (const std::string& address : sent) headers += forwarded(address + ", " + address);
      const HttpResponse response = bench.run(get("/v1/auth?rule=client", headers + forwarded("198.51.100.1")));
      RC_ASSERT(response.status == (i < 2 ? 200 : 429));
    }
  }));
}

}  // namespace
}  // namespace ratel
