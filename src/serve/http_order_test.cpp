// A connection whose answers come late, whose peer is slow, and every way it ends.

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include "serve/http_testing.h"
#include "wire/buffer.h"

namespace ratel {
namespace {

using testing::HasSubstr;
using Waiting = Session::Waiting;

constexpr std::string_view kQuestion = R"({"limit":"5/min","key":"u"})";

/// What a test needs to know a response again: its limits, or what it is.
std::string summary(const HttpResponse& response) {
  if (response.body == "ok\n") return "health;";
  if (response.status == 400) return "bad;";
  std::string limits;
  constexpr std::string_view kName = "\"limit\":";
  for (std::size_t at = 0; (at = response.body.find(kName, at)) != std::string::npos; ++at) {
    const std::size_t begin = at + kName.size();
    limits += response.body.substr(begin, response.body.find(',', begin) - begin) + ",";
  }
  return limits + ";";
}

TEST(HttpOrder, KeepsResponsesInOrderWhenAnswersAreLate) {
  EXPECT_TRUE(rc::check([] {
    HttpBench bench;
    bench.store.is_late = true;
    const int requests = *rc::gen::inRange(1, 8);
    std::string expected;
    std::string output;
    std::size_t held = 0;
    for (int i = 0; i < requests; ++i) {
      const std::string limit = std::to_string(10 + i);
      switch (*rc::gen::inRange(0, 4)) {
        case 0:
          output += bench.send(post("/v1/allow", "{\"key\":\"u\",\"limit\":\"" + limit + "/min\"}"));
          expected += limit + ",;";
          held += 1;
          break;
        case 1:
          output += bench.send(post("/v1/allow", R"([{"limit":"5/min","key":1},{"limit":"7/min","key":"b"},{"key":"c",)"
                                                 R"("limit":")" +
                                                     limit + R"(/s"}])"));
          expected += "7," + limit + ",;";
          held += 2;
          break;
        case 2:
          output += bench.send(get("/healthz"));
          expected += "health;";
          break;
        default:
          output += bench.send(post("/v1/allow", "{}"));
          expected += "bad;";
      }
      RC_ASSERT(bench.store.held.size() == held);
    }
    // The answers come in any order.
    while (!bench.store.held.empty()) {
      bench.store.answer(*rc::gen::inRange<std::size_t>(0, bench.store.held.size()));
      output += bench.take();
    }
    std::string seen;
    for (const HttpResponse& response : read_responses(output)) seen += summary(response);
    RC_ASSERT(seen == expected);
    RC_ASSERT(bench.session->waiting() == Waiting::kIdle);
  }));
}

TEST(HttpOrder, WakesItsShellWhenALateAnswerHasCome) {
  HttpBench bench;
  bench.store.is_late = true;
  EXPECT_EQ(bench.send(post("/v1/allow", kQuestion) + post("/v1/allow", kQuestion)), "");
  EXPECT_EQ(bench.session->waiting(), Waiting::kAnswer);
  EXPECT_EQ(bench.wakes, 0);
  bench.store.answer(1);
  EXPECT_EQ(bench.take(), "");
  EXPECT_EQ(bench.wakes, 0) << "there is nothing to send yet";
  bench.store.answer(0);
  EXPECT_EQ(bench.wakes, 1);
  EXPECT_EQ(read_responses(bench.take()).size(), 2u);
  EXPECT_EQ(bench.metrics.decisions(kAdhocSeries, Outcome::kAllowed, Source::kExact), 2u);
}

TEST(HttpOrder, MayBeGoneWhenTheAnswerComes) {
  HttpBench bench;
  bench.store.is_late = true;
  bench.send(post("/v1/allow", "[" + std::string(kQuestion) + "," + std::string(kQuestion) + "]") + get("/healthz") +
             post("/v1/allow", kQuestion));
  bench.store.answer(2);
  bench.session.reset();
  bench.store.answer(0);
  bench.store.answer(0);
  EXPECT_EQ(bench.wakes, 0);
  // What it held is used again.
  bench.store.is_late = false;
  bench.connect();
  EXPECT_THAT(bench.ask("/v1/peek", kQuestion), HasSubstr(R"("remaining":2)"));
}

TEST(HttpOrder, StopsReadingAtTheBoundOfUnsentOutput) {
  HttpBench bench;
  const std::string request = get("/");
  const std::size_t size = bench.send(request).size();
  const std::size_t fitting = kHttpUnsentBytesMax / size + 1;
  std::string all;
  for (std::size_t i = 0; i < fitting + 5; ++i) all += request;
  bench.session->receive(all, bench.clock.now());
  EXPECT_EQ(bench.session->output().size(), fitting * size);
  EXPECT_FALSE(bench.session->wants_input());
  EXPECT_EQ(bench.session->waiting(), Waiting::kAnswer);
  // Nothing more until the shell has sent it.
  bench.session->receive({}, bench.clock.now());
  EXPECT_EQ(bench.session->output().size(), fitting * size);
  bench.take();
  EXPECT_EQ(bench.send({}).size(), 5 * size);
  EXPECT_TRUE(bench.session->wants_input());
}

TEST(HttpOrder, WhatIsHeldIsItsMemory) {
  HttpBench bench;
  std::string pages;
  while (pages.size() < 60'000) pages += get("/");
  bench.session->receive(pages + "GET /hea", bench.clock.now());
  while (!bench.session->wants_input()) {
    EXPECT_GE(bench.session->held(), bench.session->output().capacity());
    bench.take();
    bench.session->receive({}, bench.clock.now());
  }
  bench.take();
  EXPECT_LT(bench.session->held(), kBufferBytesKept) << "the next request has begun, but is small";
  EXPECT_EQ(bench.run("lthz HTTP/1.1\r\nHost: localhost\r\n\r\n").body, "ok\n");
}

TEST(HttpOrder, TextsAreMadeWhenTheirTurnComes) {
  HttpBench bench;
  bench.store.is_late = true;
  std::string all = post("/v1/allow", kQuestion);
  for (std::size_t i = 0; i < 200; ++i) all += get("/metrics") + get("/") + get("/readyz");
  EXPECT_EQ(bench.send(all), "");
  EXPECT_EQ(bench.metrics_made, 0);
  EXPECT_LT(bench.session->held(), kBufferBytesKept);
  bench.why_not_ready = "not now";
  bench.store.answer();
  EXPECT_LT(bench.metrics_made, 200) << "the output has its bound";
  std::string output;
  while (!bench.session->output().empty()) {
    output += bench.take();
    bench.session->receive({}, bench.clock.now());
  }
  const std::vector<HttpResponse> responses = read_responses(output);
  ASSERT_EQ(responses.size(), 601u);
  EXPECT_EQ(responses[598].body, "ratel_up 1\n");
  EXPECT_EQ(responses[600].body, "not now\n");
  EXPECT_EQ(bench.metrics_made, 200);
}

TEST(HttpOrder, TextsOfRequestsUnderWayAreBounded) {
  const std::string key(kKeyBytesMax, 'k');
  const std::string requests[] = {
      post("/v1/allow", R"({"limit":"5/min","key":")" + key + "\"}"),
      get("/v1/auth?limit=5/min&key=" + key),
  };
  for (const std::string& request : requests) {
    HttpBench bench;
    bench.store.is_late = true;
    std::string all;
    for (std::size_t i = 0; i < 200; ++i) all += request;
    EXPECT_EQ(bench.send(all), "");
    EXPECT_FALSE(bench.session->wants_input());
    EXPECT_GE(bench.session->held(), kHttpUnsentBytesMax);
    EXPECT_LE(bench.store.held.size(), kHttpUnsentBytesMax / kKeyBytesMax + 1);
    std::size_t answered = 0;
    while (!bench.store.held.empty()) {
      bench.store.answer();
      answered += read_responses(bench.send({})).size();
    }
    EXPECT_EQ(answered, 200u);
    EXPECT_TRUE(bench.session->wants_input());
    EXPECT_LT(bench.session->held(), 2 * kBufferBytesKept);
  }
}

TEST(HttpOrder, WhatRestsKeepsNoOldRules) {
  HttpBench bench({.rules = "rules: { login: { limit: 5/min } }"});
  const std::weak_ptr<const RuleBook> old = bench.resolver.book();
  const std::string question = R"({"rule":"login","key":"u"})";
  bench.send(post("/v1/allow", "[" + question + "," + question + "]"));
  bench.store.is_late = true;
  bench.send(post("/v1/allow", question) + post("/v1/allow", "[" + question + ",") + post("/v1/allow", question));
  ASSERT_EQ(bench.store.held.size(), 2u);
  bench.use(std::make_shared<const RuleBook>());
  EXPECT_FALSE(old.expired()) << "two questions are still under way";
  bench.store.answer();
  EXPECT_FALSE(old.expired());
  bench.store.answer();
  EXPECT_TRUE(old.expired());
}

TEST(HttpOrder, StopsReadingAtTheBoundOfOwedResponses) {
  const std::string rule(120, 'r');
  const std::string question = R"({"key":"u","rule":")" + rule + R"("})";
  HttpBench bench({.rules = "rules: { " + rule + ": { limit: 5/min } }"});
  bench.store.is_late = true;
  std::string all;
  for (std::size_t i = 0; i < kHttpOwedMax + 3; ++i) all += post("/v1/allow", question);
  EXPECT_EQ(bench.send(all), "");
  EXPECT_EQ(bench.store.held.size(), kHttpOwedMax);
  EXPECT_FALSE(bench.session->wants_input());
  bench.store.answer();
  EXPECT_EQ(read_responses(bench.send({})).size(), 1u);
  EXPECT_EQ(bench.store.held.size(), kHttpOwedMax);
  bench.store.is_late = false;
  while (!bench.store.held.empty()) bench.store.answer(bench.store.held.size() - 1);
  // Late answers fill the output to its bound only, too.
  std::string output;
  while (!bench.session->output().empty()) {
    EXPECT_LE(bench.session->output().size(), kHttpUnsentBytesMax + 1'024);
    output += bench.take();
    bench.session->receive({}, bench.clock.now());
  }
  EXPECT_GT(output.size(), kHttpUnsentBytesMax + 1'024);
  EXPECT_EQ(read_responses(output).size(), kHttpOwedMax + 2);
  EXPECT_TRUE(bench.session->wants_input());
}

TEST(HttpOrder, CountsTheQuestionsOfArraysAsOwed) {
  HttpBench bench;
  bench.store.is_late = true;
  std::string thousand = "[" + std::string(kQuestion);
  for (std::size_t i = 1; i < kHttpQuestionsMax; ++i) thousand += "," + std::string(kQuestion);
  const std::string request = post("/v1/allow", thousand + "]");
  EXPECT_EQ(bench.send(request + request + request), "");
  EXPECT_EQ(bench.store.held.size(), 2 * kHttpQuestionsMax);
  EXPECT_FALSE(bench.session->wants_input());
}

TEST(HttpOrder, OnlyWhoMayAskEndsTheGreeting) {
  const std::string right = "Authorization: Bearer open\r\n";
  struct Case {
    std::string token;
    std::string sent;
    Waiting waiting;
  };
  const Case cases[] = {
      {"", "", Waiting::kGreeting},
      {"", "GET", Waiting::kMessage},
      {"", get("/healthz"), Waiting::kIdle},
      {"open", "", Waiting::kGreeting},
      {"open", "GET", Waiting::kGreeting},
      {"open", get("/healthz"), Waiting::kGreeting},
      {"open", get("/metrics"), Waiting::kGreeting},
      {"open", get("/metrics", "Authorization: Bearer shut\r\n") + "GET", Waiting::kGreeting},
      {"open", get("/metrics", right), Waiting::kIdle},
      {"open", get("/metrics", right) + "GET", Waiting::kMessage},
      {"open", get("/metrics", right) + get("/metrics"), Waiting::kIdle},
  };
  for (const Case& c : cases) {
    HttpBench bench({.token = c.token});
    bench.send(c.sent);
    EXPECT_EQ(bench.session->waiting(), c.waiting) << c.sent;
    // In the middle of a request the peer is told.
    bench.session->expire(bench.clock.now());
    EXPECT_EQ(bench.take().starts_with("HTTP/1.1 408 "), c.sent.ends_with("GET")) << c.sent;
  }
}

TEST(HttpOrder, ThereMayBeNoRoomForMore) {
  for (const bool in_body : {false, true}) {
    HttpBench bench;
    bench.store.is_late = true;
    const std::string begun = in_body ? post("/v1/allow", std::string(100'000, ' ')).substr(0, 90'000)
                                      : "GET /?" + std::string(5'000, 'x');
    bench.send(get("/healthz", {}, "HEAD") + post("/v1/allow", kQuestion) + begun);
    EXPECT_GE(bench.session->held(), in_body ? 80'000u : 5'000u);
    bench.session->shed(bench.clock.now());
    EXPECT_FALSE(bench.session->finished());
    bench.store.answer();
    const std::vector<HttpResponse> responses = read_responses(bench.take());
    ASSERT_EQ(responses.size(), 2u);
    EXPECT_EQ(responses[0].status, 200);
    EXPECT_EQ(responses[1].status, 503);
    EXPECT_EQ(responses[1].header("Retry-After"), "1");
    EXPECT_EQ(responses[1].header("Connection"), "close");
    EXPECT_THAT(responses[1].body, HasSubstr("hold too much"));
    EXPECT_TRUE(bench.session->finished());
  }
}

TEST(HttpOrder, ExpiresASlowSenderWithAWord) {
  struct Case {
    std::string sent;
    int status;
  };
  const Case cases[] = {
      {"", 0},
      {get("/healthz"), 0},
      {"G", 408},
      {"POST /v1/allow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n", 408},
      {"POST /v1/allow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nx", 408},
  };
  for (const Case& c : cases) {
    HttpBench bench;
    bench.send(c.sent);
    EXPECT_EQ(bench.session->waiting() == Waiting::kMessage, c.status != 0) << c.sent;
    bench.session->expire(bench.clock.now());
    const std::string output = bench.take();
    if (c.status == 0) {
      EXPECT_EQ(output, "") << c.sent;
    } else {
      EXPECT_THAT(output, testing::StartsWith("HTTP/1.1 408 Request Timeout\r\n")) << c.sent;
      EXPECT_THAT(output, HasSubstr("Connection: close\r\n")) << c.sent;
    }
    EXPECT_TRUE(bench.session->finished()) << c.sent;
  }
}

TEST(HttpOrder, ASlowSenderIsToldWhyThoughItsLastRequestWasAHead) {
  HttpBench bench;
  bench.send(get("/healthz", "", "HEAD"));
  bench.take();
  bench.send("G");
  bench.session->expire(bench.clock.now());
  EXPECT_THAT(bench.take(), HasSubstr("took too long"));
}

TEST(HttpOrder, DrainsWhatHasArrivedWhole) {
  {
    HttpBench bench;
    bench.session->drain(bench.clock.now());
    EXPECT_TRUE(bench.session->finished()) << "nothing was owed";
  }
  {
    HttpBench bench;
    bench.store.is_late = true;
    bench.send(post("/v1/allow", kQuestion) + post("/v1/allow", kQuestion) + "GET /hea");
    bench.session->drain(bench.clock.now());
    EXPECT_FALSE(bench.session->finished());
    EXPECT_FALSE(bench.session->wants_input());
    bench.store.answer();
    bench.store.answer();
    const auto responses = read_responses(bench.take());
    ASSERT_EQ(responses.size(), 2u);
    EXPECT_EQ(responses[0].header("Connection"), "");
    EXPECT_EQ(responses[1].header("Connection"), "close");
    EXPECT_TRUE(bench.session->finished());
  }
  {
    // Input that was held back is answered, too.
    HttpBench bench;
    bench.store.is_late = true;
    std::string all;
    for (std::size_t i = 0; i < kHttpOwedMax + 2; ++i) all += post("/v1/allow", kQuestion);
    bench.send(all);
    bench.session->drain(bench.clock.now());
    bench.store.is_late = false;
    while (!bench.store.held.empty()) bench.store.answer();
    const auto responses = read_responses(bench.take() + bench.send({}));
    EXPECT_EQ(responses.size(), kHttpOwedMax + 2);
    EXPECT_EQ(responses.back().header("Connection"), "close");
    EXPECT_TRUE(bench.session->finished());
  }
}

TEST(HttpOrder, AnswersWhoHasClosedItsSide) {
  HttpBench bench;
  bench.store.is_late = true;
  bench.send(post("/v1/allow", kQuestion) + "GET /hea");
  bench.session->end_of_input(bench.clock.now());
  EXPECT_FALSE(bench.session->finished());
  bench.store.answer();
  EXPECT_EQ(read_responses(bench.take()).size(), 1u);
  EXPECT_TRUE(bench.session->finished());
}

TEST(HttpOrder, RefusesAConnectionTooMany) {
  HttpBench bench;
  const auto responses = read_responses(bench.refusal());
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].status, 503);
  EXPECT_EQ(responses[0].header("Connection"), "close");
}

TEST(HttpOrder, TakesAnyBytes) {
  EXPECT_TRUE(rc::check([] {
    HttpBench bench;
    const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::oneOf(
        rc::gen::arbitrary<std::string>(),
        rc::gen::element<std::string>("GET ", "POST ", "/v1/allow", "/v1/auth?limit=1/s&key=", " HTTP/1.1\r\n",
                                      "Host: localhost\r\n", "Content-Type: application/json\r\n",
                                      "Content-Length: 2\r\n", "\r\n", "{}", "%", "Transfer-Encoding: chunked\r\n")));
    for (const std::string& piece : pieces) bench.send(piece);
    bench.session->end_of_input(bench.clock.now());
    RC_ASSERT(bench.session->finished());
  }));
}

}  // namespace
}  // namespace ratel
