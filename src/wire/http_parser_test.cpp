#include "wire/http_parser.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace ratel {
namespace {

using Step = HttpParser::Step;

struct Message {
  HttpMethod method;
  std::string target;
  std::string body;
  std::string host;
  std::string content_type;
  std::string authorization;
  std::string token;
  std::string origin;
  std::string fetch_site;
  std::string forwarded_for;
  bool http_1_0;
  bool keep_alive;
  bool expects_continue;
  bool has_length;

  friend bool operator==(const Message&, const Message&) = default;
};

void PrintTo(const Message& m, std::ostream* out) {
  *out << static_cast<int>(m.method) << " " << m.target << " body=" << m.body.substr(0, 40) << " host=" << m.host
       << " type=" << m.content_type << " auth=" << m.authorization << " token=" << m.token << " origin=" << m.origin
       << " site=" << m.fetch_site << " for=" << m.forwarded_for << " " << m.http_1_0 << m.keep_alive
       << m.expects_continue << m.has_length;
}

struct Outcome {
  std::vector<Message> messages;
  int status = 0;        // of the fault, if one
  std::size_t rest = 0;  // bytes left over
  bool within = false;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

void PrintTo(const Outcome& outcome, std::ostream* out) {
  *out << "status " << outcome.status << ", rest " << outcome.rest << (outcome.within ? ", within" : "") << ": "
       << testing::PrintToString(outcome.messages);
}

/// Feeds the pieces as a connection would: what was not consumed comes again.
Outcome parse(const std::vector<std::string_view>& pieces) {
  HttpParser parser;
  Outcome outcome;
  std::string held;
  for (const std::string_view piece : pieces) {
    held += piece;
    // A copy of exact size, so that the sanitizer sees a read beyond the end.
    const std::vector<char> exact(held.begin(), held.end());
    std::string_view bytes(exact.data(), exact.size());
    while (outcome.status == 0) {
      const Step step = parser.parse(bytes);
      if (step == Step::kNeedMore) break;
      if (step == Step::kFault) outcome.status = parser.fault().status;
      if (step != Step::kMessage) continue;
      const HttpHead& head = parser.head();
      outcome.messages.push_back({head.method, std::string(head.target), parser.body(), std::string(head.host),
                                  std::string(head.content_type), std::string(head.authorization),
                                  std::string(head.token), std::string(head.origin), std::string(head.fetch_site),
                                  std::string(head.forwarded_for), head.http_1_0, head.keep_alive,
                                  head.expects_continue, head.has_length});
    }
    held.erase(0, held.size() - bytes.size());
  }
  outcome.rest = outcome.status == 0 ? held.size() : 0;
  outcome.within = parser.within_message();
  return outcome;
}

Outcome parse_one(std::string_view text) {
  return parse({text});
}

/// Whole, split at every place, and byte by byte.
void expect_the_same_however_split(std::string_view text, const Outcome& whole) {
  for (std::size_t i = 0; i <= text.size(); ++i) {
    EXPECT_EQ(parse({text.substr(0, i), text.substr(i)}), whole) << text << " at " << i;
  }
  std::vector<std::string_view> bytes;
  for (std::size_t i = 0; i < text.size(); ++i) bytes.push_back(text.substr(i, 1));
  EXPECT_EQ(parse(bytes), whole) << text;
}

TEST(HttpParser, ReadsWhatASessionNeeds) {
  const Outcome outcome = parse_one(
      "POST /v1/allow?x=1 HTTP/1.1\r\nhOST: localhost:8080\r\nAccept: */*\r\nContent-Type:application/json \r\n"
      "Content-Length: 2\r\nAuthorization: Bearer abc\r\nX-RATEL-token: def\r\nOrigin: http://localhost:8080\r\n"
      "Sec-Fetch-Site: same-origin\r\nX-Forwarded-For: 1.1.1.1, 2.2.2.2\r\nVia: x\r\nx-forwarded-for: 3.3.3.3\r\n"
      "Expect: 100-Continue\r\n\r\n{}");
  ASSERT_EQ(outcome.messages.size(), 1u);
  EXPECT_EQ(outcome.messages[0], (Message{HttpMethod::kPost, "/v1/allow?x=1", "{}", "localhost:8080",
                                          "application/json", "Bearer abc", "def", "http://localhost:8080",
                                          "same-origin", "1.1.1.1, 2.2.2.2,3.3.3.3", false, true, true, true}));
}

TEST(HttpParser, KnowsWhetherAConnectionStays) {
  struct Case {
    std::string_view request;
    bool keep_alive;
  };
  const Case cases[] = {
      {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", true},
      {"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false},
      {"GET / HTTP/1.1\r\nHost: a\r\nConnection: te, close\r\n\r\n", false},
      {"GET / HTTP/1.1\r\nHost:\r\nConnection: Keep-Alive\r\n\r\n", true},
      {"GET / HTTP/1.0\r\n\r\n", false},
      {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true},
  };
  for (const Case& c : cases) {
    const Outcome outcome = parse_one(c.request);
    ASSERT_EQ(outcome.messages.size(), 1u) << c.request;
    EXPECT_EQ(outcome.messages[0].keep_alive, c.keep_alive) << c.request;
    EXPECT_FALSE(outcome.messages[0].has_length) << c.request;
  }
}

TEST(HttpParser, ReadsMethods) {
  struct Case {
    std::string_view name;
    HttpMethod method;
  };
  const Case cases[] = {
      {"GET", HttpMethod::kGet},         {"HEAD", HttpMethod::kHead},    {"POST", HttpMethod::kPost},
      {"OPTIONS", HttpMethod::kOptions}, {"DELETE", HttpMethod::kOther}, {"PUT", HttpMethod::kOther},
      {"FROB", HttpMethod::kUnknown},    {"get", HttpMethod::kUnknown},
  };
  for (const Case& c : cases) {
    const Outcome outcome = parse_one(std::string(c.name) + " /x HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_EQ(outcome.messages.size(), 1u) << c.name;
    EXPECT_EQ(outcome.messages[0].method, c.method) << c.name;
  }
}

TEST(HttpParser, ReadsBodies) {
  struct Case {
    std::string_view rest;
    std::string_view body;
  };
  const Case cases[] = {
      {"Content-Length: 0\r\n\r\n", ""},
      {"Content-Length: 5\r\n\r\nhello", "hello"},
      {"Content-Length: 5, 5\r\n\r\nhello", "hello"},
      {"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ""},
      {"Transfer-Encoding: Chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", "hello"},
      {"Transfer-Encoding: chunked\r\n\r\n3;a=b;c=\"d e\"\r\nhel\r\n02\r\nlo\r\n0;x\r\n\r\n", "hello"},
      {"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nAuthorization: forged\r\nHost: b\r\n\r\n", "hello"},
  };
  for (const Case& c : cases) {
    const std::string request = "POST / HTTP/1.1\r\nHost: a\r\n" + std::string(c.rest);
    const Outcome outcome = parse_one(request);
    ASSERT_EQ(outcome.messages.size(), 1u) << request;
    EXPECT_EQ(outcome.messages[0].body, c.body) << request;
    EXPECT_EQ(outcome.messages[0].host, "a") << request;
    EXPECT_EQ(outcome.messages[0].authorization, "") << request;
    EXPECT_EQ(outcome.rest, 0u) << request;
    expect_the_same_however_split(request, outcome);
  }
}

TEST(HttpParser, ReadsOneMessageBehindTheOther) {
  const std::string one = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nX-Forwarded-For: 1.1.1.1\r\n\r\none";
  const std::string two = "\r\nPOST /b HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n";
  const std::string three = "GET /c HTTP/1.0\r\n\r\n";
  const std::string all = one + two + three + "GE";
  const Outcome outcome = parse_one(all);
  ASSERT_EQ(outcome.messages.size(), 3u);
  EXPECT_EQ(outcome.messages[0].body, "one");
  EXPECT_EQ(outcome.messages[0].forwarded_for, "1.1.1.1");
  EXPECT_EQ(outcome.messages[1].target, "/b");
  EXPECT_EQ(outcome.messages[1].body, "two");
  EXPECT_EQ(outcome.messages[1].forwarded_for, "");
  EXPECT_EQ(outcome.messages[2].host, "");
  EXPECT_EQ(outcome.rest, 2u);
  EXPECT_FALSE(outcome.within);
  expect_the_same_however_split(all, outcome);
}

TEST(HttpParser, RefusesWhatIsMalformed) {
  struct Case {
    std::string_view request;
    int status;
  };
  using namespace std::string_view_literals;
  const Case cases[] = {
      {"\x16\x03\x01\x02", 400},
      {"*1\r\n$4\r\nPING\r\n", 400},
      {" GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/1.1\nHost: a\n\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400},
      {"G", 0},
      {"G\n", 400},
      {"GET\r\n\r\n", 400},
      {"GET /\r\n\r\n", 400},
      {"GET / \r\n\r\n", 400},
      {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
      {"GET / http/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\n\r\n", 505},
      {"GET / HTTP/0.9\r\n\r\n", 505},
      {"GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost:\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n"sv, 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: x\r\nAuthorization: y\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nX-Ratel-Token: x\r\nX-Ratel-Token: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nOrigin: x\r\nOrigin: y\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n\r\n", 417},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1x\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551617\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551615\r\n\r\n", 413},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048577\r\n\r\n", 413},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", 501},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\nab", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\na", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1 \r\na", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n100001\r\na", 413},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\na", 400},
  };
  for (const Case& c : cases) {
    const Outcome outcome = parse_one(c.request);
    EXPECT_EQ(outcome.status, c.status) << c.request;
    EXPECT_TRUE(outcome.messages.empty()) << c.request;
    expect_the_same_however_split(c.request, outcome);
  }
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

/// A request that is just within a bound is read; one byte more is refused, in one piece and in pieces.
TEST(HttpParser, ReachesEveryBound) {
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n";
  const std::string chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const auto pad = [](std::size_t total, const std::string& before, const std::string& after) {
    return before + std::string(total - before.size() - after.size(), 'x') + after;
  };
  struct Case {
    const char* name;
    std::string within;
    std::string beyond;
    int status;
  };
  const std::size_t half = kHttpBodyBytesMax / 2;
  const Case cases[] = {
      {"request line", pad(kHttpRequestLineBytesMax, "GET /", " HTTP/1.1\r\n") + "Host: a\r\n\r\n",
       pad(kHttpRequestLineBytesMax + 1, "GET /", " HTTP/1.1\r\n") + "Host: a\r\n\r\n", 414},
      {"head", pad(kHttpHeadBytesMax, get + "X: ", "\r\n\r\n"), pad(kHttpHeadBytesMax + 1, get + "X: ", "\r\n\r\n"),
       431},
      {"header lines", get + repeated("X: y\r\n", kHttpHeaderLinesMax - 1) + "\r\n",
       get + repeated("X: y\r\n", kHttpHeaderLinesMax) + "\r\n", 431},
      {"body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n" + std::string(kHttpBodyBytesMax, 'b'),
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048577\r\n\r\n" + std::string(kHttpBodyBytesMax + 1, 'b'), 413},
      {"chunked body",
       chunked + "80000\r\n" + std::string(half, 'b') + "\r\n80000\r\n" + std::string(half, 'b') + "\r\n0\r\n\r\n",
       chunked + "80000\r\n" + std::string(half, 'b') + "\r\n80001\r\n" + std::string(half + 1, 'b') + "\r\n0\r\n\r\n",
       413},
      {"chunk extension", chunked + pad(kHttpChunkFrameBytesMax, "1;", "\r\n") + "a\r\n0\r\n\r\n",
       chunked + pad(kHttpChunkFrameBytesMax + 1, "1;", "\r\n") + "a\r\n0\r\n\r\n", 400},
      {"trailers", chunked + pad(kHttpChunkFrameBytesMax, "0\r\nX: ", "\r\n\r\n"),
       chunked + pad(kHttpChunkFrameBytesMax + 1, "0\r\nX: ", "\r\n\r\n"), 400},
  };
  for (const Case& c : cases) {
    for (const std::size_t piece : {std::size_t{1} << 30, std::size_t{4096}, std::size_t{1000}}) {
      const auto outcome_of = [&](const std::string& text) {
        std::vector<std::string_view> pieces;
        for (std::size_t i = 0; i < text.size(); i += piece) pieces.push_back(std::string_view(text).substr(i, piece));
        return parse(pieces);
      };
      const Outcome within = outcome_of(c.within);
      EXPECT_EQ(within.status, 0) << c.name << " " << piece;
      EXPECT_EQ(within.messages.size(), 1u) << c.name << " " << piece;
      EXPECT_EQ(within.rest, 0u) << c.name << " " << piece;
      EXPECT_EQ(outcome_of(c.beyond).status, c.status) << c.name << " " << piece;
    }
  }
}

TEST(HttpParser, NeverHoldsMoreThanABoundOfWhatHasNoEnd) {
  struct Case {
    std::string begin;
    std::size_t bytes_max;
    int status;
  };
  const std::string chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const Case cases[] = {
      {"GET /", kHttpRequestLineBytesMax + 1, 414},
      {"GET / HTTP/1.1\r\nX: ", kHttpHeadBytesMax + 1, 431},
      {chunked + "1;", chunked.size() + kHttpChunkFrameBytesMax + 1, 400},
      {chunked + "0\r\nX: ", chunked.size() + kHttpChunkFrameBytesMax + 1, 400},
  };
  for (const Case& c : cases) {
    const std::string text = c.begin + std::string(2 * kHttpHeadBytesMax, 'x');
    HttpParser parser;
    std::string held;
    std::size_t fed = 0;
    Step step = Step::kNeedMore;
    while (step != Step::kFault && fed < text.size()) {
      held += text[fed++];
      std::string_view bytes = held;
      while ((step = parser.parse(bytes)) == Step::kHead) {
      }
      held.erase(0, held.size() - bytes.size());
    }
    EXPECT_EQ(step, Step::kFault) << c.begin;
    EXPECT_EQ(parser.fault().status, c.status) << c.begin;
    EXPECT_EQ(fed, c.bytes_max) << c.begin;
  }
}

TEST(HttpParser, GivesBackTheMemoryOfALongBody) {
  HttpParser parser;
  const std::string request =
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" + std::string(100'000, 'b');
  std::string_view bytes = request;
  EXPECT_EQ(parser.parse(bytes), Step::kHead);
  EXPECT_EQ(parser.parse(bytes), Step::kMessage);
  EXPECT_EQ(parser.body().size(), 100'000u);
  EXPECT_EQ(parser.parse(bytes), Step::kNeedMore);
  EXPECT_LE(parser.body().capacity(), kHttpBodyKeptBytesMax);
}

TEST(HttpParser, GivesBackTheMemoryOfALongHead) {
  const std::string long_host = "GET / HTTP/1.1\r\nHost: " + std::string(kHttpHeadKeptBytesMax, 'h') + "\r\n\r\n";
  HttpParser parser;
  std::string_view bytes = long_host;
  EXPECT_EQ(parser.parse(bytes), Step::kHead);
  EXPECT_EQ(parser.parse(bytes), Step::kMessage);
  EXPECT_GT(parser.head_memory(), kHttpHeadKeptBytesMax);
  EXPECT_EQ(parser.parse(bytes), Step::kNeedMore);
  EXPECT_LE(parser.head_memory(), kHttpHeadKeptBytesMax);
}

TEST(HttpParser, PassesOverABodyThatNobodyWants) {
  const std::string_view bodies[] = {
      "Content-Length: 5\r\n\r\nhello",
      "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
  };
  for (const std::string_view body : bodies) {
    HttpParser parser;
    const std::string unwanted = "POST /a HTTP/1.1\r\nHost: a\r\n" + std::string(body);
    const std::string both = unwanted + "POST /b HTTP/1.1\r\nHost: a\r\n" + std::string(body);
    std::string_view bytes = both;
    EXPECT_EQ(parser.parse(bytes), Step::kHead);
    parser.discard_body();
    EXPECT_EQ(parser.parse(bytes), Step::kMessage);
    EXPECT_EQ(parser.body(), "");
    EXPECT_EQ(parser.parse(bytes), Step::kHead);
    EXPECT_EQ(parser.head().target, "/b");
    EXPECT_EQ(parser.parse(bytes), Step::kMessage);
    EXPECT_EQ(parser.body(), "hello");
  }
}

}  // namespace
}  // namespace ratel
