// The JSON endpoints: what they answer, and what they refuse.

#include <gmock/gmock.h>

#include "serve/http_testing.h"

namespace ratel {
namespace {

using testing::HasSubstr;

constexpr std::string_view kRules = R"(
rules:
  login: {limit: 5/min}
  api: {limit: [100/s burst 200, {limit: 10/day, name: daily, algorithm: fixed_window}]}
  later: {limit: 1/s, max_wait: 2s}
  slots: {limit: 2 concurrent, lease: 30s}
  watch: {limit: 1/min, shadow: true}
  free: {limit: unlimited}
  client: {limit: 1/min, key: ip}
)";

HttpBenchOptions with_rules() {
  return {.rules = std::string(kRules)};
}

TEST(HttpQuestion, AnswersWithAllFields) {
  HttpBench bench(with_rules());
  EXPECT_EQ(bench.ask("/v1/allow", R"({"rule":"login","key":"u"})"),
            R"({"allowed":true,"limit":5,"remaining":4,"retry_after_ms":0,"reset_after_ms":12000,)"
            R"("source":"exact","rule":"login","violated":[]})");
  EXPECT_EQ(bench.ask("/v1/allow", R"({"rule":"login","key":"u","cost":4})"),
            R"({"allowed":true,"limit":5,"remaining":0,"retry_after_ms":0,"reset_after_ms":60000,)"
            R"("source":"exact","rule":"login","violated":[]})");
  bench.clock.advance_us(1);
  EXPECT_EQ(bench.ask("/v1/allow", R"({"rule":"login","key":"u"})"),
            R"({"allowed":false,"limit":5,"remaining":0,"retry_after_ms":12000,"reset_after_ms":60000,)"
            R"("source":"exact","rule":"login","violated":["login"]})");
}

TEST(HttpQuestion, HasAVerbAPath) {
  HttpBench bench(with_rules());
  struct Case {
    std::string_view path;
    std::string_view question;
    std::string_view answer;
  };
  const Case cases[] = {
      {"/v1/allow", R"({"limit":"5/min burst 10","key":"u","cost":7})",
       R"({"allowed":true,"limit":10,"remaining":3,"retry_after_ms":0,"reset_after_ms":84000,"source":"exact",)"
       R"("rule":"5/min burst 10","violated":[]})"},
      {"/v1/allow", R"({"limit":"5/min burst 10","key":"u","cost":7,"atmost":true})",
       R"({"allowed":true,"limit":10,"remaining":0,"retry_after_ms":0,"reset_after_ms":120000,"source":"exact",)"
       R"("rule":"5/min burst 10","granted":3,"violated":[]})"},
      {"/v1/allow", R"({"limit":"5/min burst 10","key":"u","atmost":false,"cost":11})",
       R"({"allowed":false,"limit":10,"remaining":0,"retry_after_ms":null,"reset_after_ms":120000,"source":"exact",)"
       R"("rule":"5/min burst 10","violated":["5/min burst 10"]})"},
      {"/v1/peek", R"({"limit":"5/min burst 10","key":"u","cost":0})",
       R"({"allowed":true,"limit":10,"remaining":0,"retry_after_ms":0,"reset_after_ms":120000,"source":"exact",)"
       R"("rule":"5/min burst 10","violated":[]})"},
      {"/v1/refund", R"({"limit":"5/min burst 10","key":"u","cost":2})",
       R"({"allowed":true,"limit":10,"remaining":2,"retry_after_ms":0,"reset_after_ms":96000,"source":"exact",)"
       R"("rule":"5/min burst 10","violated":[]})"},
      {"/v1/reset", R"({"limit":"5/min burst 10","key":"u"})",
       R"({"allowed":true,"limit":10,"remaining":10,"retry_after_ms":0,"reset_after_ms":0,"source":"exact",)"
       R"("rule":"5/min burst 10","violated":[]})"},
      {"/v1/reserve", R"({"rule":"later","key":"u","max_wait_ms":0})",
       R"({"allowed":true,"limit":1,"remaining":0,"retry_after_ms":0,"reset_after_ms":1000,"source":"exact",)"
       R"("rule":"later","delay_ms":0,"violated":[]})"},
      {"/v1/reserve", R"({"rule":"later","key":"u"})",
       R"({"allowed":true,"limit":1,"remaining":0,"retry_after_ms":0,"reset_after_ms":2000,"source":"exact",)"
       R"("rule":"later","delay_ms":1000,"violated":[]})"},
      {"/v1/reserve", R"({"rule":"later","key":"u","max_wait_ms":1999})",
       R"({"allowed":false,"limit":1,"remaining":0,"retry_after_ms":1,"reset_after_ms":2000,"source":"exact",)"
       R"("rule":"later","delay_ms":0,"violated":["later"]})"},
      {"/v1/acquire", R"({"rule":"slots","key":"u","lease_id":"one"})",
       R"({"allowed":true,"limit":2,"remaining":1,"retry_after_ms":0,"reset_after_ms":30000,"source":"exact",)"
       R"("rule":"slots","lease_id":"one","violated":[]})"},
      {"/v1/acquire", R"({"rule":"slots","key":"u","lease_id":"two","cost":2,"ttl_ms":1})",
       R"({"allowed":false,"limit":2,"remaining":1,"retry_after_ms":30000,"reset_after_ms":30000,"source":"exact",)"
       R"("rule":"slots","lease_id":null,"violated":["slots"]})"},
      {"/v1/renew", R"({"rule":"slots","key":"u","lease_id":"one","ttl_ms":5000})",
       R"({"ok":true,"remaining":1,"reset_after_ms":5000,"source":"exact"})"},
      {"/v1/renew", R"({"rule":"slots","key":"u","lease_id":"three"})",
       R"({"ok":false,"remaining":1,"reset_after_ms":5000,"source":"exact"})"},
      {"/v1/release", R"({"rule":"slots","key":"u","lease_id":"one"})",
       R"({"ok":true,"remaining":2,"reset_after_ms":0,"source":"exact"})"},
      {"/v1/allow", R"({"rule":"free","key":"u","cost":1000})",
       R"({"allowed":true,"limit":null,"remaining":null,"retry_after_ms":0,"reset_after_ms":0,"source":"exact",)"
       R"("rule":"free","violated":[]})"},
      {"/v1/allow", R"({"rule":["watch"],"key":"u"})",
       R"({"allowed":true,"limit":1,"remaining":0,"retry_after_ms":0,"reset_after_ms":60000,"source":"exact",)"
       R"("rule":"watch","violated":[],"would_deny":false})"},
      {"/v1/allow", R"({"rule":["watch"],"key":"u"})",
       R"({"allowed":true,"limit":1,"remaining":0,"retry_after_ms":0,"reset_after_ms":60000,"source":"exact",)"
       R"("rule":"watch","violated":["watch"],"would_deny":true})"},
      {"/v1/allow", R"({"rule":["api","login"],"key":"u","cost":6})",
       R"({"allowed":false,"limit":5,"remaining":5,"retry_after_ms":null,"reset_after_ms":0,"source":"exact",)"
       R"("rule":"login","violated":["login"]})"},
      {"/v1/allow", R"({"rule":"api","key":"u","cost":11})",
       R"({"allowed":false,"limit":10,"remaining":10,"retry_after_ms":null,"reset_after_ms":0,"source":"exact",)"
       R"("rule":"api#daily","violated":["api#daily"]})"},
      {"/v1/allow", R"({"rule":"client","key":"2001:db8::1"})",
       R"({"allowed":true,"limit":1,"remaining":0,"retry_after_ms":0,"reset_after_ms":60000,"source":"exact",)"
       R"("rule":"client","violated":[]})"},
      {"/v1/peek", R"({"rule":"client","key":"[2001:db8::2]:443"})",
       R"({"allowed":false,"limit":1,"remaining":0,"retry_after_ms":60000,"reset_after_ms":60000,"source":"exact",)"
       R"("rule":"client","violated":["client"]})"},
  };
  for (const Case& c : cases) EXPECT_EQ(bench.ask(c.path, c.question), c.answer) << c.path << c.question;
}

TEST(HttpQuestion, MakesALeaseIdWhereNoneIsGiven) {
  HttpBench bench(with_rules());
  const std::string answer = bench.ask("/v1/acquire", R"({"rule":"slots","key":"u"})");
  EXPECT_THAT(answer, testing::ContainsRegex(R"("lease_id":"[0-9a-f]{32}")"));
  const std::string other = bench.ask("/v1/acquire", R"({"rule":"slots","key":"u"})");
  EXPECT_THAT(other, HasSubstr(R"("allowed":true)"));
  EXPECT_NE(answer.substr(answer.find("lease_id")), other.substr(other.find("lease_id")));
}

struct BadCase {
  std::string_view path;
  std::string_view question;
  std::string_view type;
  std::string_view field;
  std::string_view value;  // as JSON
  std::string_view detail;
};

const BadCase kBadCases[] = {
    {"/v1/allow", R"({"rule":"login","key":"u","cost":"1"})", "bad-argument", "cost", R"("\"1\"")",
     "an integer from 0 to 2147483647"},
    {"/v1/allow", R"({"rule":"login","key":"u","cost":1.5})", "bad-argument", "cost", R"("1.5")", "an integer"},
    {"/v1/allow", R"({"rule":"login","key":"u","cost":-1})", "bad-argument", "cost", R"("-1")", "an integer from 0"},
    {"/v1/allow", R"({"rule":"login","key":"u","cost":2147483648})", "bad-argument", "cost", R"("2147483648")",
     "2147483647"},
    {"/v1/allow", R"({"rule":"login","key":7})", "bad-argument", "key", R"("7")", "a string"},
    {"/v1/allow", R"({"rule":"login","key":null})", "bad-argument", "key", R"("null")", "a string"},
    {"/v1/allow", R"({"rule":"login"})", "bad-argument", "key", "", "key is missing"},
    {"/v1/allow", R"({"key":"u"})", "bad-argument", "rule", "", "rule or limit is missing"},
    {"/v1/allow", R"({"rule":"login","limit":"5/min","key":"u"})", "bad-argument", "rule", "", "not both"},
    {"/v1/allow", R"({"rule":[],"key":"u"})", "bad-argument", "rule", R"("[")", "a list of 1 to 16 strings"},
    {"/v1/allow", R"({"rule":"","key":"u"})", "unknown-rule", "rule", "", "unknown rule"},
    {"/v1/allow", R"({"rule":"logni","key":"u"})", "unknown-rule", "rule", R"("logni")", "did you mean `login`"},
    {"/v1/allow", R"({"rule":["login","nothing"],"key":"u"})", "unknown-rule", "rule", R"("nothing")", "unknown rule"},
    {"/v1/allow", R"({"rule":"login,api","key":"u"})", "unknown-rule", "rule", R"("login,api")", "unknown rule"},
    {"/v1/allow", R"({"rule":["login","login"],"key":"u"})", "bad-argument", "rule", R"("login")", "named twice"},
    {"/v1/allow", R"({"rule":"client","key":"localhost"})", "bad-argument", "key", R"("localhost")", "IP address"},
    {"/v1/allow", R"({"limit":"5/mim","key":"u"})", "bad-argument", "limit", R"("5/mim")", "limit `5/mim`"},
    {"/v1/allow", R"({"limit":"","key":"u"})", "bad-argument", "limit", R"("\"\"")", "1 to 128 bytes"},
    {"/v1/allow", R"({"rule":"login","key":"u","kost":1})", "bad-argument", "kost", R"("1")",
     "there are rule, limit, key, cost, atmost"},
    {"/v1/allow", R"({"rule":"login","key":"u","cost":1,"cost":2})", "bad-argument", "cost", R"("2")", "given twice"},
    {"/v1/allow", R"({"rule":"login","key":"u","atmost":1})", "bad-argument", "atmost", R"("1")", "true or false"},
    {"/v1/allow", R"({"rule":"slots","key":"u"})", "wrong-verb", "rule", R"("slots")", "use ACQUIRE"},
    {"/v1/allow", R"({"limit":"2 concurrent","key":"u"})", "wrong-verb", "limit", R"("2 concurrent")", "use ACQUIRE"},
    {"/v1/acquire", R"({"rule":"login","key":"u"})", "wrong-verb", "rule", R"("login")", "use ALLOW"},
    {"/v1/peek", R"({"rule":"login","key":"u","atmost":true})", "bad-argument", "atmost", R"("true")",
     "there are rule, limit, key, cost"},
    {"/v1/reset", R"({"rule":"login","key":"u","cost":1})", "bad-argument", "cost", R"("1")",
     "there are rule, limit, key"},
    {"/v1/reserve", R"({"rule":"later","key":"u","max_wait_ms":2001})", "bad-argument", "max_wait_ms", R"("2001")",
     "2s"},
    {"/v1/reserve", R"({"rule":"later","key":"u","max_wait_ms":-1})", "bad-argument", "max_wait_ms", R"("-1")",
     "an integer"},
    {"/v1/acquire", R"({"rule":"slots","key":"u","ttl_ms":0})", "bad-argument", "ttl_ms", R"("0")",
     "an integer from 1"},
    {"/v1/acquire", R"({"rule":"slots","key":"u","ttl_ms":86400001})", "bad-argument", "ttl_ms", R"("86400001")",
     "86400000"},
    {"/v1/acquire", R"({"rule":"slots","key":"u","lease_id":""})", "bad-argument", "lease_id", R"("\"\"")",
     "1 to 128 bytes"},
    {"/v1/renew", R"({"rule":"slots","key":"u"})", "bad-argument", "lease_id", "", "lease_id is missing"},
    {"/v1/release", R"({"rule":"slots","key":"u","lease_id":"x","ttl_ms":1})", "bad-argument", "ttl_ms", R"("1")",
     "there are"},
};

/// The members that a case expects.
void expect_problem(std::string_view problem, const BadCase& c) {
  EXPECT_THAT(problem, HasSubstr("\"type\":\"urn:ratel:" + std::string(c.type) + "\",\"title\":\"")) << c.question;
  EXPECT_THAT(problem, HasSubstr("\"status\":400")) << c.question;
  EXPECT_THAT(problem, HasSubstr("\"field\":\"" + std::string(c.field) + "\"")) << c.question;
  if (c.value.empty()) {
    EXPECT_THAT(problem, testing::Not(HasSubstr("\"value\""))) << c.question;
  } else {
    EXPECT_THAT(problem, HasSubstr("\"value\":" + std::string(c.value))) << c.question;
  }
  EXPECT_THAT(problem, HasSubstr(c.detail)) << c.question;
}

TEST(HttpQuestion, RefusesABadQuestionByFieldAndValue) {
  HttpBench bench(with_rules());
  for (const BadCase& c : kBadCases) {
    const HttpResponse response = bench.run(post(c.path, c.question));
    EXPECT_EQ(response.status, 400) << c.question;
    EXPECT_EQ(response.header("Content-Type"), "application/problem+json");
    EXPECT_EQ(response.header("Connection"), "") << "a bad question closes no good connection";
    expect_problem(response.body, c);
  }
  EXPECT_EQ(bench.ask("/v1/peek", R"({"rule":"login","key":"u"})").find("\"remaining\":5"), 26u);
  EXPECT_GT(bench.metrics.rejections(Rejected::kUnknownRule), 0u);
  EXPECT_GT(bench.metrics.rejections(Rejected::kBadArgument), 0u);
}

TEST(HttpQuestion, AnswersTheOthersAroundABadOne) {
  HttpBench bench(with_rules());
  for (const BadCase& c : kBadCases) {
    const std::string good = c.path == "/v1/acquire"   ? R"({"rule":"slots","key":"v"})"
                             : c.path == "/v1/renew"   ? R"({"rule":"slots","key":"v","lease_id":"x"})"
                             : c.path == "/v1/release" ? R"({"rule":"slots","key":"v","lease_id":"x"})"
                                                       : R"({"rule":"later","key":"v"})";
    const std::string answer = bench.ask(c.path, "[" + good + "," + std::string(c.question) + "," + good + "]");
    const std::size_t error = answer.find(R"(,{"error":{)");
    ASSERT_NE(error, std::string::npos) << answer;
    const std::size_t behind = answer.find("}},{", error);
    ASSERT_NE(behind, std::string::npos) << answer;
    expect_problem(std::string_view(answer).substr(error, behind - error), c);
    EXPECT_THAT(answer.substr(0, error), testing::StartsWith("[{\""));
    EXPECT_THAT(answer.substr(behind), testing::EndsWith("}]"));
    EXPECT_THAT(answer.substr(behind), testing::Not(HasSubstr("error")));
  }
}

TEST(HttpQuestion, AnswersAnArrayInOrder) {
  HttpBench bench(with_rules());
  const std::string answer =
      bench.ask("/v1/allow", R"([{"rule":"login","key":"u","cost":3},{"rule":"login","key":"u","cost":3},)"
                             R"({"rule":"login","key":"u","cost":2},{"rule":"login","key":"w"}])");
  std::string verdicts;
  for (std::size_t at = 0; (at = answer.find("\"allowed\":", at)) != std::string::npos; at += 10) {
    verdicts += answer[at + 10];
  }
  EXPECT_EQ(verdicts, "tftt");
  EXPECT_EQ(bench.store.prepared, 4u);
}

TEST(HttpQuestion, RefusesABrokenBody) {
  HttpBench bench(with_rules());
  const std::string_view cases[] = {
      "",
      "x",
      "[]",
      "1",
      "\"login\"",
      "null",
      "{",
      R"({"rule":"login","key":"u"} )"
      "x",
      R"([{"rule":"login","key":"u"},)",
      R"([{"rule":"login","key":"u"},{"rule":"login" "key":"u"}])",
  };
  for (const std::string_view body : cases) {
    const HttpResponse response = bench.run(post("/v1/allow", body));
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_THAT(response.body, HasSubstr(R"("type":"urn:ratel:bad-argument")")) << body;
  }
  // Nothing that came before the mistake was spent.
  EXPECT_THAT(bench.ask("/v1/peek", R"({"rule":"login","key":"u"})"), HasSubstr(R"("remaining":5)"));
}

TEST(HttpQuestion, ReachesTheBoundOfAnArray) {
  HttpBench bench(with_rules());
  std::string thousand = R"([{"rule":"api","key":"k"})";
  for (std::size_t i = 1; i < kHttpQuestionsMax; ++i) thousand += R"(,{"rule":"api","key":"k"})";
  const HttpResponse response = bench.run(post("/v1/peek", thousand + "]"));
  EXPECT_EQ(response.status, 200);
  std::size_t answers = 0;
  for (std::size_t at = 0; (at = response.body.find("\"allowed\":true", at)) != std::string::npos; ++at) ++answers;
  EXPECT_EQ(answers, kHttpQuestionsMax);
  const HttpResponse refused = bench.run(post("/v1/peek", thousand + R"(,{"rule":"api","key":"k"}])"));
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("an array must hold 1 to 1000 objects"));
}

TEST(HttpQuestion, ReachesTheBoundsOfAQuestion) {
  HttpBench bench(with_rules());
  struct Case {
    std::string within;
    std::string beyond;
  };
  const auto sized = [](std::string_view before, std::size_t bytes, std::string_view behind) {
    return std::string(before) + std::string(bytes, 'x') + std::string(behind);
  };
  const Case cases[] = {
      {sized(R"({"rule":"slots","lease_id":"a","key":")", kKeyBytesMax, R"("})"),
       sized(R"({"rule":"slots","lease_id":"a","key":")", kKeyBytesMax + 1, R"("})")},
      {sized(R"({"rule":"slots","key":"k","lease_id":")", kLeaseIdBytesMax, R"("})"),
       sized(R"({"rule":"slots","key":"k","lease_id":")", kLeaseIdBytesMax + 1, R"("})")},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(bench.run(post("/v1/acquire", c.within)).status, 200);
    EXPECT_EQ(bench.run(post("/v1/acquire", c.beyond)).status, 400);
  }
}

}  // namespace
}  // namespace ratel
