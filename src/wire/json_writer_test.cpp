#include "wire/json_writer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <simdjson.h>

#include <limits>

namespace ratel {
namespace {

using namespace std::string_view_literals;

TEST(JsonWriter, EscapesStrings) {
  struct Case {
    std::string_view text;
    std::string_view json;
  };
  const Case cases[] = {
      {"", R"("")"},
      {"user:42", R"("user:42")"},
      {"a\"b\\c/d", R"("a\"b\\c/d")"},
      {"\n\r\t\b\0\x1f\x7f"sv, R"("\n\r\t\u0008\u0000\u001f\u007f")"},
      {"größe €", "\"größe €\""},
      {"\xf0\x9f\xa6\xa1", "\"\xf0\x9f\xa6\xa1\""},
      {"a\xff"
       "b",
       "\"a\xef\xbf\xbd"
       "b\""},
      {"\xc3", "\"\xef\xbf\xbd\""},
      {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                  // overlong
      {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},  // a surrogate
      {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
  };
  for (const Case& c : cases) {
    std::string out;
    append_json_string(out, c.text);
    EXPECT_EQ(out, c.json);
  }
}

TEST(JsonWriter, WritesValues) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("a", std::int64_t{1});
  json.member("b", "x"sv);
  json.member("c", true);
  json.name("d");
  json.null();
  json.name("e");
  json.begin_array();
  json.value(false);
  json.begin_object();
  json.end_object();
  json.value(std::numeric_limits<std::int64_t>::min());
  json.end_array();
  json.name("f");
  json.begin_array();
  json.end_array();
  json.end_object();
  EXPECT_EQ(out, R"({"a":1,"b":"x","c":true,"d":null,"e":[false,{},-9223372036854775808],"f":[]})");
}

/// Whatever the bytes, what is written is JSON, and UTF-8 is read back as it was.
TEST(JsonWriter, AlwaysWritesJson) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    std::string out = "[";
    append_json_string(out, text);
    out += ']';
    simdjson::dom::parser parser;
    simdjson::dom::element document;
    RC_ASSERT(parser.parse(out).get(document) == simdjson::SUCCESS);
    std::string_view read;
    RC_ASSERT(document.at(0).get(read) == simdjson::SUCCESS);
    if (simdjson::validate_utf8(text)) RC_ASSERT(read == text);
  }));
}

}  // namespace
}  // namespace ratel
