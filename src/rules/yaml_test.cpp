#include "rules/yaml.h"

#include <gtest/gtest.h>

#include <array>

namespace ratel {
namespace {

/// One line of a tree, to compare: {a: text, b: [x, ~]}.
std::string flat(const YamlNode& node) {
  std::string text;
  switch (node.kind) {
    case YamlNode::Kind::kNothing:
      return "~";
    case YamlNode::Kind::kText:
      return node.text;
    case YamlNode::Kind::kList:
      for (const YamlNode& item : node.items) text += (text.empty() ? "" : ", ") + flat(item);
      return "[" + text + "]";
    case YamlNode::Kind::kMap:
      for (const YamlEntry& entry : node.entries)
        text += (text.empty() ? "" : ", ") + entry.key + ": " + flat(entry.value);
      return "{" + text + "}";
  }
  return text;
}

TEST(Yaml, ReadsMapsListsAndText) {
  struct Case {
    std::string_view text;
    std::string_view flat;
  };
  const Case cases[] = {
      {"", "~"},
      {"# only a comment\n", "~"},
      {"---\n", "~"},
      {"a: 1", "{a: 1}"},
      {"a:\n  b: x # why\n  c: [1, two, ~]\nd:\n  - e: f\n  - g", "{a: {b: x, c: [1, two, ~]}, d: [{e: f}, g]}"},
      {"a: '1'\nb: \"x y\"\nc: ~\nd:\n", "{a: 1, b: x y, c: ~, d: ~}"},
      {"{a: {}, b: []}", "{a: {}, b: []}"},
      {"---\na: b\n...\n", "{a: b}"},
      {"\xEF\xBB\xBF"
       "a: b\r\nc: d\r\n",
       "{a: b, c: d}"},
      {"5/min", "5/min"},
  };
  for (const Case& c : cases) {
    ErrorList errors;
    const YamlNode node = parse_yaml(c.text, "f.yaml", errors);
    EXPECT_TRUE(errors.empty()) << c.text << "\n" << (errors.empty() ? "" : errors.error().message);
    EXPECT_EQ(flat(node), c.flat) << c.text;
  }
}

TEST(Yaml, RemembersPlaces) {
  ErrorList errors;
  const YamlNode node = parse_yaml("a: x\nbb:\n  - c: d\n  -   e\n", "f.yaml", errors);
  ASSERT_TRUE(errors.empty());
  const YamlEntry& second = node.entries.at(1);
  EXPECT_EQ(format_place("f", second.place), "f:2:1");
  EXPECT_EQ(format_place("f", node.entries.at(0).value.place), "f:1:4");
  EXPECT_EQ(format_place("f", second.value.items.at(0).entries.at(0).value.place), "f:3:8");
  EXPECT_EQ(format_place("f", second.value.items.at(1).place), "f:4:7");
}

std::string times(std::size_t n, std::string_view text) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) all += text;
  return all;
}

TEST(Yaml, SaysWhatItDoesNotRead) {
  struct Case {
    std::string text;
    std::string_view message;  // begins with
  };
  const Case cases[] = {
      {"a: [1", "f.yaml:1:4: end of sequence flow not found"},
      {"a: b: c", "f.yaml:1:5: illegal map value"},
      {"a:\n\t- b", "f.yaml:2:2: illegal block entry"},
      {"a: 1\na: 2\n", "f.yaml:2:1: `a` is already at line 1: write it once"},
      {"a: &x 1\n", "f.yaml:1:4: anchors (`&`) are not read here: write the value out"},
      {"a: *x\n", "f.yaml:1:4: the referenced anchor is not defined"},
      {"a: !int 1\n", "f.yaml:1:4: tags (`!`) are not read here: leave it out"},
      {"a: !!str x\n", "f.yaml:1:4: tags (`!`) are not read here: leave it out"},
      {"~: x\n", "f.yaml:1:1: a name is missing before the colon"},
      {"? [a]\n: x\n", "f.yaml:1:3: a name before a colon is plain text, not a list or a map"},
      {"a: 1\n---\nb: 2\n", "f.yaml:3:1: a second document (`---`) is not read here: one file, one document"},
      {times(kYamlDepthMax, "[") + times(kYamlDepthMax, "]"), ""},
      {times(kYamlDepthMax + 1, "[") + times(kYamlDepthMax + 1, "]"),
       "f.yaml:1:17: more than 16 lists and maps inside one another"},
      {times(100'000, "["), "f.yaml:1:1: a name before a colon is plain text, not a list or a map"},
      {times(100'000, "[") + times(100'000, "]"), "f.yaml:1:17: more than 16 lists and maps inside one another"},
      {times(100'000, "{a: ") + times(100'000, "}"), "f.yaml:1:65: more than 16 lists and maps inside one another"},
      {times(100'000, "- "), "f.yaml:1:33: more than 16 lists and maps inside one another"},
      {times(100'000, "? "), "f.yaml:1:3: a name before a colon"},
      {times(kYamlNodesMax - 1, "- \n"), ""},
      {times(kYamlNodesMax, "- \n"), "f.yaml:200001:1: more than 200000 values in one file"},
      {std::string(kYamlBytesMax, '#'), ""},
      {std::string(kYamlBytesMax + 1, '#'), "f.yaml:1:1: the file has more than 1048576 bytes"},
  };
  for (const Case& c : cases) {
    ErrorList errors;
    parse_yaml(c.text, "f.yaml", errors);
    const std::string message = errors.empty() ? "" : errors.error().message;
    EXPECT_EQ(message.substr(0, c.message.size()), c.message) << c.text.substr(0, 40) << "\n" << message;
    if (c.message.empty()) {
      EXPECT_EQ(message, "") << c.text.substr(0, 40);
    }
  }
}

TEST(Errors, AreBoundedAndQuoteSafely) {
  ErrorList errors;
  for (std::size_t i = 0; i < ErrorList::kErrorsMax; ++i) errors.add("x");
  EXPECT_EQ(errors.error().message.find("more"), std::string::npos);
  errors.add("y");
  errors.add("z");
  EXPECT_TRUE(errors.error().message.ends_with("x\nand 2 more")) << errors.error().message;

  EXPECT_EQ(quote("5/min"), "`5/min`");
  EXPECT_EQ(quote("a\n\x1b[31m\x7f"), "`a\\x0a\\x1b[31m\\x7f`");
  EXPECT_EQ(quote(std::string(60, 'x')), "`" + std::string(60, 'x') + "`");
  EXPECT_EQ(quote(std::string(61, 'x')), "`" + std::string(60, 'x') + "...`");
  EXPECT_EQ(quote(std::string(59, 'x') + "\xc3\xa4"), "`" + std::string(59, 'x') + "...`");  // no half an umlaut
  EXPECT_EQ(suggest("limut", std::array<std::string_view, 2>{"limit", "key"}), "did you mean `limit`?");
  EXPECT_EQ(suggest("zzz", std::array<std::string_view, 2>{"limit", "key"}), "known are `limit`, `key`");
}

}  // namespace
}  // namespace ratel
