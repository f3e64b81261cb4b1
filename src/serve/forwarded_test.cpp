#include "serve/forwarded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace ratel {
namespace {

TEST(Forwarded, TakesTheAddressThatTheOutermostTrustedProxySaw) {
  struct Case {
    std::string_view header;
    int hops;
    std::string_view address;
  };
  const Case cases[] = {
      {"192.0.2.1", 1, "192.0.2.1"},
      {"198.51.100.9, 192.0.2.1", 1, "192.0.2.1"},
      {"198.51.100.9,192.0.2.1", 2, "198.51.100.9"},
      {"1.1.1.1, 198.51.100.9 ,\t192.0.2.1", 2, "198.51.100.9"},
      {"evil, 192.0.2.1", 1, "192.0.2.1"},
      {",, 198.51.100.9,, ,192.0.2.1, ", 2, "198.51.100.9"},
      {"[2001:db8::1]:443", 1, "[2001:db8::1]:443"},
      {"2001:db8::1, 192.0.2.1:5000", 1, "192.0.2.1:5000"},
  };
  for (const Case& c : cases) {
    const Result<std::string_view> address = client_address(c.header, c.hops);
    ASSERT_TRUE(address.ok()) << c.header << ": " << address.error().message;
    EXPECT_EQ(*address, c.address) << c.header;
  }
}

TEST(Forwarded, ExplainsWhyThereIsNone) {
  struct Case {
    std::string_view header;
    int hops;
    std::string_view explains;
  };
  const Case cases[] = {
      {"192.0.2.1", 0, "set trusted_hops"},
      {"", 0, "set trusted_hops"},
      {"", 1, "has 0 addresses, and trusted_hops is 1"},
      {" , ", 1, "has 0 addresses"},
      {"192.0.2.1", 2, "has 1 addresses, and trusted_hops is 2"},
      {"192.0.2.1, unknown", 1, "has `unknown` where the client's address must be"},
      {"192.0.2.1, _hidden", 1, "`_hidden`"},
      {"unknown, 192.0.2.1", 2, "`unknown`"},
  };
  for (const Case& c : cases) {
    const Result<std::string_view> address = client_address(c.header, c.hops);
    ASSERT_FALSE(address.ok()) << c.header;
    EXPECT_THAT(address.error().message, testing::HasSubstr(c.explains)) << c.header;
  }
}

rc::Gen<std::string> any_address() {
  return rc::gen::map(rc::gen::arbitrary<std::array<std::uint8_t, 4>>(), [](const std::array<std::uint8_t, 4>& bytes) {
    return std::to_string(bytes[0]) + "." + std::to_string(bytes[1]) + "." + std::to_string(bytes[2]) + "." +
           std::to_string(bytes[3]);
  });
}

/// With k trusted proxies, whatever the client sends in the header, its key is what the outermost of them saw.
TEST(Invariant44, AClientCannotChooseItsAddress) {
  EXPECT_TRUE(rc::check([](const std::string& sent) {
    const std::string seen = *any_address();
    const int hops = *rc::gen::inRange(1, 5);
    // The client's own words, then what each proxy on the way appends: the address it was called from.
    std::string header = *rc::gen::element(sent, *any_address() + ", " + *any_address(), std::string());
    header += (header.empty() ? "" : ", ") + seen;
    for (int i = 1; i < hops; ++i) header += ", " + *any_address();
    const Result<std::string_view> address = client_address(header, hops);
    RC_ASSERT(address.ok());
    RC_ASSERT(*address == seen);
  }));
}

/// Without trusted proxies, no header gives any address.
TEST(Invariant44, AnUntrustedHeaderIsNotRead) {
  EXPECT_TRUE(rc::check([](const std::string& sent) {
    const Result<std::string_view> plain = client_address("", 0);
    RC_ASSERT(!client_address(sent, 0).ok());
    RC_ASSERT(client_address(sent, 0).error().message == plain.error().message);
  }));
}

}  // namespace
}  // namespace ratel
