// parse_limit and to_text of limit.h.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "limit/limit.h"

namespace ratel {
namespace {

struct Good {
  const char* text;
  LimitSpec spec;
  const char* canonical;
};

TEST(ParseLimit, ReadsWhatPeopleWrite) {
  const std::vector<Good> cases{
      {"5/min", {.count = 5, .period_us = kMinute_us}, "5/min"},
      {"100/s burst 200", {.count = 100, .period_us = kSecond_us, .burst = 200}, "100/s burst 200"},
      {"100/s burst 100", {.count = 100, .period_us = kSecond_us}, "100/s"},
      {"7 per 3s", {.count = 7, .period_us = 3 * kSecond_us}, "7 per 3s"},
      {"7/3s", {.count = 7, .period_us = 3 * kSecond_us}, "7 per 3s"},
      {"5 per 100ms", {.count = 5, .period_us = 100'000}, "5 per 100ms"},
      {"5 per 1s", {.count = 5, .period_us = kSecond_us}, "5/s"},
      {"5 per second", {.count = 5, .period_us = kSecond_us}, "5/s"},
      {"  5  /  min  ", {.count = 5, .period_us = kMinute_us}, "5/min"},
      {"5 per 2 days burst 3", {.count = 5, .period_us = 2 * kDay_us, .burst = 3}, "5 per 2 days burst 3"},
      {"5 per 60s", {.count = 5, .period_us = kMinute_us}, "5/min"},
      {"5 per 90 sec", {.count = 5, .period_us = 90 * kSecond_us}, "5 per 90s"},
      {"5 per 7 days", {.count = 5, .period_us = 7 * kDay_us}, "5/week"},
      {"10000/day", {.count = 10'000, .period_us = kDay_us}, "10000/day"},
      {"10000/d", {.count = 10'000, .period_us = kDay_us}, "10000/day"},
      {"1000000/month", {.count = 1'000'000, .period_us = 30 * kDay_us}, "1000000/month"},
      {"1/year", {.count = 1, .period_us = 365 * kDay_us}, "1/year"},
      {"1 per 366 days", {.count = 1, .period_us = kPeriodMax_us}, "1 per 366 days"},
      {"1 per 2 weeks", {.count = 1, .period_us = 14 * kDay_us}, "1 per 2 weeks"},
      {"1 per 3 months", {.count = 1, .period_us = 90 * kDay_us}, "1 per 3 months"},
      {"3 per 31622399999999us", {.count = 3, .period_us = kPeriodMax_us - 1}, "3 per 31622399999999us"},
      {"3/us", {.count = 3, .period_us = 1}, "3/us"},
      {"3/ms", {.count = 3, .period_us = 1'000}, "3/ms"},
      {"3/h", {.count = 3, .period_us = kHour_us}, "3/h"},
      {"3/hour", {.count = 3, .period_us = kHour_us}, "3/h"},
      {"3 per 2 hours", {.count = 3, .period_us = 2 * kHour_us}, "3 per 2h"},
      {"3/minute", {.count = 3, .period_us = kMinute_us}, "3/min"},
      {"3/m", {.count = 3, .period_us = kMinute_us}, "3/min"},
      {"3 per 5 minutes", {.count = 3, .period_us = 5 * kMinute_us}, "3 per 5min"},
      {"3/sec", {.count = 3, .period_us = kSecond_us}, "3/s"},
      {"3 per 5 seconds", {.count = 3, .period_us = 5 * kSecond_us}, "3 per 5s"},
      {"4294967295/s", {.count = kCountMax, .period_us = kSecond_us}, "4294967295/s"},
      {"0/min", {.count = 0, .period_us = kMinute_us}, "0/min"},
      {"007/min", {.count = 7, .period_us = kMinute_us}, "7/min"},
      {"20 concurrent", {.algorithm = Algorithm::kConcurrency, .count = 20}, "20 concurrent"},
      {"0 concurrent", {.algorithm = Algorithm::kConcurrency}, "0 concurrent"},
      {"unlimited", {.unlimited = true}, "unlimited"},
  };
  for (const Good& c : cases) {
    const Result<LimitSpec> spec = parse_limit(c.text);
    ASSERT_TRUE(spec.ok()) << c.text << ": " << spec.error().message;
    EXPECT_EQ(*spec, c.spec) << c.text;
    EXPECT_EQ(to_text(*spec), c.canonical);
    EXPECT_EQ(*parse_limit(c.canonical), c.spec) << c.canonical;
  }
}

struct Bad {
  std::string text;
  std::string error;
};

TEST(ParseLimit, SaysWhereAndWhatWasExpected) {
  const std::string units = "expected a unit (us, ms, s, min, h, day, week, month or year), got ";
  const std::vector<Bad> cases{
      {"", "position 1: expected a whole number, as in `5/min`, got the end"},
      {"   ", "position 4: expected a whole number, as in `5/min`, got the end"},
      {"five/min", "position 1: expected a count or `unlimited`, as in `5/min`, got 'five/min'"},
      {"Unlimited", "position 1: expected a count or `unlimited`, as in `5/min`, got 'Unlimited'"},
      {"unlimited 5", "position 11: expected nothing after `unlimited`, got '5'"},
      {"-5/min", "position 1: expected a whole number, as in `5/min`, got '-5/min'"},
      {"+5/min", "position 1: expected a whole number, as in `5/min`, got '+5/min'"},
      {"5", "position 2: expected `/`, `per` or `concurrent`, got the end"},
      {"5 min", "position 3: expected `/`, `per` or `concurrent`, got 'min'"},
      {"5,000/min", "position 2: expected `/`, `per` or `concurrent`, got ',000/min'"},
      {"1e3/s", "position 2: expected `/`, `per` or `concurrent`, got 'e3/s'"},
      {"5 permin", "position 3: expected `/`, `per` or `concurrent`, got 'permin'"},
      {"5/", "position 3: " + units + "the end"},
      {"5/mim", "position 3: " + units + "'mim'"},
      {"5/MIN", "position 3: " + units + "'MIN'"},
      {"5/mins", "position 3: " + units + "'mins'"},
      {"5 per 3", "position 8: " + units + "the end"},
      {"5 per 3 fortnights", "position 9: " + units + "'fortnights'"},
      {"5/0s", "position 3: expected a period of at least 1, got '0'"},
      {"9 per 22444222222222.102222s", "position 7: expected a whole number, got '22444222222222.102222'"},
      {"5/1.5s", "position 3: expected a whole number, got '1.5'"},
      {"5 per 367 days", "position 7: expected a period of at most 366 days"},
      {"5 per 2 years", "position 7: expected a period of at most 366 days"},
      {"5/min 7", "position 7: expected `burst` or nothing after the period, got '7'"},
      {"5/min burst", "position 12: expected a whole number after `burst`, got the end"},
      {"5/min burst ten", "position 13: expected a whole number after `burst`, got 'ten'"},
      {"5/min burst 0", "position 13: expected a burst of at least 1, got '0'"},
      {"5/min burst 1.5", "position 13: expected a whole number, got '1.5'"},
      {"5/min burst 7 8", "position 15: expected nothing after the burst, got '8'"},
      {"5/min burst 4294967296", "position 13: expected at most 4294967295, got '4294967296'"},
      {"4294967296/s", "position 1: expected at most 4294967295, got '4294967296'"},
      {"99999999999999999999/s", "position 1: expected at most 4294967295, got '99999999999999999999'"},
      {"20 concurrent 5", "position 15: expected nothing after `concurrent`, got '5'"},
      {"20 concurrently", "position 4: expected `/`, `per` or `concurrent`, got 'concurrently'"},
      {"0.5/s", "position 1: expected a whole number, got '0.5'; write `1 per 2s`"},
      {"1.5/min", "position 1: expected a whole number, got '1.5'; write `3 per 2min`"},
      {"2.50/h burst 3", "position 1: expected a whole number, got '2.50'; write `5 per 2h`"},
      {"0.001/s", "position 1: expected a whole number, got '0.001'; write `1 per 1000s`"},
      {"3.0/s", "position 1: expected a whole number, got '3.0'; write `3/s`"},
      {"0.25/day", "position 1: expected a whole number, got '0.25'; write `1 per 4 days`"},
      {"0.001/day", "position 1: expected a whole number, got '0.001'"},
      {"0.0000001/s", "position 1: expected a whole number, got '0.0000001'"},
      {"4294967295.5/s", "position 1: expected a whole number, got '4294967295.5'"},
      {"5 per 31622400000001us", "position 7: expected at most 31622400000000, got '31622400000001'"},
      {"0.0/s", "position 1: expected a whole number, got '0.0'"},
      {"0.5 concurrent", "position 1: expected a whole number, got '0.5'"},
      {"5/min\n", "position 6: expected `burst` or nothing after the period, got '\n'"},
      {"5/" + std::string(100, 'x'), "position 3: " + units + "'" + std::string(40, 'x') + "'"},
  };
  for (const Bad& c : cases) {
    const Result<LimitSpec> spec = parse_limit(c.text);
    ASSERT_FALSE(spec.ok()) << c.text;
    EXPECT_EQ(spec.error().message, c.error);
    EXPECT_EQ(spec.error().code, ErrorCode::kBadArgument);
  }
}

RC_GTEST_PROP(ParseLimit, ReadsBackWhatToTextWrites, ()) {
  LimitSpec spec;
  spec.count = *rc::gen::inRange<std::int64_t>(0, kCountMax + 1);
  if (*rc::gen::arbitrary<bool>()) {
    spec.algorithm = Algorithm::kConcurrency;
  } else {
    const Micros unit_us = *rc::gen::elementOf(
        std::vector<Micros>{1, 1'000, kSecond_us, kMinute_us, kHour_us, kDay_us, 7 * kDay_us, 30 * kDay_us});
    spec.period_us = unit_us * *rc::gen::inRange<Micros>(1, kPeriodMax_us / unit_us + 1);
    spec.burst = *rc::gen::inRange<std::int64_t>(0, kCountMax + 1);
    if (spec.burst == spec.count) spec.burst = 0;
  }
  RC_ASSERT(*parse_limit(to_text(spec)) == spec);
}

RC_GTEST_PROP(ParseLimit, TakesAnyBytes, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::oneOf(rc::gen::elementOf(std::string("0123456789./ persminhdaybrtuclo")), rc::gen::arbitrary<char>()));
  const Result<LimitSpec> spec = parse_limit(text);
  if (spec.ok()) {
    RC_ASSERT(*parse_limit(to_text(*spec)) == *spec);
  } else {
    RC_ASSERT(spec.error().message.starts_with("position "));
  }
}

}  // namespace
}  // namespace ratel
