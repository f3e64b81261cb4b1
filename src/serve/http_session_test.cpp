// A connection: requests in any pieces, and what each is answered.

#include "serve/http_session.h"

#include <gmock/gmock.h>

#include "serve/http_testing.h"

namespace ratel {
namespace {

using testing::HasSubstr;
using Waiting = Session::Waiting;

constexpr std::string_view kQuestion = R"({"limit":"5/min","key":"u"})";

TEST(HttpSession, AnswersWhateverThePieces) {
  const std::string requests = post("/v1/allow", kQuestion) + get("/healthz") + post("/v1/allow", kQuestion) +
                               get("/nothing") + post("/v1/allow", "[" + std::string(kQuestion) + "]") +
                               get("/v1/auth?limit=5/min&key=u") + post("/v1/allow", "broken") +
                               get("/healthz", "", "HEAD");
  HttpBench whole;
  const std::string expected = whole.send(requests);
  EXPECT_EQ(read_responses(expected.substr(0, expected.rfind("HTTP/1.1"))).size(), 7u);
  HttpBench bench;
  for (std::size_t i = 1; i < requests.size(); ++i) {
    bench.store = HeldStore();
    const std::string first = bench.send(requests.substr(0, i));
    EXPECT_EQ(first + bench.send(requests.substr(i)), expected) << i;
  }
  bench.store = HeldStore();
  std::string answered;
  for (const char byte : requests) answered += bench.send({&byte, 1});
  EXPECT_EQ(answered, expected);
  EXPECT_EQ(bench.session->waiting(), Waiting::kIdle);
}

TEST(HttpSession, SaysWhatIsHere) {
  HttpBench bench;
  struct Case {
    std::string_view path;
    std::string_view content_type;
    std::string_view body;
  };
  const Case cases[] = {
      {"/healthz", "text/plain; charset=utf-8", "ok\n"},
      {"/readyz", "text/plain; charset=utf-8", "ready\n"},
      {"/metrics", "text/plain; version=0.0.4; charset=utf-8", "ratel_up 1\n"},
      {"/", "text/html; charset=utf-8", "<!doctype html>"},
  };
  for (const Case& c : cases) {
    const HttpResponse response = bench.run(get(c.path));
    EXPECT_EQ(response.status, 200) << c.path;
    EXPECT_EQ(response.header("Content-Type"), c.content_type) << c.path;
    EXPECT_EQ(response.header("Date"), "Thu, 02 Oct 2025 10:13:20 GMT") << c.path;
    EXPECT_THAT(response.body, testing::StartsWith(std::string(c.body))) << c.path;
    const HttpResponse head = bench.run(get(c.path, "", "HEAD"));
    EXPECT_EQ(head.head, response.head) << c.path;
    EXPECT_EQ(head.body, "") << c.path;
  }
  bench.why_not_ready = "the store cannot be reached";
  const HttpResponse response = bench.run(get("/readyz"));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.body, "the store cannot be reached\n");
  EXPECT_EQ(bench.run(get("/healthz")).status, 200);
}

TEST(HttpSession, RefusesARequestAndKeepsTheConnection) {
  struct Case {
    std::string request;
    int status;
    std::string_view detail;
    std::string_view header = {};
    std::string_view value = {};
  };
  const std::string body(kQuestion);
  const std::string json = "Content-Type: application/json\r\n";
  const auto raw = [&](const std::string& line, const std::string& headers, const std::string& content = "") {
    return line + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n" + content;
  };
  const Case cases[] = {
      {get("/v1/alow"), 404, "did you mean /v1/allow?"},
      {get("/nothing"), 404, "there is nothing at this path\""},
      {get("/v1/allow/"), 404, "did you mean /v1/allow?"},
      {get("//v1/allow"), 404, ""},
      {get("/v1/allow"), 405, "this path is for POST", "Allow", "POST, OPTIONS"},
      {post("/healthz", body), 405, "this path is for GET", "Allow", "GET, HEAD, OPTIONS"},
      {get("/v1/auth", "", "DELETE"), 405, "", "Allow", "GET, POST, HEAD, OPTIONS"},
      {get("/", "", "FROB"), 501, "the method is not known"},
      {raw("POST /v1/allow", json), 411, "a body has a length"},
      {raw("POST /v1/allow", "Content-Length: 2\r\n", "{}"), 415, "application/json"},
      {raw("POST /v1/allow", "Content-Type: text/plain\r\nContent-Length: 2\r\n", "{}"), 415, ""},
      {raw("POST /v1/allow", "Content-Type: application/jsonx\r\nContent-Length: 2\r\n", "{}"), 415, ""},
      {raw("POST /v1/allow", "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 2\r\n", "{}"), 415,
       ""},
      {post("/v1/allow?rule=login", body), 400, "belongs in the body"},
      {post("/v1/allow", body, "Sec-Fetch-Site: cross-site\r\n"), 403, "of another site"},
      {post("/v1/allow", body, "Origin: http://evil.example\r\n"), 403, "of another site"},
      {"GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421, "not a name of this server"},
      {"GET http://evil.example/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 421, "`evil.example`"},
  };
  HttpBench bench;
  for (const Case& c : cases) {
    const HttpResponse response = bench.run(c.request);
    EXPECT_EQ(response.status, c.status) << c.request;
    EXPECT_THAT(response.body, HasSubstr("\"status\":" + std::to_string(c.status))) << c.request;
    EXPECT_THAT(response.body, HasSubstr(c.detail)) << c.request;
    EXPECT_EQ(response.header("Content-Type"), "application/problem+json") << c.request;
    if (!c.header.empty()) {
      EXPECT_EQ(response.header(c.header), c.value) << c.request;
    }
    EXPECT_FALSE(bench.session->finished()) << c.request;
  }
  // Nothing of all that was asked.
  EXPECT_THAT(bench.ask("/v1/peek", kQuestion), HasSubstr(R"("remaining":5)"));
  EXPECT_GT(bench.metrics.rejections(Rejected::kForbiddenOrigin), 0u);
  EXPECT_GT(bench.metrics.rejections(Rejected::kUnknownCommand), 0u);
}

TEST(HttpSession, AcceptsWhatIsUnusualAndRight) {
  HttpBench bench({.allowed_hosts = {"ratel.internal"}});
  const std::string body(kQuestion);
  const std::string cases[] = {
      "POST /v1/allow HTTP/1.1\r\nHost: localhost\r\ncontent-type: Application/JSON; charset=utf-8\r\n"
      "Content-Length: 27\r\n\r\n" +
          body,
      "POST /v1/peek HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: "
      "chunked\r\n\r\n"
      "1b\r\n" +
          body + "\r\n0\r\n\r\n",
      "POST http://localhost/v1/peek HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 27\r\n\r\n" +
          body,
      "POST /v1/peek HTTP/1.0\r\nContent-Type: application/json\r\nConnection: keep-alive\r\nContent-Length: "
      "27\r\n\r\n" +
          body,
      "GET /metrics HTTP/1.1\r\nHost: ratel.internal:8080\r\n\r\n",
      "\r\nGET /metrics HTTP/1.1\r\nHost: [::1]:8080\r\nSec-Fetch-Site: same-origin\r\nOrigin: "
      "http://[::1]:8080\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n",
      "GET /healthz HTTP/1.1\r\nHost: pod-7.example\r\n\r\n",
      "GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nxyz",
  };
  for (const std::string& request : cases) EXPECT_EQ(bench.run(request).status, 200) << request;
}

TEST(HttpSession, TellsTheMethodsOfAPath) {
  HttpBench bench;
  const HttpResponse response = bench.run(get("/v1/allow", "", "OPTIONS"));
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(response.header("Allow"), "POST, OPTIONS");
  EXPECT_EQ(response.header("Content-Length"), "");
  EXPECT_EQ(bench.run(get("*", "", "OPTIONS")).status, 204);
  EXPECT_EQ(bench.run(get("*")).status, 404);
  EXPECT_EQ(bench.run(get("/nothing", "", "OPTIONS")).status, 404);
  // A browser that asks whether a page of another site may: no.
  const std::string preflight = get("/v1/allow", "Origin: http://evil.example\r\n", "OPTIONS");
  const HttpResponse refused = bench.run(preflight);
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.head, testing::Not(HasSubstr("Access-Control")));
}

TEST(HttpSession, AsksForTheToken) {
  HttpBench bench({.token = "secret"});
  for (const std::string_view path : {"/v1/auth?limit=1/s&key=u", "/metrics", "/", "/nothing"}) {
    const HttpResponse response = bench.run(get(path));
    EXPECT_EQ(response.status, 401) << path;
    EXPECT_EQ(response.header("WWW-Authenticate"), "Bearer realm=\"ratel\"") << path;
    EXPECT_EQ(bench.run(get(path, "Authorization: Bearer guess\r\n")).status, 401) << path;
    EXPECT_NE(bench.run(get(path, "Authorization: Bearer secret\r\n")).status, 401) << path;
    EXPECT_NE(bench.run(get(path, "X-Ratel-Token: secret\r\nAuthorization: Basic dTpw\r\n")).status, 401) << path;
  }
  EXPECT_EQ(bench.run(get("/healthz")).status, 200);
  EXPECT_EQ(bench.run(get("/readyz")).status, 200);
  EXPECT_EQ(bench.run(post("/v1/allow", kQuestion)).status, 401);
  EXPECT_EQ(bench.metrics.rejections(Rejected::kUnauthorized), 9u);
}

TEST(HttpSession, ClosesOnWhatItCannotRead) {
  struct Case {
    std::string request;
    int status;
  };
  const Case cases[] = {
      {"hello\r\n\r\n", 400},
      {"\x16\x03\x01", 400},
      {"GET / HTTP/3.0\r\n\r\n", 505},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET /" + std::string(kHttpRequestLineBytesMax, 'x'), 414},
      {"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(kHttpHeadBytesMax, 'x'), 431},
      {"POST /v1/allow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048577\r\n\r\n", 413},
      {"POST /v1/allow HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
      {"POST /v1/allow HTTP/1.1\r\nHost: localhost\r\nExpect: magic\r\n\r\n", 417},
  };
  for (const Case& c : cases) {
    HttpBench bench;
    // What follows must not be taken for a request.
    const HttpResponse response = bench.run(c.request + get("/healthz"));
    EXPECT_EQ(response.status, c.status) << c.request.substr(0, 60);
    EXPECT_EQ(response.header("Connection"), "close") << c.request.substr(0, 60);
    EXPECT_TRUE(bench.session->finished()) << c.request.substr(0, 60);
    EXPECT_FALSE(bench.session->wants_input()) << c.request.substr(0, 60);
    EXPECT_EQ(bench.send(get("/healthz")), "") << c.request.substr(0, 60);
  }
}

TEST(HttpSession, ClosesWhenTheClientWantsIt) {
  struct Case {
    std::string request;
    std::string_view connection;
    bool finished;
  };
  const Case cases[] = {
      {get("/healthz"), "", false},
      {get("/healthz", "Connection: close\r\n"), "close", true},
      {"GET /healthz HTTP/1.0\r\n\r\n", "close", true},
      {"GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "keep-alive", false},
  };
  for (const Case& c : cases) {
    HttpBench bench;
    const HttpResponse response = bench.run(c.request);
    EXPECT_EQ(response.header("Connection"), c.connection) << c.request;
    EXPECT_EQ(bench.session->finished(), c.finished) << c.request;
  }
}

TEST(HttpSession, SaysContinueOnlyToWhoWaitsForIt) {
  const std::string expecting = "Expect: 100-continue\r\n";
  const std::string request = post("/v1/allow", kQuestion, expecting);
  const std::string head = request.substr(0, request.size() - kQuestion.size());
  {
    HttpBench bench;
    EXPECT_EQ(bench.send(head), kHttpContinue);
    EXPECT_EQ(bench.session->waiting(), Waiting::kMessage);
    EXPECT_EQ(bench.run(kQuestion).status, 200);
  }
  {
    HttpBench bench;
    EXPECT_EQ(bench.run(request).status, 200) << "the body came along";
  }
  {
    HttpBench bench;
    const HttpResponse response = bench.run(post("/nothing", "", "X: y\r\n" + expecting));
    EXPECT_EQ(response.status, 404);
    EXPECT_EQ(response.header("Connection"), "close") << "the body is not waited for";
    EXPECT_TRUE(bench.session->finished());
  }
  {
    HttpBench bench;
    const std::string old = "POST /v1/allow HTTP/1.0\r\nContent-Type: application/json\r\n" + expecting;
    EXPECT_EQ(bench.send(old + "Content-Length: 27\r\n\r\n"), "") << "HTTP/1.0 knows no 100";
    EXPECT_EQ(bench.run(kQuestion).status, 200);
  }
  {
    // Behind a response that is still owed, 100 waits for its turn.
    HttpBench bench;
    bench.store.is_late = true;
    EXPECT_EQ(bench.send(post("/v1/allow", kQuestion) + head), "");
    bench.store.answer();
    const std::string output = bench.take();
    EXPECT_THAT(output, testing::StartsWith("HTTP/1.1 200 OK"));
    EXPECT_THAT(output, testing::EndsWith(std::string(kHttpContinue)));
  }
  {
    // Who sends the body all the same needs no 100 any more.
    HttpBench bench;
    bench.store.is_late = true;
    EXPECT_EQ(bench.send(post("/v1/allow", kQuestion) + head), "");
    EXPECT_EQ(bench.send(kQuestion), "");
    bench.store.answer();
    bench.store.answer();
    EXPECT_EQ(read_responses(bench.take()).size(), 2u);
  }
}

}  // namespace
}  // namespace ratel
