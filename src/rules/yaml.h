#pragma once
// The part of YAML that configuration needs, as a tree that remembers where everything stood: maps, lists, text.
//
// No anchors, aliases, tags or second documents, all of which are errors: nothing here can grow beyond what was
// written. yaml-cpp and its exceptions stay inside yaml.cpp. Pure; any thread.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rules/errors.h"

namespace ratel {

inline constexpr std::size_t kYamlBytesMax = std::size_t{1} << 20;  // the parser may hold hundreds of bytes for each
inline constexpr std::size_t kYamlNodesMax = 200'000;               // a node takes some hundred bytes of memory
inline constexpr std::size_t kYamlDepthMax = 16;                    // ours need 5; parser and tree recurse

struct YamlEntry;

struct YamlNode {
  enum class Kind { kNothing, kText, kList, kMap };  // nothing: an empty value, `~` or `null`

  Kind kind = Kind::kNothing;
  Place place;
  std::string text;                // of kText; quoted or not makes no difference
  std::vector<YamlNode> items;     // of kList
  std::vector<YamlEntry> entries;  // of kMap, in the order written, no key twice

  bool is_map() const { return kind == Kind::kMap; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_text() const { return kind == Kind::kText; }
  bool is_nothing() const { return kind == Kind::kNothing; }
};

struct YamlEntry {
  std::string key;
  Place place;
  YamlNode value;
};

/// The tree of a text; an empty one is kNothing. What is wrong goes to `errors`, and the tree is then not to be used.
YamlNode parse_yaml(std::string_view text, std::string_view file, ErrorList& errors);

/// How an error names a value: its text between backquotes, or what kind of thing it is.
std::string describe(const YamlNode& node);

}  // namespace ratel
