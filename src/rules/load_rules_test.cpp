#include "rules/load_rules.h"

#include <gtest/gtest.h>

#include "limit/question.h"
#include "rules/yaml.h"

namespace ratel {
namespace {

Result<std::vector<Rule>> load(std::string_view text) {
  const RuleFile file{.name = "r.yaml", .text = std::string(text)};
  return load_rules(std::span(&file, 1));
}

std::string error_of(std::string_view text) {
  const Result<std::vector<Rule>> rules = load(text);
  return rules.ok() ? "no error" : rules.error().message;
}

TEST(LoadRules, ReadsEveryField) {
  const auto rules = load(R"(
rules:
  login:      { limit: 5/min, on_store_failure: deny }
  api:        { limit: [100/s burst 200, 10000/day], headers: x-ratelimit }
  checkout:   { limit: 20 concurrent, lease: 90s }
  by-address:
    limit: 10 per 3s
    algorithm: sliding_window
    key: ip
    ipv6_prefix: 56
    deadline: 20ms
    shadow: true
    headers: none
    prepay: off
  quota:
    limit:
      - limit: 1000000/month
        name: monthly
        calendar: true
        zone: Europe/Berlin
      - { limit: 50/day, algorithm: sliding_log, name: daily }
      - 7/s
    on_store_failure: allow
  queue:      { limit: 10/s, max_wait: 5s }
  one:        { limit: { limit: 3/h, name: hourly }, algorithm: token_bucket }
  closed:     { limit: 0/min }
  open:       { limit: [unlimited] }
)");
  ASSERT_TRUE(rules.ok()) << rules.error().message;
  ASSERT_EQ(rules->size(), 9U);
  const auto rule = [&](std::size_t i) -> const Rule& { return (*rules)[i]; };

  EXPECT_EQ(rule(0).name, "login");
  EXPECT_EQ(rule(0).limits.at(0).label, "login");
  EXPECT_EQ(rule(0).limits.at(0).limit.count, 5);
  EXPECT_EQ(rule(0).limits.at(0).limit.capacity, 5);
  EXPECT_EQ(rule(0).limits.at(0).limit.period_us, kMinute_us);
  EXPECT_EQ(rule(0).limits.at(0).limit.algorithm, Algorithm::kGcra);
  EXPECT_EQ(rule(0).limits.at(0).identity, rule_identity("login", "1", rule(0).limits.at(0).limit));
  EXPECT_EQ(rule(0).on_store_failure, FailureMode::kDeny);
  EXPECT_EQ(rule(0).key, KeyKind::kText);
  EXPECT_EQ(rule(0).deadline_us, 50'000);
  EXPECT_EQ(rule(0).lease_us, 30 * kSecond_us);
  EXPECT_EQ(rule(0).max_wait_us, 0);
  EXPECT_FALSE(rule(0).shadow);
  EXPECT_EQ(rule(0).headers, HeaderStyle::kRateLimit);

  EXPECT_EQ(rule(1).limits.at(0).label, "api#1");
  EXPECT_EQ(rule(1).limits.at(0).limit.capacity, 200);
  EXPECT_EQ(rule(1).limits.at(1).label, "api#2");
  EXPECT_EQ(rule(1).headers, HeaderStyle::kXRateLimit);
  EXPECT_EQ(rule(1).on_store_failure, FailureMode::kLocal);

  EXPECT_EQ(rule(2).limits.at(0).limit.algorithm, Algorithm::kConcurrency);
  EXPECT_EQ(rule(2).lease_us, 90 * kSecond_us);

  EXPECT_EQ(rule(3).limits.at(0).limit.algorithm, Algorithm::kSlidingWindow);
  EXPECT_EQ(rule(3).key, KeyKind::kIp);
  EXPECT_EQ(rule(3).ipv6_prefix, 56);
  EXPECT_EQ(rule(3).deadline_us, 20'000);
  EXPECT_TRUE(rule(3).shadow);
  EXPECT_EQ(rule(3).headers, HeaderStyle::kNone);

  const Rule& quota = rule(4);
  EXPECT_EQ(quota.on_store_failure, FailureMode::kAllow);
  ASSERT_EQ(quota.limits.size(), 3U);
  EXPECT_EQ(quota.limits[0].label, "quota#monthly");
  EXPECT_EQ(quota.limits[0].limit.algorithm, Algorithm::kFixedWindow);
  EXPECT_EQ(quota.limits[0].limit.calendar, CalendarUnit::kMonth);
  EXPECT_EQ(quota.limits[0].limit.zone_name, "Europe/Berlin");
  EXPECT_EQ(quota.limits[0].identity, rule_identity("quota", "monthly", quota.limits[0].limit));
  EXPECT_EQ(quota.limits[1].label, "quota#daily");
  EXPECT_EQ(quota.limits[1].limit.algorithm, Algorithm::kSlidingLog);
  EXPECT_EQ(quota.limits[2].label, "quota#3");
  EXPECT_EQ(quota.limits[2].limit.algorithm, Algorithm::kGcra);
  EXPECT_EQ(quota.limits[2].identity, rule_identity("quota", "3", quota.limits[2].limit));

  EXPECT_EQ(rule(5).max_wait_us, 5 * kSecond_us);
  EXPECT_EQ(rule(5).limits.at(0).limit.max_wait_us, 5 * kSecond_us);
  EXPECT_EQ(rule(6).limits.at(0).label, "one#hourly");
  EXPECT_EQ(rule(7).limits.at(0).limit.count, 0);
  EXPECT_TRUE(rule(8).limits.at(0).limit.unlimited);
  EXPECT_EQ(rule(8).limits.at(0).label, "open");
}

TEST(LoadRules, EveryCalendarUnitIsNamedByItsPeriod) {
  struct Case {
    std::string_view period;
    CalendarUnit unit;
  };
  const Case cases[] = {{"min", CalendarUnit::kMinute}, {"h", CalendarUnit::kHour},      {"day", CalendarUnit::kDay},
                        {"week", CalendarUnit::kWeek},  {"month", CalendarUnit::kMonth}, {"year", CalendarUnit::kYear}};
  for (const Case& c : cases) {
    const auto rules = load("rules: { q: { limit: { limit: 5/" + std::string(c.period) + ", calendar: true } } }");
    ASSERT_TRUE(rules.ok()) << rules.error().message;
    EXPECT_EQ(rules->at(0).limits.at(0).limit.calendar, c.unit) << c.period;
    EXPECT_EQ(rules->at(0).limits.at(0).limit.algorithm, Algorithm::kFixedWindow);
  }
}

TEST(LoadRules, SaysWhereWhatAndWhatWouldBeRight) {
  struct Case {
    std::string text;
    std::string_view error;
  };
  const std::string a = "rules:\n  a: ";
  const Case cases[] = {
      // The file.
      {"", "r.yaml:1:1: nothing where `rules:` was expected; a file without rules says `rules: {}`"},
      {"- a", "r.yaml:1:1: a list where `rules:` was expected; a file without rules says `rules: {}`"},
      {"{}", "r.yaml:1:1: no `rules:`; a file without rules says `rules: {}`"},
      {"rules: {}\nresp: off",
       "r.yaml:2:1: unknown key `resp`: a file of rules has only `rules:` (settings stand in the "
       "file of --config)"},
      {"domain: x\ndescriptors: []",
       "r.yaml:1:1: `domain:` belongs to the format of the Envoy reference service, which "
       "this version does not read: write `rules:`"},
      {"descriptors: []",
       "r.yaml:1:1: `descriptors:` belongs to the format of the Envoy reference service, which this "
       "version does not read: write `rules:`"},
      {"rules:",
       "r.yaml:1:1: field `rules`: nothing where a map from names to rules was expected, as in "
       "`login: { limit: 5/min }`"},
      {"rules: [a]",
       "r.yaml:1:8: field `rules`: a list where a map from names to rules was expected, as in "
       "`login: { limit: 5/min }`"},
      {"rules: { a: { limit: 5/min }", "r.yaml:1:8: end of map flow not found"},
      // The name.
      {"rules:\n  a b: { limit: 5/min }",
       "r.yaml:2:3: rule `a b`: a name is letters, digits and _ - . : / @, and begins with a letter or digit"},
      {"rules:\n  'a,b': { limit: 5/min }",
       "r.yaml:2:3: rule `a,b`: a name is letters, digits and _ - . : / @, and begins with a letter or digit"},
      {"rules:\n  '': { limit: 5/min }",
       "r.yaml:2:3: rule ``: a name is letters, digits and _ - . : / @, and begins with a letter or digit"},
      {"rules:\n  -a: { limit: 5/min }",
       "r.yaml:2:3: rule `-a`: a name is letters, digits and _ - . : / @, and begins with a letter or digit"},
      {"rules:\n  Limit: { limit: 5/min }",
       "r.yaml:2:3: rule `Limit`: this word announces a limit in a question; choose another name"},
      {"rules:\n  " + std::string(kRuleNameBytesMax + 1, 'x') + ": { limit: 5/min }",
       "r.yaml:2:3: rule `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...`: a name has at most 128 "
       "bytes"},
      {"rules:\n  a: { limit: 5/min }\n  a: { limit: 6/min }", "r.yaml:3:3: `a` is already at line 2: write it once"},
      // The rule.
      {a + "5/min", "r.yaml:2:6: rule `a`: value `5/min`: a map of fields was expected, as in `a: { limit: 5/min }`"},
      {a, "r.yaml:2:3: rule `a`: value nothing: a map of fields was expected, as in `a: { limit: 5/min }`"},
      {a + "{}", "r.yaml:2:3: rule `a` has no `limit`: write for instance `limit: 5/min`"},
      {a + "{ limits: 5/min }",
       "r.yaml:2:8: unknown field `limits` of rule `a`: did you mean `limit`?\n"
       "r.yaml:2:3: rule `a` has no `limit`: write for instance `limit: 5/min`"},
      {a + "{ limit: 5/min, window: 1m }",
       "r.yaml:2:22: unknown field `window` of rule `a`: known are `limit`, `algorithm`, `key`, `ipv6_prefix`, "
       "`deadline`, `on_store_failure`, `max_wait`, `lease`, `prepay`, `shadow`, `headers`"},
      {a + "{ limit: 5/min, limit: 6/min }", "r.yaml:2:22: `limit` is already at line 2: write it once"},
      // Its fields.
      {a + "{ limit: 5/mn }",
       "r.yaml:2:15: field `limit` of rule `a`: value `5/mn`: position 3: expected a unit (us, ms, "
       "s, min, h, day, week, month or year), got 'mn'"},
      {a + "{ limit: }",
       "r.yaml:2:8: field `limit` of rule `a`: value nothing: position 1: expected a whole number, as "
       "in `5/min`, got the end"},
      {a + "{ limit: [] }", "r.yaml:2:15: field `limit` of rule `a`: value a list: 1 to 16 limits were expected"},
      {a + "{ limit: [[5/min]] }",
       "r.yaml:2:16: field `limit` of rule `a`: value a list: position 1: expected a whole "
       "number, as in `5/min`, got the end"},
      {a + "{ limit: 5/min, algorithm: gcar }", "r.yaml:2:33: field `algorithm` of rule `a`: value `gcar`: "},
      {a + "{ limit: 5/min, key: IP }", "r.yaml:2:27: field `key` of rule `a`: value `IP`: one of `text`, `ip`"},
      {a + "{ limit: 5/min, key: ip, ipv6_prefix: 0 }",
       "r.yaml:2:44: field `ipv6_prefix` of rule `a`: value `0`: a whole number from 1 to 128"},
      {a + "{ limit: 5/min, key: ip, ipv6_prefix: 129 }",
       "r.yaml:2:44: field `ipv6_prefix` of rule `a`: value `129`: a whole number from 1 to 128"},
      {a + "{ limit: 5/min, ipv6_prefix: 56 }",
       "r.yaml:2:35: field `ipv6_prefix` of rule `a`: value `56`: it goes with `key: ip` only"},
      {a + "{ limit: 5/min, deadline: 50 }",
       "r.yaml:2:32: field `deadline` of rule `a`: value `50`: a duration is a whole number and a unit (us, ms, s, m, "
       "h or "
       "d), as in `50ms`"},
      {a + "{ limit: 5/min, deadline: 999us }",
       "r.yaml:2:32: field `deadline` of rule `a`: value `999us`: from 1ms to 1m was expected"},
      {a + "{ limit: 5/min, deadline: 61s }",
       "r.yaml:2:32: field `deadline` of rule `a`: value `61s`: from 1ms to 1m was expected"},
      {a + "{ limit: 5/min, on_store_failure: open }",
       "r.yaml:2:40: field `on_store_failure` of rule `a`: value `open`: one of `local`, `allow`, `deny`"},
      {a + "{ limit: 5/min, max_wait: 367d }",
       "r.yaml:2:32: field `max_wait` of rule `a`: value `367d`: from 0 to 366d was expected"},
      {a + "{ limit: 5/min, max_wait: 5s, algorithm: fixed_window }",
       "r.yaml:2:32: field `max_wait` of rule `a`: value `5s`: only gcra limits can be reserved ahead: leave it out"},
      {a + "{ limit: 2 concurrent, max_wait: 5s }",
       "r.yaml:2:39: field `max_wait` of rule `a`: value `5s`: only gcra limits can be reserved ahead: leave it out"},
      {a + "{ limit: 2 concurrent, lease: 25h }",
       "r.yaml:2:36: field `lease` of rule `a`: value `25h`: from 1ms to 1d was expected"},
      {a + "{ limit: 2 concurrent, lease: 0 }",
       "r.yaml:2:36: field `lease` of rule `a`: value `0`: from 1ms to 1d was expected"},
      {a + "{ limit: 5/min, lease: 5s }",
       "r.yaml:2:29: field `lease` of rule `a`: value `5s`: only concurrent limits have leases: leave it out, or write "
       "`N concurrent`"},
      {a + "{ limit: 5/min, prepay: 10 }",
       "r.yaml:2:30: field `prepay` of rule `a`: value `10`: `off`: tokens debited in advance are not part of this "
       "version"},
      {a + "{ limit: 5/min, shadow: yes }",
       "r.yaml:2:30: field `shadow` of rule `a`: value `yes`: one of `true`, `false`"},
      {a + "{ limit: 5/min, shadow: [true] }",
       "r.yaml:2:30: field `shadow` of rule `a`: value a list: one of `true`, `false`"},
      {a + "{ limit: 5/min, headers: }",
       "r.yaml:2:22: field `headers` of rule `a`: value nothing: one of `ratelimit`, `x-ratelimit`, `none`"},
      // Its limits.
      {a + "{ limit: [5/min, 2 concurrent] }",
       "r.yaml:2:15: field `limit` of rule `a`: value a list: concurrent limits hold leases and all others spend, so "
       "they "
       "cannot share a rule: write two rules"},
      {a + "{ limit: 5/min burst 10, algorithm: fixed_window }",
       "r.yaml:2:15: field `limit` of rule `a`: value "
       "`5/min burst 10`: "},
      {a + "{ limit: 2 concurrent, algorithm: gcra }",
       "r.yaml:2:15: field `limit` of rule `a`: value `2 concurrent`: a concurrent limit has the algorithm "
       "`concurrency`, "
       "not `gcra`"},
      {a + "{ limit: 5/min, algorithm: concurrency }",
       "r.yaml:2:15: field `limit` of rule `a`: value `5/min`: with the algorithm `concurrency` it reads `20 "
       "concurrent`"},
      {a + "{ limit: { name: x } }",
       "r.yaml:2:15: `limit` of rule `a` has no `limit`: write for instance `limit: 5/min`"},
      {a + "{ limit: [1/s, { limit: 5/min, nam: x }] }",
       "r.yaml:2:37: unknown field `nam` of `limit[2]` of rule `a`: did you mean `name`?"},
      {a + "{ limit: { limit: 5/min, name: 2 } }",
       "r.yaml:2:37: field `limit.name` of rule `a`: value `2`: it begins with a letter: numbers are the places of "
       "limits "
       "without a name"},
      {a + "{ limit: { limit: 5/min, name: x y } }",
       "r.yaml:2:37: field `limit.name` of rule `a`: value `x y`: a name is letters, digits and _ - . : / @, and "
       "begins "
       "with a letter or digit"},
      {a + "{ limit: [{ limit: 5/min, name: x }, { limit: 6/min, name: x }] }",
       "r.yaml:2:65: field `limit[2].name` of rule `a`: value `x`: another limit of this rule has this name"},
      {a + "{ limit: { limit: 5/day, zone: UTC } }",
       "r.yaml:2:37: field `limit.zone` of rule `a`: value `UTC`: it goes with `calendar: true` only"},
      {a + "{ limit: { limit: 5/day, calendar: true, zone: Europe/Berln } }",
       "r.yaml:2:53: field `limit.zone` of rule `a`: value `Europe/Berln`: "},
      {a + "{ limit: { limit: 5/day, calendar: true, zone: } }",
       "r.yaml:2:47: field `limit.zone` of rule `a`: value nothing: a time zone was expected, as in `Europe/Berlin`"},
      {a + "{ limit: { limit: 5/day, calendar: 1 } }",
       "r.yaml:2:41: field `limit.calendar` of rule `a`: value `1`: one of `true`, `false`"},
      {a + "{ limit: { limit: 5 per 2h, calendar: true } }",
       "r.yaml:2:24: field `limit.limit` of rule `a`: value `5 per 2h`: a calendar window is one minute, hour, day, "
       "week, "
       "month or year, as in `10000/day`"},
      {a + "{ limit: { limit: 5/day, calendar: true, algorithm: gcra } }",
       "r.yaml:2:41: field `limit.calendar` of rule `a`: value `true`: it goes with the algorithm `fixed_window`, not "
       "`gcra`"},
  };
  for (const Case& c : cases) {
    const std::string error = error_of(c.text);
    if (c.error.ends_with(": ")) {  // the rest is limit/'s to word
      EXPECT_EQ(error.substr(0, c.error.size()), c.error) << c.text;
      EXPECT_GT(error.size(), c.error.size());
    } else {
      EXPECT_EQ(error, c.error) << c.text;
    }
  }
}

TEST(LoadRules, ReportsSeveralMistakesAtOnce) {
  EXPECT_EQ(error_of("rules:\n  a: { limit: 5/min, key: x, shadow: y }\n  b: {}\n  c: { limit: 1/s }\n"),
            "r.yaml:2:27: field `key` of rule `a`: value `x`: one of `text`, `ip`\n"
            "r.yaml:2:38: field `shadow` of rule `a`: value `y`: one of `true`, `false`\n"
            "r.yaml:3:3: rule `b` has no `limit`: write for instance `limit: 5/min`");
}

TEST(LoadRules, MergesFilesAndNamesBothPlacesOfADuplicate) {
  const RuleFile files[] = {{.name = "a.yaml", .text = "rules: { x: { limit: 1/s } }"},
                            {.name = "b.yaml", .text = "rules:\n  y: { limit: 1/s }\n"},
                            {.name = "c.yaml", .text = "rules:\n\n  x: { limit: 2/s }\n"}};
  const auto both = load_rules(std::span(files, 2));
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->at(0).name, "x");
  EXPECT_EQ(both->at(1).name, "y");
  const auto all = load_rules(files);
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.error().message, "c.yaml:3:3: rule `x` is already at a.yaml:1:10");
  EXPECT_EQ(all.error().code, ErrorCode::kConfiguration);
}

TEST(LoadRules, AConfigurationFileMayHaveSettingsAndNoRules) {
  for (const std::string text : {"", "resp: off", "rules: /etc/ratel/rules.d", "rules: {}", "threads: 2\nrules: {}"}) {
    const RuleFile file{.name = "ratel.yaml", .text = text, .has_settings = true};
    const auto rules = load_rules(std::span(&file, 1));
    ASSERT_TRUE(rules.ok()) << text << rules.error().message;
    EXPECT_TRUE(rules->empty());
  }
}

std::string many_rules(std::size_t n) {
  std::string text = "rules:\n";
  for (std::size_t i = 0; i < n; ++i) text += " r" + std::to_string(i) + ": {limit: 1/s}\n";
  return text;
}

TEST(LoadRules, HasBounds) {
  const auto full = load(many_rules(kRulesMax));
  ASSERT_TRUE(full.ok()) << full.error().message;
  EXPECT_EQ(full->size(), kRulesMax);
  EXPECT_EQ(error_of(many_rules(kRulesMax + 1)), "r.yaml:10002:2: more than 10000 rules");

  std::string limits = "1/s";
  for (std::size_t i = 1; i < kChargesMax; ++i) limits += ", 1/s";
  EXPECT_EQ(error_of("rules: { a: { limit: [" + limits + "] } }"), "no error");
  EXPECT_EQ(error_of("rules: { a: { limit: [" + limits + ", 1/s] } }"),
            "r.yaml:1:22: field `limit` of rule `a`: value a list: 1 to 16 limits were expected");

  std::vector<RuleFile> files(kRuleFilesMax, {.name = "x", .text = "rules: {}"});
  EXPECT_TRUE(load_rules(files).ok());
  files.push_back(files.back());
  EXPECT_EQ(load_rules(files).error().message, "more than 256 files of rules");

  const std::string full_file = "rules: {}" + std::string(kYamlBytesMax - 9, ' ');
  std::vector<RuleFile> large(kRuleTextMax / kYamlBytesMax, {.name = "x", .text = full_file});
  EXPECT_TRUE(load_rules(large).ok());
  large.push_back({.name = "x", .text = " "});
  EXPECT_EQ(load_rules(large).error().message, "x:1:1: the files of rules have more than 4194304 bytes together");
}

TEST(LoadRules, LongestNamesAreGood) {
  EXPECT_EQ(error_of("rules: { " + std::string(kRuleNameBytesMax, 'x') + ": { limit: 5/min } }"), "no error");
  EXPECT_EQ(error_of("rules: { A-z_0.9:/@: { limit: 5/min }, limits: { limit: 5/min }, limi: { limit: 5/min } }"),
            "no error");
}

}  // namespace
}  // namespace ratel
