#include "rules/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <unordered_set>

#include "base/check.h"

namespace ratel {
namespace {

Place place_of(const YAML::Mark& mark) {
  return {.line = std::max(mark.line, 0) + 1, .column = std::max(mark.column, 0) + 1};
}

/// Builds the tree from the parser's events. Leaves the parser by an exception where going on makes no sense.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view file, ErrorList& errors) : file_(file), errors_(errors) {}

  YamlNode take() { return std::move(root_); }

  /// Of the innermost list or map that is not complete: where an end is missing, its beginning is what to look at.
  Place innermost() const { return open_.empty() ? Place{} : open_.back().node.place; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnAnchor(const YAML::Mark& mark, const std::string&) override {
    refuse(mark, "anchors (`&`) are not read here: write the value out");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "aliases (`*`) are not read here: write the value out");
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { leaf(mark, YamlNode::Kind::kNothing, {}); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
    refuse_tag(mark, tag);
    leaf(mark, YamlNode::Kind::kText, value);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    refuse_tag(mark, tag);
    open(mark, YamlNode::Kind::kList);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
    refuse_tag(mark, tag);
    open(mark, YamlNode::Kind::kMap);
  }
  void OnMapEnd() override { close(); }

 private:
  /// A list or map that is not complete yet.
  struct Open {
    YamlNode node;
    bool key_read = false;  // the last entry of a map waits for its value
    std::unordered_set<std::string> keys;
  };

  [[noreturn]] static void refuse(const YAML::Mark& mark, const std::string& why) {
    throw YAML::ParserException(mark, why);
  }

  static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    const bool given = !tag.empty() && tag != "?" && tag != "!";  // what the parser puts for plain and quoted ones
    if (given) refuse(mark, "tags (`!`) are not read here: leave it out");
  }

  YamlNode make(const YAML::Mark& mark, YamlNode::Kind kind) {
    if (++nodes_ > kYamlNodesMax) refuse(mark, "more than " + std::to_string(kYamlNodesMax) + " values in one file");
    YamlNode node;
    node.kind = kind;
    node.place = place_of(mark);
    return node;
  }

  bool expects_key() const { return !open_.empty() && open_.back().node.is_map() && !open_.back().key_read; }

  void leaf(const YAML::Mark& mark, YamlNode::Kind kind, const std::string& text) {
    YamlNode node = make(mark, kind);
    node.text = text;
    if (expects_key()) {
      add_key(mark, node);
    } else {
      add_value(std::move(node));
    }
  }

  void add_key(const YAML::Mark& mark, const YamlNode& node) {
    if (node.is_nothing()) refuse(mark, "a name is missing before the colon");
    Open& map = open_.back();
    if (!map.keys.insert(node.text).second) {
      const auto first = std::find_if(map.node.entries.begin(), map.node.entries.end(),
                                      [&](const YamlEntry& entry) { return entry.key == node.text; });
      errors_.add(file_, node.place,
                  quote(node.text) + " is already at line " + std::to_string(first->place.line) + ": write it once");
    }
    map.node.entries.push_back({.key = node.text, .place = node.place, .value = {}});
    map.key_read = true;
  }

  void add_value(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.is_map()) {
      // What is not there is where its name stands.
      if (node.is_nothing()) node.place = parent.node.entries.back().place;
      parent.node.entries.back().value = std::move(node);
      parent.key_read = false;
    } else {
      parent.node.items.push_back(std::move(node));
    }
  }

  void open(const YAML::Mark& mark, YamlNode::Kind kind) {
    if (expects_key()) refuse(mark, "a name before a colon is plain text, not a list or a map");
    if (open_.size() == kYamlDepthMax)
      refuse(mark, "more than " + std::to_string(kYamlDepthMax) + " lists and maps inside one another");
    open_.push_back({.node = make(mark, kind)});
  }

  void close() {
    CHECK(!open_.empty());
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    add_value(std::move(node));
  }

  std::string_view file_;
  ErrorList& errors_;
  YamlNode root_;
  std::vector<Open> open_;
  std::size_t nodes_ = 0;
};

}  // namespace

YamlNode parse_yaml(std::string_view text, std::string_view file, ErrorList& errors) {
  if (text.size() > kYamlBytesMax) {
    errors.add(file, {}, "the file has more than " + std::to_string(kYamlBytesMax) + " bytes");
    return {};
  }
  TreeBuilder builder(file, errors);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    YamlNode root = builder.take();
    TreeBuilder second(file, errors);
    if (parser.HandleNextDocument(second)) {
      errors.add(file, second.take().place, "a second document (`---`) is not read here: one file, one document");
    }
    return root;
  } catch (const YAML::Exception& exception) {
    const bool nowhere = exception.mark.line <= 0 && exception.mark.column <= 0;
    errors.add(file, nowhere ? builder.innermost() : place_of(exception.mark), exception.msg);
  } catch (const std::exception& exception) {
    errors.add(file, {}, std::string("not YAML: ") + exception.what());
  }
  return {};
}

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNothing:
      return "nothing";
    case YamlNode::Kind::kText:
      return quote(node.text);
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
  }
  return {};
}

}  // namespace ratel
