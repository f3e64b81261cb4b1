#include "wire/json_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

namespace ratel {
namespace {

constexpr JsonField kFields[] = {
    {.name = "rule", .slot = 0, .kind = JsonKind::kTexts},
    {.name = "key", .slot = 1, .kind = JsonKind::kText, .max = 200'000},
    {.name = "cost", .slot = 2, .kind = JsonKind::kInteger, .min = 0, .max = 100},
    {.name = "atmost", .slot = 3, .kind = JsonKind::kBool},
};

/// Writes down what it is given: `rule=a,b key=c;` or `!field=value;`.
class Notes final : public JsonObjects {
 public:
  void begin(bool array) override { text += array ? "[" : "{"; }
  void object(std::span<const JsonValue> values) override {
    if (values[0].given) {
      text += "rule=";
      for (const std::string_view rule : values[0].texts) text += std::string(rule) + ",";
    }
    if (values[1].given) text += "key=" + std::string(values[1].text) + " ";
    if (values[2].given) text += "cost=" + std::to_string(values[2].integer) + " ";
    if (values[3].given) text += values[3].flag ? "atmost" : "exactly";
    text += ";";
  }
  void bad_object(JsonFault fault) override {
    text += "!" + fault.field + "=" + fault.value + ";";
    last = std::move(fault);
  }

  std::string text;
  JsonFault last;
};

std::string read(std::string_view json, std::size_t objects_max = 3) {
  JsonReader reader;
  Notes notes;
  std::string body(json);
  return reader.read(body, kFields, objects_max, notes) ? notes.text : "broken: " + reader.fault().detail;
}

TEST(JsonReader, ReadsObjectsAndArraysOfThem) {
  struct Case {
    std::string_view json;
    std::string_view notes;
  };
  const Case cases[] = {
      {R"({"rule":"a","key":"k","cost":3,"atmost":true})", "{rule=a,key=k cost=3 atmost;"},
      {R"( { "atmost" : false , "rule" : [ "a" , "b" ] } )", "{rule=a,b,exactly;"},
      {R"([{"key":"1"},{"key":"2"},{"cost":0}])", "[key=1 ;key=2 ;cost=0 ;"},
      {R"({})", "{;"},
      {R"([{}])", "[;"},
      {R"({"cost":100})", "{cost=100 ;"},
      {R"({"cost":-0})", "{cost=0 ;"},
      {R"({"\u006bey":"a\u0041\n\ud83e\udda1"})", "{key=aA\n\xf0\x9f\xa6\xa1 ;"},
      {R"({"key":""})", "{key= ;"},
      {"{\"key\":\"gr\u00f6\u00dfe\"}", "{key=gr\u00f6\u00dfe ;"},
  };
  for (const Case& c : cases) EXPECT_EQ(read(c.json), c.notes) << c.json;
}

TEST(JsonReader, CoercesNothing) {
  struct Case {
    std::string_view json;
    std::string_view notes;
  };
  const Case cases[] = {
      {R"({"cost":"1"})", R"({!cost="1";)"},
      {R"({"cost":1.5})", "{!cost=1.5;"},
      {R"({"cost":1.0})", "{!cost=1.0;"},
      {R"({"cost":1e1})", "{!cost=1e1;"},
      {R"({"cost":-1})", "{!cost=-1;"},
      {R"({"cost":101})", "{!cost=101;"},
      {R"({"cost":01})", "{!cost=01;"},
      {R"({"cost":+1})", "{!cost=+1;"},
      {R"({"cost":0x10})", "{!cost=0x10;"},
      {R"({"cost":9223372036854775808})", "{!cost=9223372036854775808;"},
      {R"({"cost":99999999999999999999999999})", "{!cost=99999999999999999999999999;"},
      {R"({"cost":null})", "{!cost=null;"},
      {R"({"cost":true})", "{!cost=true;"},
      {R"({"cost":[1]})", "{!cost=[;"},
      {R"({"cost":NaN})", "{!cost=NaN;"},
      {R"({"key":1})", "{!key=1;"},
      {R"({"key":null})", "{!key=null;"},
      {R"({"key":["a"]})", "{!key=[;"},
      {R"({"key":"\x"})", R"({!key="\x";)"},
      {R"({"key":"\ud800"})", R"({!key="\ud800";)"},
      {R"({"rule":1})", "{!rule=1;"},
      {R"({"rule":[]})", "{!rule=[;"},
      {R"({"rule":["a",1]})", "{!rule=[;"},
      {R"({"rule":[["a"]]})", "{!rule=[;"},
      {R"({"rule":{"a":1}})", "{!rule={;"},
      {R"({"atmost":1})", "{!atmost=1;"},
      {R"({"atmost":"true"})", R"({!atmost="true";)"},
      {R"({"atmost":truex})", "{!atmost=truex;"},
      {R"({"kye":"a"})", R"({!kye="a";)"},
      {R"({"Key":"a"})", R"({!Key="a";)"},
      {R"({"":1})", "{!=1;"},
      {R"({"key":"a","key":"a"})", R"({!key="a";)"},
      {R"({"key":"a","\u006bey":"b"})", R"({!key="b";)"},
  };
  for (const Case& c : cases) EXPECT_EQ(read(c.json), c.notes) << c.json;
}

TEST(JsonReader, GoesOnBehindABadObject) {
  struct Case {
    std::string_view json;
    std::string_view notes;
  };
  const Case cases[] = {
      {R"([{"cost":-1,"key":"x"},{"key":"2"}])", "[!cost=-1;key=2 ;"},
      {R"([{"x":{"deep":[[{}]]},"key":"x"},{"key":"2"}])", "[!x={;key=2 ;"},
      {R"([1,{"key":"2"}])", "[!=1;key=2 ;"},
      {R"([[{"key":"1"}],{"key":"2"}])", "[!=[;key=2 ;"},
      {R"(["a",null,{"key":"2"}])", "[!=\"a\";!=null;key=2 ;"},
      {R"([{"rule":["a",["b"]],"key":"x"},{"key":"2"}])", "[!rule=[;key=2 ;"},
      {R"([{"key":"1"},{"cost":"1"}])", "[key=1 ;!cost=\"1\";"},
  };
  for (const Case& c : cases) EXPECT_EQ(read(c.json), c.notes) << c.json;
}

TEST(JsonReader, RefusesABrokenDocument) {
  const std::string_view cases[] = {
      "",
      " ",
      "null",
      "1",
      "\"a\"",
      "true",
      "[]",
      "[",
      "]",
      "{",
      "}",
      "{]",
      "[}",
      "[{]",
      "[{}",
      "{}}",
      "[{}]]",
      "{} {}",
      "{}x",
      "[{}] 1",
      "[{},]",
      "[,{}]",
      "[{} {}]",
      R"({"key")",
      R"({"key":)",
      R"({"key":"a")",
      R"({"key":"a)",
      R"({"key" "a"})",
      R"({"key":"a",})",
      R"({"key":"a" "cost":1})",
      R"({key:"a"})",
      R"({'key':'a'})",
      R"({1:2})",
      R"({"\x":1})",
      "{\"key\":\"a\xff\"}",
      "{\"key\":\"a\nb\"}",
      "\xef\xbb\xbf{}",
      "[{},{},{},{}]",
      "[1,1,1,1]",
      "nul",
  };
  for (const std::string_view json : cases) {
    const std::string result = read(json);
    EXPECT_TRUE(result.starts_with("broken: ")) << json << " gave " << result;
  }
}

TEST(JsonReader, ReachesItsBounds) {
  std::string sixteen = R"({"rule":["r")";
  for (std::size_t i = 1; i < kJsonListMax; ++i) sixteen += R"(,"r")";
  EXPECT_EQ(read(sixteen + "]}"), "{rule=r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,;");
  EXPECT_EQ(read(sixteen + R"(,"r"]})"), "{!rule=[;");
  EXPECT_EQ(read("[{},{},{}]"), "[;;;");
  EXPECT_EQ(read("[{},{},{},{}]"), "broken: an array must hold 1 to 3 objects");
  const std::string value = read(R"({"cost":")" + std::string(1000, 'x') + "\"}");
  EXPECT_EQ(value, "{!cost=\"" + std::string(kJsonShownBytesMax - 1, 'x') + "...;");
  const std::string name = read("{\"" + std::string(1000, 'x') + "\":1}");
  EXPECT_EQ(name, "{!" + std::string(kJsonShownBytesMax, 'x') + "...=1;");
  // Nothing is read recursively.
  EXPECT_EQ(read(R"({"key":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}"), "{!key=[;");
  EXPECT_EQ(read("[{\"key\":" + std::string(100'000, '[') + std::string(100'000, ']') + "},{}]"), "[!key=[;;");
}

TEST(JsonReader, SaysWhatWouldBeRight) {
  JsonReader reader;
  Notes notes;
  std::string body = R"([{"cost":"1"}])";
  ASSERT_TRUE(reader.read(body, kFields, 1, notes));
  EXPECT_EQ(notes.last.detail, "cost must be an integer from 0 to 100");
  body = R"([{"kye":1}])";
  ASSERT_TRUE(reader.read(body, kFields, 1, notes));
  EXPECT_EQ(notes.last.detail, "there is no field of this name here; there are rule, key, cost, atmost");
}

/// One reader, one document after the other: nothing of the one before shows.
TEST(JsonReader, IsUsedAgain) {
  JsonReader reader;
  for (const std::string_view json : {R"({"key":"a","cost":1})", R"({"key":)", R"([{"atmost":1},{"key":"b"}])", "{}"}) {
    Notes again;
    std::string body(json);
    const bool good = reader.read(body, kFields, 3, again);
    EXPECT_EQ(good ? again.text : "broken: " + reader.fault().detail, read(json)) << json;
  }
}

TEST(JsonReader, TakesAnyBytes) {
  EXPECT_TRUE(rc::check([] {
    // Bytes that JSON is made of, so that some of it is almost right.
    const auto pieces = *rc::gen::container<std::vector<std::string>>(
        rc::gen::element<std::string>("{", "}", "[", "]", ",", ":", "\"key\"", "\"rule\"", "\"cost\"", "1", "-", "\"",
                                      "\\", "null", "true", " ", "\x80"));
    std::string json;
    for (const std::string& piece : pieces) json += piece;
    read(json);
  }));
}

}  // namespace
}  // namespace ratel
