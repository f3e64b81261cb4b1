// RATEL.*: replies in both versions, options, errors. Tests resp_question.cpp and resp_arguments.cpp.

#include <gtest/gtest.h>

#include "serve/resp_testing.h"

namespace ratel {
namespace {

constexpr const char* kRules = R"(
rules:
  login: { limit: 5/min }
  api: { limit: [10/s, 12/min] }
  watch: { limit: 1/min, shadow: true }
  books: { limit: 1/s, max_wait: 2500ms }
  watched: { limit: 1/s, shadow: true }
  slots: { limit: 2 concurrent, lease: 10s }
  free: { limit: unlimited }
  closed: { limit: 0/min }
)";

struct Step {
  Micros at_us = 0;  // since the case began
  std::string words;
  std::string reply;
};

struct Case {
  const char* name;
  std::vector<Step> steps;
};

constexpr Micros operator""_ms(unsigned long long ms) {
  return static_cast<Micros>(ms) * 1'000;
}

void expect_all(const std::vector<Case>& cases, const char* version) {
  for (const Case& c : cases) {
    RespBench bench(kRules);
    bench.run("HELLO " + std::string(version));
    Micros now_us = 0;
    for (const Step& step : c.steps) {
      bench.clock.advance_us(step.at_us - now_us);
      now_us = step.at_us;
      EXPECT_EQ(bench.run(step.words), step.reply) << c.name << ": " << step.words;
    }
  }
}

TEST(Ratel, AnswersInAFixedOrderInResp2) {
  expect_all(
      {
          {"allow",
           {{0, "RATEL.ALLOW login u", "[1 5 4 0 12000 \"exact\" \"login\"]"},
            {0, "ratel.allow login u COST 4", "[1 5 0 0 60000 \"exact\" \"login\"]"},
            {0, "RATEL.ALLOW login u", "[0 5 0 12000 60000 \"exact\" \"login\"]"},
            {0, "RATEL.ALLOW login u COST 6", "[0 5 0 -1 60000 \"exact\" \"login\"]"},
            {0, "RATEL.ALLOW login u COST 0", "[1 5 0 0 60000 \"exact\" \"login\"]"},
            {11'999'999, "RATEL.ALLOW login u", "[0 5 0 1 48001 \"exact\" \"login\"]"},
            {12'000'000, "RATEL.ALLOW login u", "[1 5 0 0 60000 \"exact\" \"login\"]"}}},
          {"several limits",
           {{0, "RATEL.ALLOW api u COST 10", "[1 10 0 0 1000 \"exact\" \"api#1\"]"},
            {0, "RATEL.ALLOW api u COST 3 VIOLATED", "[0 12 2 5000 50000 \"exact\" \"api#2\" [\"api#1\" \"api#2\"]]"},
            {1000_ms, "RATEL.ALLOW api,login u COST 3 VIOLATED", "[0 12 2 4000 49000 \"exact\" \"api#2\" [\"api#2\"]]"},
            {1000_ms, "RATEL.ALLOW login,api u COST 2 VIOLATED", "[1 12 0 0 59000 \"exact\" \"api#2\" []]"}}},
          {"up to",
           {{0, "RATEL.ALLOW login u COST 3 ATMOST", "[1 5 2 0 36000 \"exact\" \"login\" 3]"},
            {0, "RATEL.ALLOW login u ATMOST COST 3 VIOLATED", "[1 5 0 0 60000 \"exact\" \"login\" 2 []]"},
            {0, "RATEL.ALLOW login u VIOLATED COST 3 ATMOST",
             "[0 5 0 12000 60000 \"exact\" \"login\" 0 [\"login\"]]"}}},
          {"a limit in the question",
           {{0, "RATEL.ALLOW LIMIT \"3/min burst 1\" u", "[1 1 0 0 20000 \"exact\" \"3/min burst 1\"]"},
            {0, "RATEL.PEEK limit '3 per 60s burst 1' u", "[0 1 0 20000 20000 \"exact\" \"3/min burst 1\"]"}}},
          {"peek changes nothing",
           {{0, "RATEL.PEEK login u COST 5", "[1 5 5 0 0 \"exact\" \"login\"]"},
            {0, "RATEL.PEEK login u COST 6", "[0 5 5 -1 0 \"exact\" \"login\"]"}}},
          {"refund",
           {{0, "RATEL.ALLOW login u COST 5", "[1 5 0 0 60000 \"exact\" \"login\"]"},
            {0, "RATEL.REFUND login u COST 2", "[1 5 2 0 36000 \"exact\" \"login\"]"},
            {0, "RATEL.REFUND login u COST 9", "[1 5 5 0 0 \"exact\" \"login\"]"}}},
          {"reset",
           {{0, "RATEL.ALLOW login u COST 5", "[1 5 0 0 60000 \"exact\" \"login\"]"},
            {0, "RATEL.RESET login u", "[1 5 5 0 0 \"exact\" \"login\"]"}}},
          {"reserve",
           {{0, "RATEL.RESERVE books u", "[1 1 0 0 1000 \"exact\" \"books\" 0]"},
            {0, "RATEL.RESERVE books u", "[1 1 0 0 2000 \"exact\" \"books\" 1000]"},
            {0, "RATEL.RESERVE books u MAXWAIT 1999", "[0 1 0 1 2000 \"exact\" \"books\" 0]"},
            {0, "RATEL.RESERVE books u MAXWAIT 2000", "[1 1 0 0 3000 \"exact\" \"books\" 2000]"},
            {0, "RATEL.RESERVE books u", "[0 1 0 500 3000 \"exact\" \"books\" 0]"},
            {0, "RATEL.RESERVE login u MAXWAIT 0", "[1 5 4 0 12000 \"exact\" \"login\" 0]"}}},
          {"reserve, watched",
           {{0, "RATEL.RESERVE books,watched u COST 1", "[1 1 0 0 1000 \"exact\" \"books\" 0]"},
            {0, "RATEL.RESERVE books,watched u", "[1 1 0 0 2000 \"exact\" \"books\" 1000]"},
            {0, "RATEL.RESERVE watched u", "[1 1 0 0 1000 \"exact\" \"watched\" 0]"},
            {999'999, "RATEL.PEEK watched u", "[1 1 0 0 1 \"exact\" \"watched\"]"}}},
          {"lease",
           {{0, "RATEL.ACQUIRE slots u ID a", "[1 2 1 0 10000 \"exact\" \"slots\" \"a\"]"},
            {0, "RATEL.ACQUIRE slots u ID b TTL 3000", "[1 2 0 0 10000 \"exact\" \"slots\" \"b\"]"},
            {0, "RATEL.ACQUIRE slots u ID c", "[0 2 0 3000 10000 \"exact\" \"slots\" nil]"},
            {0, "RATEL.RENEW slots u b", "[1 0 10000 \"exact\"]"},
            {0, "RATEL.RENEW slots u b TTL 20000", "[1 0 20000 \"exact\"]"},
            {0, "RATEL.RENEW slots u c", "[0 0 20000 \"exact\"]"},
            {0, "RATEL.RELEASE slots u a", "[1 1 20000 \"exact\"]"},
            {0, "RATEL.RELEASE slots u a", "[0 1 20000 \"exact\"]"},
            {0, "RATEL.ACQUIRE LIMIT '1 concurrent' u ID a", "[1 1 0 0 30000 \"exact\" \"1 concurrent\" \"a\"]"}}},
          {"unlimited", {{0, "RATEL.ALLOW free u COST 1000", "[1 -1 -1 0 0 \"exact\" \"free\"]"}}},
          {"closed", {{0, "RATEL.ALLOW closed u", "[0 0 0 -1 0 \"exact\" \"closed\"]"}}},
          {"shadow",
           {{0, "RATEL.ALLOW watch u", "[1 1 0 0 60000 \"exact\" \"watch\"]"},
            {0, "RATEL.ALLOW watch u", "[1 1 0 0 60000 \"exact\" \"watch\"]"}}},
      },
      "2");
}

TEST(Ratel, NamesTheFieldsInResp3) {
  const std::string seven =
      "{allowed: 1, limit: 5, remaining: 4, retry_after_ms: 0, reset_after_ms: 12000, source: \"exact\", rule: "
      "\"login\"";
  expect_all(
      {
          {"allow", {{0, "RATEL.ALLOW login u", seven + "}"}}},
          {"up to", {{0, "RATEL.ALLOW login u ATMOST VIOLATED", seven + ", granted: 1, violated: []}"}}},
          {"reserve", {{0, "RATEL.RESERVE login u", seven + ", delay_ms: 0}"}}},
          {"lease",
           {{0, "RATEL.ACQUIRE slots u ID a COST 2",
             "{allowed: 1, limit: 2, remaining: 0, retry_after_ms: 0, reset_after_ms: 10000, source: \"exact\", rule: "
             "\"slots\", lease_id: \"a\"}"},
            {0, "RATEL.ACQUIRE slots u ID b",
             "{allowed: 0, limit: 2, remaining: 0, retry_after_ms: 10000, reset_after_ms: 10000, source: \"exact\", "
             "rule: \"slots\", lease_id: nil}"},
            {0, "RATEL.RENEW slots u a", "{ok: 1, remaining: 0, reset_after_ms: 10000, source: \"exact\"}"}}},
          {"throttle is a list in both", {{0, "CL.THROTTLE k 15 30 60", "[0 16 15 -1 2]"}}},
      },
      "3");
}

TEST(Ratel, ALeaseWithoutANameIsGivenOne) {
  RespBench bench(kRules);
  const std::string first = bench.run("RATEL.ACQUIRE slots u");
  const std::string second = bench.run("RATEL.ACQUIRE slots u");
  const auto id_in = [](const std::string& reply) { return reply.substr(reply.size() - 34, 32); };
  EXPECT_EQ(id_in(first).find_first_not_of("0123456789abcdef"), std::string::npos) << first;
  EXPECT_NE(id_in(first), id_in(second));
  EXPECT_EQ(bench.run("RATEL.RELEASE slots u " + id_in(first)), "[1 1 10000 \"exact\"]");
}

TEST(Ratel, NamesWhatIsWrongAndChangesNothing) {
  const std::string cost = ": must be a whole number from 0 to 2147483647)";
  const std::string id(kLeaseIdBytesMax + 1, 'i');
  const std::string shown_id = "`" + id.substr(0, 60) + "...`: must be 1 to 128 bytes)";
  struct BadCase {
    std::string words, reply;
  };
  const BadCase cases[] = {
      {"RATEL.ALLOW lgoin u", "(ERR unknown rule `lgoin`: did you mean `login`?)"},
      {"RATEL.ALLOW login", "(ERR wrong number of arguments for 'ratel.allow' command)"},
      {"RATEL.ALLOW LIMIT 5/min", "(ERR wrong number of arguments for 'ratel.allow' command)"},
      {"RATEL.RENEW slots u", "(ERR wrong number of arguments for 'ratel.renew' command)"},
      {"RATEL.RENEW LIMIT '1 concurrent' u", "(ERR wrong number of arguments for 'ratel.renew' command)"},
      {"RATEL.ALLOW login u COST", "(ERR COST needs a value)"},
      {"RATEL.ALLOW login u COST -1", "(ERR invalid COST `-1`" + cost},
      {"RATEL.ALLOW login u COST 1.5", "(ERR invalid COST `1.5`" + cost},
      {"RATEL.ALLOW login u COST 2147483648", "(ERR invalid COST `2147483648`" + cost},
      {"RATEL.ALLOW login u cost ''", "(ERR invalid COST ``" + cost},
      {"RATEL.ALLOW login u FOO", "(ERR unknown option `FOO`: RATEL.ALLOW takes COST n, ATMOST, VIOLATED)"},
      {"RATEL.PEEK login u ATMOST", "(ERR unknown option `ATMOST`: RATEL.PEEK takes COST n)"},
      {"RATEL.RESET login u COST 1", "(ERR unknown option `COST`: RATEL.RESET takes no options)"},
      {"RATEL.RESERVE books u MAXWAIT 2501", "(ERR invalid MAXWAIT `2501`: above the max_wait of `books`, 2500 ms)"},
      {"RATEL.RESERVE login u MAXWAIT 1", "(ERR invalid MAXWAIT `1`: above the max_wait of `login`, 0 ms)"},
      {"RATEL.RESERVE LIMIT 5/min u MAXWAIT 1", "(ERR invalid MAXWAIT `1`: above the max_wait of `5/min`, 0 ms)"},
      {"RATEL.RESERVE books u MAXWAIT 9223372036854775807",
       "(ERR invalid MAXWAIT `9223372036854775807`: must be a whole number from 0 to 31622400000)"},
      {"RATEL.ACQUIRE slots u TTL 0", "(ERR invalid TTL `0`: must be a whole number from 1 to 86400000)"},
      {"RATEL.ACQUIRE slots u TTL", "(ERR TTL needs a value)"},
      {"RATEL.ACQUIRE slots u ID", "(ERR ID needs a value)"},
      {"RATEL.ACQUIRE slots u ID ''", "(ERR invalid ID ``: must be 1 to 128 bytes)"},
      {"RATEL.ACQUIRE slots u ID " + id, "(ERR invalid ID " + shown_id},
      {"RATEL.RENEW slots u ''", "(ERR invalid ID ``: must be 1 to 128 bytes)"},
      {"RATEL.RELEASE slots u " + id, "(ERR invalid ID " + shown_id},
      {"RATEL.RELEASE slots u a TTL 1", "(ERR unknown option `TTL`: RATEL.RELEASE takes no options)"},
  };
  RespBench bench(kRules);
  for (const BadCase& c : cases) EXPECT_EQ(bench.run(c.words), c.reply) << c.words;
  EXPECT_EQ(bench.run("RATEL.ALLOW LIMIT 5/mn u").substr(0, 40), "(ERR limit `5/mn`: position 3: expected ");
  EXPECT_EQ(bench.run("RATEL.PEEK login u"), "[1 5 5 0 0 \"exact\" \"login\"]");
  EXPECT_EQ(bench.run("RATEL.RENEW slots u a"), "[0 2 0 \"exact\"]");
  EXPECT_FALSE(bench.session->finished());
  EXPECT_EQ(bench.metrics.rejections(Rejected::kUnknownRule), 1U);
  EXPECT_EQ(bench.metrics.rejections(Rejected::kBadArgument),
            std::size(cases));  // one was an unknown rule, one followed
}

TEST(Ratel, AllowOnSlotsNamesTheRightVerb) {
  RespBench bench(kRules);
  EXPECT_NE(bench.run("RATEL.ALLOW slots u").find("ACQUIRE"), std::string::npos);
}

TEST(Ratel, TheLastOfAnOptionGivenTwiceCounts) {
  RespBench bench(kRules);
  EXPECT_EQ(bench.run("RATEL.ALLOW login u COST 2 COST 3"), "[1 5 2 0 36000 \"exact\" \"login\"]");
}

TEST(Ratel, CountsDecisionsBySeries) {
  RespBench bench(kRules);
  bench.run("RATEL.ALLOW LIMIT 1/min u");
  bench.run("RATEL.ALLOW LIMIT 1/min u");
  bench.run("CL.THROTTLE u 0 1 60");
  bench.run("CL.THROTTLE u 0 1 60");
  for (std::uint32_t series : {kAdhocSeries, kThrottleSeries}) {
    EXPECT_EQ(bench.metrics.decisions(series, Outcome::kAllowed, Source::kExact), 1U);
    EXPECT_EQ(bench.metrics.decisions(series, Outcome::kDenied, Source::kExact), 1U);
  }
}

}  // namespace
}  // namespace ratel
