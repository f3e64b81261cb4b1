#pragma once
// One rule of a file. Part of load_rules; pure.

#include <optional>
#include <string_view>
#include <vector>

#include "rules/errors.h"
#include "rules/rule_book.h"
#include "rules/yaml.h"

namespace ratel {

/// Where a rule's fields are read and their mistakes reported.
class RuleReader {
 public:
  RuleReader(std::string_view file, std::string_view rule, ErrorList& errors)
      : file_(file), rule_(rule), errors_(errors) {}

  std::string_view rule() const { return rule_; }

  /// `field `x` of rule `login`: value `y`: what would be right`.
  void wrong(std::string_view field, const YamlNode& value, std::string_view right) const;
  void wrong(Place place, std::string_view message) const { errors_.add(file_, place, message); }

  /// What `parse` makes of a text; otherwise nothing, and the error is reported.
  template <typename Parse>
  auto read(std::string_view field, const YamlNode& value, Parse parse) const
      -> std::optional<std::decay_t<decltype(*parse(std::string_view()))>> {
    const auto parsed = parse(value.is_text() ? std::string_view(value.text) : std::string_view());
    if (parsed.ok() && value.is_text()) return *parsed;
    wrong(field, value, parsed.ok() ? "one value was expected" : parsed.error().message);
    return std::nullopt;
  }

 private:
  std::string_view file_;
  std::string_view rule_;
  ErrorList& errors_;
};

/// What a rule says to all of its limits.
struct LimitDefaults {
  std::optional<Algorithm> algorithm;
  Micros max_wait_us = 0;
};

/// The value of `limit`: one or a list, each text or a map. Empty after an error.
std::vector<BoundLimit> load_limits(const YamlNode& value, const LimitDefaults& defaults, const RuleReader& reader);

/// Nothing, or no rule to use, after an error.
std::optional<Rule> load_rule(const YamlEntry& entry, std::string_view file, ErrorList& errors);

/// The names of a rule's fields, and of a limit's, for whoever lists them.
std::vector<std::string_view> rule_field_names();
std::vector<std::string_view> limit_field_names();

/// Letters, digits and `_ - . : / @`, beginning with a letter or digit: nothing that separates, quotes or escapes
/// anywhere a name is shown. The error says so.
Status check_rule_name(std::string_view name);

}  // namespace ratel
