#include "base/address.h"

#include <gtest/gtest.h>

namespace ratel {
namespace {

TEST(Address, ReadsEveryForm) {
  struct Case {
    std::string_view text;
    Address address;
    bool loopback;
    std::string_view canonical;
  };
  const Case cases[] = {
      {"127.0.0.1:6390", {"127.0.0.1", 6390, ""}, true, "127.0.0.1:6390"},
      {":6390", {"127.0.0.1", 6390, ""}, true, "127.0.0.1:6390"},
      {":0", {"127.0.0.1", 0, ""}, true, "127.0.0.1:0"},
      {"127.9.9.9:1", {"127.9.9.9", 1, ""}, true, "127.9.9.9:1"},
      {"localhost:65535", {"localhost", 65535, ""}, true, "localhost:65535"},
      {"[::1]:80", {"::1", 80, ""}, true, "[::1]:80"},
      {"unix:/run/ratel.sock", {"", 0, "/run/ratel.sock"}, true, "unix:/run/ratel.sock"},
      {"0.0.0.0:80", {"0.0.0.0", 80, ""}, false, "0.0.0.0:80"},
      {"[::]:80", {"::", 80, ""}, false, "[::]:80"},
      {"[::ffff:127.0.0.1]:80", {"::ffff:127.0.0.1", 80, ""}, false, "[::ffff:127.0.0.1]:80"},
      {"[2001:db8::1]:80", {"2001:db8::1", 80, ""}, false, "[2001:db8::1]:80"},
      {"128.0.0.1:80", {"128.0.0.1", 80, ""}, false, "128.0.0.1:80"},
      {"127.example.org:80", {"127.example.org", 80, ""}, false, "127.example.org:80"},
      {"ratel.internal:80", {"ratel.internal", 80, ""}, false, "ratel.internal:80"},
  };
  for (const Case& c : cases) {
    const Result<Address> address = parse_address(c.text);
    ASSERT_TRUE(address.ok()) << c.text;
    EXPECT_EQ(*address, c.address) << c.text;
    EXPECT_EQ(is_loopback(*address), c.loopback) << c.text;
    EXPECT_EQ(format_address(*address), c.canonical);
    EXPECT_EQ(*parse_address(c.canonical), c.address);
  }
}

TEST(Address, SaysWhatWouldBeRight) {
  struct Case {
    std::string text;
    std::string_view says;
  };
  const Case cases[] = {
      {"", "an address is host:port"},
      {"6390", "an address is host:port"},
      {"localhost", "an address is host:port"},
      {"a b:1", "an address is host:port"},
      {"http://x:1", "brackets"},
      {"::1:6390", "between brackets"},
      {"[::1:6390", "an address is host:port"},
      {"[::1]", "an address is host:port"},
      {"[]:1", "an IPv6 address"},
      {"[fe80::1%eth0]:1", "an IPv6 address"},
      {"[127.0.0.1]:1", "an IPv6 address"},
      {"256.0.0.1:1", "four numbers"},
      {"127.1:1", "four numbers"},
      {"127.0.0.01:1", "four numbers"},
      {"1.2.3.4.:1", "four numbers"},
      {"host:", "a port is a number"},
      {"host:-1", "a port is a number"},
      {"host:+1", "a port is a number"},
      {"host:65536", "a port is a number"},
      {"host:80 ", "a port is a number"},
      {"unix:", "absolute path"},
      {"unix:ratel.sock", "absolute path"},
      {"unix:/" + std::string(kUnixPathBytesMax, 'x'), "at most 107 bytes"},
      {std::string("unix:/a\0b", 9), "an address is host:port"},
      {std::string(kHostBytesMax + 1, 'x') + ":1", "an address is host:port"},
  };
  for (const Case& c : cases) {
    const Result<Address> address = parse_address(c.text);
    ASSERT_FALSE(address.ok()) << c.text;
    EXPECT_NE(address.error().message.find(c.says), std::string::npos) << c.text << ": " << address.error().message;
  }
}

}  // namespace
}  // namespace ratel
