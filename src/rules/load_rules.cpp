#include "rules/load_rules.h"

#include <fmt/format.h>

#include <array>
#include <map>

#include "rules/load_rule.h"
#include "rules/yaml.h"

namespace ratel {
namespace {

class Loader {
 public:
  void load(const RuleFile& file) {
    const YamlNode root = parse_yaml(file.text, file.name, errors_);
    if (!errors_.empty()) return;
    if (!root.is_map()) {
      if (root.is_nothing() && file.has_settings) return;
      return errors_.add(
          file.name, root.place,
          fmt::format("{} where `rules:` was expected; a file without rules says `rules: {{}}`", describe(root)));
    }
    const YamlNode* rules = nullptr;
    for (const YamlEntry& entry : root.entries) {
      if (entry.key == "rules") {
        rules = &entry.value;
      } else if (entry.key == "domain" || entry.key == "descriptors") {
        return errors_.add(file.name, entry.place,
                           fmt::format("`{}:` belongs to the format of the Envoy reference service, which this version "
                                       "does not read: write `rules:`",
                                       entry.key));
      } else if (!file.has_settings) {
        errors_.add(
            file.name, entry.place,
            fmt::format("unknown key {}: a file of rules has only `rules:` (settings stand in the file of --config)",
                        quote(entry.key)));
      }
    }
    if (rules != nullptr) {
      load_map(*rules, file);
    } else if (!file.has_settings && errors_.empty()) {
      errors_.add(file.name, root.place, "no `rules:`; a file without rules says `rules: {}`");
    }
  }

  Result<std::vector<Rule>> finish() {
    if (!errors_.empty()) return errors_.error();
    return std::move(rules_);
  }

  ErrorList& errors() { return errors_; }

 private:
  void load_map(const YamlNode& rules, const RuleFile& file) {
    // A configuration file may say where the rules are instead.
    if (rules.is_text() && file.has_settings) return;
    if (!rules.is_map()) {
      return errors_.add(file.name, rules.place,
                         fmt::format("field `rules`: {} where a map from names to rules was expected, as in "
                                     "`login: {{ limit: 5/min }}`",
                                     describe(rules)));
    }
    for (const YamlEntry& entry : rules.entries) {
      const auto [first, is_new] = places_.try_emplace(entry.key, format_place(file.name, entry.place));
      if (!is_new) {
        errors_.add(file.name, entry.place, fmt::format("rule {} is already at {}", quote(entry.key), first->second));
      } else if (places_.size() == kRulesMax + 1) {
        return errors_.add(file.name, entry.place, fmt::format("more than {} rules", kRulesMax));
      } else if (std::optional<Rule> rule = load_rule(entry, file.name, errors_)) {
        rules_.push_back(*std::move(rule));
      }
    }
  }

  ErrorList errors_;
  std::vector<Rule> rules_;
  std::map<std::string, std::string, std::less<>> places_;  // where each name was first
};

}  // namespace

Result<std::vector<Rule>> load_rules(std::span<const RuleFile> files) {
  Loader loader;
  if (files.size() > kRuleFilesMax) {
    loader.errors().add(fmt::format("more than {} files of rules", kRuleFilesMax));
    return loader.finish();
  }
  std::size_t bytes = 0;
  for (const RuleFile& file : files) {
    bytes += file.text.size();
    if (bytes > kRuleTextMax) {
      loader.errors().add(file.name, {},
                          fmt::format("the files of rules have more than {} bytes together", kRuleTextMax));
      break;
    }
    loader.load(file);
  }
  return loader.finish();
}

}  // namespace ratel
