#include "wire/query.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdio>

namespace ratel {
namespace {

TEST(Query, SplitsTargets) {
  struct Case {
    std::string_view target;
    std::string_view authority;
    std::string_view path;
    std::string_view query;
  };
  const Case cases[] = {
      {"/", "", "/", ""},
      {"/v1/auth?a=b", "", "/v1/auth", "a=b"},
      {"/v1/auth?", "", "/v1/auth", ""},
      {"/a?b?c", "", "/a", "b?c"},
      {"*", "", "*", ""},
      {"?a", "", "", "a"},
      {"http://localhost:8080/v1/auth?a", "localhost:8080", "/v1/auth", "a"},
      {"http://localhost", "localhost", "/", ""},
      {"http://localhost?a", "localhost", "/", "a"},
      {"http:///x", "", "/x", ""},
      {"https://localhost/x", "", "https://localhost/x", ""},
      {"localhost:80", "", "localhost:80", ""},
  };
  for (const Case& c : cases) {
    const RequestTarget parts = split_target(c.target);
    EXPECT_EQ(parts.authority, c.authority) << c.target;
    EXPECT_EQ(parts.path, c.path) << c.target;
    EXPECT_EQ(parts.query, c.query) << c.target;
  }
}

TEST(Query, TakesParametersFromTheFront) {
  std::string_view query = "&a=1&&b&=c&d==&e=%26&";
  std::string seen;
  while (const auto parameter = next_parameter(query)) {
    seen += std::string(parameter->name) + "|" + std::string(parameter->value) + ";";
  }
  EXPECT_EQ(seen, "a|1;b|;|c;d|=;e|%26;");
}

TEST(Query, DecodesForms) {
  struct Case {
    std::string_view text;
    std::string_view decoded;
    bool ok = true;
  };
  using namespace std::string_view_literals;
  const Case cases[] = {
      {"", ""},
      {"abc", "abc"},
      {"a+b%20c", "a b c"},
      {"5%2Fmin+burst+10", "5/min burst 10"},
      {"%2b", "+"},
      {"%00", "\0"sv},
      {"%e2%82%ac", "\u20ac"},
      {"%", "", false},
      {"%4", "", false},
      {"%4g", "", false},
      {"%g4", "", false},
      {"a%", "", false},
      {"%%41", "", false},
      {"% 41", "", false},
      {"%2525", "%25"},
  };
  for (const Case& c : cases) {
    std::string out;
    EXPECT_EQ(append_form_decoded(c.text, out), c.ok) << c.text;
    if (c.ok) {
      EXPECT_EQ(out, c.decoded) << c.text;
    }
  }
}

TEST(Query, DecodesWhatIsEncoded) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    std::string encoded;
    for (const char c : text) {
      char hex[4];
      std::snprintf(hex, sizeof hex, "%%%02X", static_cast<unsigned char>(c));
      encoded += hex;
    }
    std::string decoded;
    RC_ASSERT(append_form_decoded(encoded, decoded));
    RC_ASSERT(decoded == text);
  }));
}

}  // namespace
}  // namespace ratel
