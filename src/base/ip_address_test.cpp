#include "base/ip_address.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <cstdio>

namespace ratel {
namespace {

std::string key_of(std::string_view text, int prefix = kIpv6PrefixDefault) {
  std::string key;
  return canonical_ip_key(text, prefix, key) ? key : "none";
}

TEST(IpAddress, HasOneKeyHoweverItIsWritten) {
  struct Case {
    std::string_view text;
    std::string_view key;
    int prefix = kIpv6PrefixDefault;
  };
  const Case cases[] = {
      {"1.2.3.4", "1.2.3.4"},
      {"1.2.3.4:443", "1.2.3.4"},
      {"255.255.255.255", "255.255.255.255"},
      {"::ffff:1.2.3.4", "1.2.3.4"},
      {"::ffff:102:304", "1.2.3.4"},
      {"0:0:0:0:0:FFFF:0102:0304", "1.2.3.4"},
      {"[::ffff:1.2.3.4]:80", "1.2.3.4"},
      {"64:ff9b::1.2.3.4", "1.2.3.4"},
      {"64:ff9b::102:304", "1.2.3.4"},
      {"64:ff9b:1::102:304", "64:ff9b:1::/64"},
      {"2001:db8::1.2.3.4", "2001:db8::/64"},
      {"2001:db8::1.2.3.4", "2001:db8::102:304", 128},
      {"2001:DB8:0:0:1:2:3:4", "2001:db8::/64"},
      {"2001:db8:0:1::", "2001:db8:0:1::/64"},
      {"[2001:db8::1]", "2001:db8::/64"},
      {"[2001:db8::1]:443", "2001:db8::/64"},
      {"2001:db8:abcd:12ff::1", "2001:db8:abcd::/48", 48},
      {"2001:db8:abcd:12ff::1", "2001:db8:abcd:1200::/56", 56},
      {"2001:db8:abcd:12ff::1", "2001:db8:abcd:12f0::/60", 60},
      {"ffff::", "8000::/1", 1},
      {"2001:db8::1", "2001:db8::/127", 127},
      {"2001:db8::1", "2001:db8::1", 128},
      {"fe80::1%eth0", "fe80::/64"},
      {"[fe80::1%25eth0]:1", "fe80::/64"},
      {"::1", "::/64"},
      {"::", "::/64"},
  };
  for (const Case& c : cases) EXPECT_EQ(key_of(c.text, c.prefix), c.key) << c.text;
}

TEST(IpAddress, RefusesWhatIsNone) {
  using namespace std::string_view_literals;
  const std::string_view cases[] = {
      "",
      " ",
      "localhost",
      "unknown",
      "1.2.3",
      "1.2.3.4.5",
      "1.2.3.256",
      "01.2.3.4",
      "0x1.2.3.4",
      "16909060",
      "1.2.3.4 ",
      " 1.2.3.4",
      "1.2.3.4\0"sv,
      "1.2.3.4\0x"sv,
      "1.2.3.4:",
      "1.2.3.4:65536",
      "1.2.3.4:-1",
      "1.2.3.4:http",
      "1.2.3.4%eth0",
      "[1.2.3.4]",
      "[1.2.3.4]:80",
      "::ffff:1.2.3",
      ":::",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9",
      "12345::",
      "g::",
      "fe80::1%",
      "[::1",
      "::1]",
      "[::1]80",
      "[::1]:",
      "[::1]:x",
      "[]",
      "[",
      "[[::1]]",
      "2001:db8::/64",
      "_hidden",
      "\"1.2.3.4\"",
      "1:2:3:4:5:6:7:8:443",
      "0000000000000000000000000000000000000000000000000000000000000000000000001::",
  };
  for (const std::string_view text : cases) {
    std::string key = "before";
    EXPECT_FALSE(canonical_ip_key(text, 64, key)) << text;
    EXPECT_FALSE(is_ip_address(text)) << text;
    EXPECT_EQ(key, "before") << text;
  }
}

TEST(IpAddress, AppendsToWhatIsThere) {
  std::string key = "ip:";
  EXPECT_TRUE(canonical_ip_key("192.0.2.1", 64, key));
  EXPECT_EQ(key, "ip:192.0.2.1");
}

using Groups = std::array<std::uint16_t, 8>;

std::string written_out(const Groups& groups, const char* format) {
  std::string text;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    char group[8];
    std::snprintf(group, sizeof group, format, groups[i]);
    text += i == 0 ? "" : ":";
    text += group;
  }
  return text;
}

Groups any_groups() {
  // Zeros matter: they are what the short form leaves out.
  return *rc::gen::container<Groups>(
      rc::gen::oneOf(rc::gen::just<std::uint16_t>(0), rc::gen::arbitrary<std::uint16_t>()));
}

/// Every IPv4 address, plain, mapped, mapped in hex and behind a NAT64, is one key.
TEST(Invariant43, Ipv4HasOneKey) {
  EXPECT_TRUE(rc::check([] {
    const auto a = *rc::gen::arbitrary<std::array<std::uint8_t, 4>>();
    char plain[16];
    std::snprintf(plain, sizeof plain, "%d.%d.%d.%d", a[0], a[1], a[2], a[3]);
    char hex[16];
    std::snprintf(hex, sizeof hex, "%x:%x", a[0] << 8 | a[1], a[2] << 8 | a[3]);
    const int prefix = *rc::gen::inRange(1, 129);
    RC_ASSERT(key_of(plain, prefix) == plain);
    for (const std::string& same :
         {std::string("::ffff:") + plain, std::string("::FFFF:") + hex, std::string("64:ff9b::") + plain,
          std::string("64:ff9b::") + hex, std::string(plain) + ":8080", "[::ffff:" + std::string(plain) + "]:8080"}) {
      RC_ASSERT(key_of(same, prefix) == plain);
    }
  }));
}

/// Two addresses have one key exactly when they agree in the first `prefix` bits.
TEST(Invariant43, Ipv6HasOneKeyAPrefix) {
  EXPECT_TRUE(rc::check([] {
    Groups groups = any_groups();
    groups[0] = static_cast<std::uint16_t>(groups[0] | 0x2000);  // neither mapped nor NAT64
    const int prefix = *rc::gen::element(48, 56, 64, 96, 127, 128, *rc::gen::inRange(1, 129));
    const int flipped = *rc::gen::inRange(3, 128);
    Groups other = groups;
    std::uint16_t& group = other[static_cast<std::size_t>(flipped / 16)];
    group = static_cast<std::uint16_t>(group ^ (0x8000 >> flipped % 16));
    const std::string key = key_of(written_out(groups, "%x"), prefix);
    RC_ASSERT(key != "none");
    RC_ASSERT(key_of(written_out(groups, "%04X") + "%eth1", prefix) == key);
    RC_ASSERT(key_of("[" + written_out(groups, "%04x") + "]:1", prefix) == key);
    RC_ASSERT((key_of(written_out(other, "%x"), prefix) == key) == (flipped >= prefix));
  }));
}

TEST(Invariant43, AKeyIsItsOwnKey) {
  EXPECT_TRUE(rc::check([] {
    const std::string key = key_of(written_out(any_groups(), "%x"), 128);
    RC_ASSERT(key_of(key, 128) == key);
  }));
}

/// Any bytes: no crash, and a refusal leaves no trace.
TEST(IpAddress, TakesAnyBytes) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    std::string key = "k";
    if (!canonical_ip_key(text, 64, key)) RC_ASSERT(key == "k");
  }));
}

}  // namespace
}  // namespace ratel
