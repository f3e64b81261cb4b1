// CL.THROTTLE against redis-cell's conformance table, as far as a clock that is moved by hand can tell; what is
// different from redis-cell stands in docs/cl-throttle.md, too.
// Tests resp_question.cpp and resp_arguments.cpp.

#include <gtest/gtest.h>

#include "serve/resp_testing.h"

namespace ratel {
namespace {

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

void expect_all(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    RespBench bench;
    Micros now_us = 0;
    for (const Step& step : c.steps) {
      bench.clock.advance_us(step.at_us - now_us);
      now_us = step.at_us;
      EXPECT_EQ(bench.run("CL.THROTTLE " + step.words), step.reply) << c.name << ": " << step.words;
    }
  }
}

TEST(Throttle, AnswersAsRedisCell) {
  expect_all({
      {"fresh, then a peek", {{0, "k 15 30 60", "[0 16 15 -1 2]"}, {0, "k 15 30 60 0", "[0 16 15 -1 2]"}}},
      {"a peek at nothing", {{0, "b 15 30 60 0", "[0 16 16 -1 0]"}}},
      {"all at once, a peek, one more",
       {{0, "c 15 30 60 16", "[0 16 0 -1 32]"},
        {0, "c 15 30 60 0", "[0 16 0 -1 32]"},
        {0, "c 15 30 60 1", "[1 16 0 2 32]"}}},
      {"more than ever fits", {{0, "d 15 30 60 17", "[1 16 16 -1 0]"}}},
      {"no burst",
       {{0, "e 0 1 2", "[0 1 0 -1 2]"}, {0, "e 0 1 2", "[1 1 0 2 2]"}, {2000_ms, "e 0 1 2", "[0 1 0 -1 2]"}}},
      {"a plus sign", {{0, "f +1 10 60", "[0 2 1 -1 6]"}}},
      {"capacity 5, one a second",
       {{0, "k 4 1 1 6", "[1 5 5 -1 0]"},
        {0, "k 4 1 1 1", "[0 5 4 -1 1]"},
        {0, "k 4 1 1 1", "[0 5 3 -1 2]"},
        {0, "k 4 1 1 1", "[0 5 2 -1 3]"},
        {0, "k 4 1 1 1", "[0 5 1 -1 4]"},
        {0, "k 4 1 1 1", "[0 5 0 -1 5]"},
        {0, "k 4 1 1 1", "[1 5 0 1 5]"},
        {3000_ms, "k 4 1 1 1", "[0 5 2 -1 3]"},
        {3100_ms, "k 4 1 1 1", "[0 5 1 -1 4]"},  // 3.9 s
        {4000_ms, "k 4 1 1 1", "[0 5 1 -1 4]"},
        {8000_ms, "k 4 1 1 1", "[0 5 4 -1 1]"},
        {9500_ms, "k 4 1 1 1", "[0 5 4 -1 1]"},
        {9500_ms, "k 4 1 1 0", "[0 5 4 -1 1]"},
        {9500_ms, "k 4 1 1 2", "[0 5 2 -1 3]"},
        {9500_ms, "k 4 1 1 5", "[1 5 2 3 3]"}}},
      {"a thousand a second, one at a time", {{0, "v 0 1000 1", "[0 1 0 -1 1]"}, {1_ms, "v 0 1000 1", "[0 1 0 -1 1]"}}},
      {"five a second",
       {{0, "x 4 5 1", "[0 5 4 -1 1]"},
        {0, "x 4 5 1", "[0 5 3 -1 1]"},
        {0, "x 4 5 1", "[0 5 2 -1 1]"},
        {0, "x 4 5 1", "[0 5 1 -1 1]"},
        {0, "x 4 5 1", "[0 5 0 -1 1]"},
        {0, "x 4 5 1", "[1 5 0 1 1]"},
        {0, "x 4 5 1 5", "[1 5 0 1 1]"},
        {0, "x 4 5 1 6", "[1 5 0 -1 1]"}}},
      {"an empty key", {{0, "\"\" 15 30 60", "[0 16 15 -1 2]"}}},
  });
}

TEST(Throttle, IsRightWhereRedisCellIsNot) {
  expect_all({
      // A burst made smaller than what is owed: nothing is asked for, so nothing is refused; nothing is left either.
      {"a peek after shrinking", {{0, "x 4 5 1 5", "[0 5 0 -1 1]"}, {0, "x 1 5 1 0", "[0 2 0 -1 1]"}}},
      // Waits are rounded up from microseconds: a denial never says to come back at once.
      {"half a millisecond", {{0, "h 0 2000 1", "[0 1 0 -1 1]"}, {0, "h 0 2000 1", "[1 1 0 1 1]"}}},
      {"half a microsecond", {{0, "s 10 2000000 1", "[0 11 10 -1 1]"}}},
      {"a nanosecond", {{0, "r 10 1000000000 1", "[0 11 10 -1 1]"}}},
      {"6000 a second", {{0, "a 6000 6000 1", "[0 6001 6000 -1 1]"}}},
      {"8000 a second", {{0, "u 1 8000 1 1", "[0 2 1 -1 1]"}}},
      {"only the period differs",
       {{0, "k 9 10 10 5", "[0 10 5 -1 5]"},
        {0, "k 9 10 20 1", "[0 10 6 -1 7]"},
        {0, "k 9 20 20 1", "[0 10 2 -1 8]"},
        {0, "k 8 20 20 0", "[0 9 1 -1 8]"}}},
      // A denial has the time until the same quantity fits, whole bursts among them.
      {"full, and all again",
       {{0, "d 5999 6000 1 6000", "[0 6000 0 -1 1]"}, {0, "d 5999 6000 1 6000", "[1 6000 0 1 1]"}}},
      {"the largest numbers",
       {{0, "m 4294967294 4294967295 31622400 2147483647", "[0 4294967295 2147483648 -1 15811200]"}}},
      {"the same key with other numbers",
       {{0, "k 9 10 10 5", "[0 10 5 -1 5]"},
        {0, "k 4 10 10 0", "[0 5 0 -1 5]"},
        {0, "k 4 10 10 1", "[1 5 0 1 5]"},
        {0, "k 19 10 10 1", "[0 20 14 -1 6]"}}},
  });
}

TEST(Throttle, NamesTheFieldAndTheValueOfABadNumber) {
  const std::string burst = ": must be a whole number from 0 to 4294967294)";
  const std::string count = ": must be a whole number from 1 to 4294967295)";
  const std::string period = ": must be a whole number from 1 to 31622400)";
  const std::string quantity = ": must be a whole number from 0 to 2147483647)";
  expect_all({
      {"none a period", {{0, "f 10 0 60", "(ERR invalid count `0`" + count}}},
      {"no period", {{0, "f 10 10 0", "(ERR invalid period `0`" + period}}},
      {"huge count", {{0, "p 10 9223372036854775807 1", "(ERR invalid count `9223372036854775807`" + count}}},
      {"negative burst", {{0, "g -1 10 60", "(ERR invalid max_burst `-1`" + burst}}},
      {"more negative burst", {{0, "h -5 10 60", "(ERR invalid max_burst `-5`" + burst}}},
      {"negative count", {{0, "i 5 -10 60", "(ERR invalid count `-10`" + count}}},
      {"negative period", {{0, "j 5 10 -60", "(ERR invalid period `-60`" + period}}},
      {"negative quantity",
       {{0, "m 5 10 60 3", "[0 6 3 -1 18]"},
        {0, "m 5 10 60 -2", "(ERR invalid quantity `-2`" + quantity},
        {0, "m 5 10 60 0", "[0 6 3 -1 18]"}}},
      {"huge quantity",
       {{0, "m 5 10 60 9223372036854775807", "(ERR invalid quantity `9223372036854775807`" + quantity},
        {0, "m 5 10 60 0", "[0 6 6 -1 0]"}}},
      {"quantity above int64",
       {{0, "m 5 10 60 9223372036854775808", "(ERR invalid quantity `9223372036854775808`" + quantity}}},
      {"huge burst", {{0, "n 9223372036854775807 10 60", "(ERR invalid max_burst `9223372036854775807`" + burst}}},
      {"huge period", {{0, "q 10 10 9223372036854775807", "(ERR invalid period `9223372036854775807`" + period}}},
      {"fraction", {{0, "k 1.5 10 60", "(ERR invalid max_burst `1.5`" + burst}}},
      {"blank before", {{0, "k \" 1\" 10 60", "(ERR invalid max_burst ` 1`" + burst}}},
      {"two signs", {{0, "k +-1 10 60", "(ERR invalid max_burst `+-1`" + burst}}},
      {"sign alone", {{0, "k + 10 60", "(ERR invalid max_burst `+`" + burst}}},
      {"empty", {{0, "k \"\" 10 60", "(ERR invalid max_burst ``" + burst}}},
      {"no number", {{0, "k 15 30 60 one", "(ERR invalid quantity `one`" + quantity}}},
      {"longer than ten years to refill",
       {{0, "k 0 1 60", "[0 1 0 -1 60]"},
        {0, "k 4294967294 1 60",
         "(ERR max_burst 4294967294, count 1, period 60: a spent burst would take more than 3650 days to come back)"},
        {0, "k 4294967294 1 60",
         "(ERR max_burst 4294967294, count 1, period 60: a spent burst would take more than 3650 days to come back)"},
        {0, "k2 15 30 60", "[0 16 15 -1 2]"}}},
      {"too few", {{0, "k 15 30", "(ERR wrong number of arguments for 'cl.throttle' command)"}}},
      {"too many", {{0, "k 15 30 60 1 1", "(ERR wrong number of arguments for 'cl.throttle' command)"}}},
  });
}

TEST(Throttle, DeniesExactlyWhatDoesNotFit) {
  RespBench bench;
  int allowed = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string reply = bench.run("CL.THROTTLE p 5999 6000 1");
    if (reply.substr(0, 3) == "[0 ") {
      ++allowed;
    } else {
      EXPECT_EQ(reply, "[1 6000 0 1 1]");
    }
    if (i % 20 == 19) bench.clock.advance_us(63);  // 63 ms in all: 378 units come back
  }
  EXPECT_EQ(allowed, 6'000 + 63 * 6 - 1);  // the last advance is not used
}

TEST(Throttle, KeysMayBeAnyBytesUpToTheirBound) {
  RespBench bench;
  const std::string odd("\0\r\n{}\xff", 6);
  EXPECT_EQ(bench.run({"CL.THROTTLE", odd, "0", "1", "60"}), "[0 1 0 -1 60]");
  EXPECT_EQ(bench.run({"CL.THROTTLE", odd, "0", "1", "60"}), "[1 1 0 60 60]");
  EXPECT_EQ(bench.run({"CL.THROTTLE", std::string(kKeyBytesMax, 'k'), "0", "1", "60"}), "[0 1 0 -1 60]");
  EXPECT_EQ(bench.run({"CL.THROTTLE", std::string(kKeyBytesMax + 1, 'k'), "0", "1", "60"}).substr(0, 5), "(ERR ");
}

}  // namespace
}  // namespace ratel
