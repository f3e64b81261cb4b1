#include "wire/resp_writer.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace ratel {
namespace {

TEST(RespWriter, WritesEachTypeInBothVersions) {
  struct Case {
    const char* name;
    std::function<void(RespWriter&)> write;
    std::string resp2, resp3;
  };
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  const Case cases[] = {
      {"simple", [](RespWriter& w) { w.simple("OK"); }, "+OK\r\n", "+OK\r\n"},
      {"error", [](RespWriter& w) { w.error("ERR no"); }, "-ERR no\r\n", "-ERR no\r\n"},
      {"error with line ends", [](RespWriter& w) { w.error("ERR a\r\n+OK"); }, "-ERR a  +OK\r\n", "-ERR a  +OK\r\n"},
      {"zero", [](RespWriter& w) { w.integer(0); }, ":0\r\n", ":0\r\n"},
      {"nine", [](RespWriter& w) { w.integer(9); }, ":9\r\n", ":9\r\n"},
      {"ten", [](RespWriter& w) { w.integer(10); }, ":10\r\n", ":10\r\n"},
      {"minus one", [](RespWriter& w) { w.integer(-1); }, ":-1\r\n", ":-1\r\n"},
      {"largest", [&](RespWriter& w) { w.integer(kMax); }, ":9223372036854775807\r\n", ":9223372036854775807\r\n"},
      {"smallest", [&](RespWriter& w) { w.integer(kMin); }, ":-9223372036854775808\r\n", ":-9223372036854775808\r\n"},
      {"bulk", [](RespWriter& w) { w.bulk("hi"); }, "$2\r\nhi\r\n", "$2\r\nhi\r\n"},
      {"empty bulk", [](RespWriter& w) { w.bulk(""); }, "$0\r\n\r\n", "$0\r\n\r\n"},
      {"bulk of any bytes", [](RespWriter& w) { w.bulk(std::string_view("\r\n\0", 3)); },
       std::string("$3\r\n\r\n\0\r\n", 9), std::string("$3\r\n\r\n\0\r\n", 9)},
      {"null", [](RespWriter& w) { w.null(); }, "$-1\r\n", "_\r\n"},
      {"integers",
       [](RespWriter& w) {
         w.integers({1, -1, 16});
       },
       "*3\r\n:1\r\n:-1\r\n:16\r\n", "*3\r\n:1\r\n:-1\r\n:16\r\n"},
      {"the longest integers",
       [&](RespWriter& w) {
         w.integers({kMin, kMin, kMin, kMin, kMin, kMin, kMin, kMin});
       },
       "*8\r\n" + std::string(":-9223372036854775808\r\n:-9223372036854775808\r\n:-9223372036854775808\r\n"
                              ":-9223372036854775808\r\n:-9223372036854775808\r\n:-9223372036854775808\r\n"
                              ":-9223372036854775808\r\n:-9223372036854775808\r\n"),
       "*8\r\n" + std::string(":-9223372036854775808\r\n:-9223372036854775808\r\n:-9223372036854775808\r\n"
                              ":-9223372036854775808\r\n:-9223372036854775808\r\n:-9223372036854775808\r\n"
                              ":-9223372036854775808\r\n:-9223372036854775808\r\n")},
      {"array", [](RespWriter& w) { w.array(12); }, "*12\r\n", "*12\r\n"},
      {"map",
       [](RespWriter& w) {
         w.map(1);
         w.bulk("a");
         w.integer(1);
       },
       "*2\r\n$1\r\na\r\n:1\r\n", "%1\r\n$1\r\na\r\n:1\r\n"},
      {"record",
       [](RespWriter& w) {
         w.record(1);
         w.field("a");
         w.integer(1);
       },
       "*1\r\n:1\r\n", "%1\r\n$1\r\na\r\n:1\r\n"},
  };
  for (const Case& c : cases) {
    std::string output = "before";
    RespWriter resp2(output, RespVersion::k2);
    c.write(resp2);
    EXPECT_EQ(output, "before" + c.resp2) << c.name;
    output.clear();
    RespWriter resp3(output, RespVersion::k3);
    c.write(resp3);
    EXPECT_EQ(output, c.resp3) << c.name;
  }
}

}  // namespace
}  // namespace ratel
