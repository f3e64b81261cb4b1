#pragma once
// From the texts of rule files to the rules they hold. Pure; any thread.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rule_book.h"

namespace ratel {

inline constexpr std::size_t kRulesMax = 10'000;       // over all files; each has series in /metrics
inline constexpr std::size_t kRuleFilesMax = 256;      // of a folder
inline constexpr std::size_t kRuleNameBytesMax = 128;  // it stands in answers, headers, metrics and store keys
inline constexpr std::size_t kRuleTextMax = std::size_t{4} << 20;  // bytes over all files: kRulesMax of 400 bytes

struct RuleFile {
  std::string name;  // as errors name it
  std::string text;
  bool has_settings = false;  // a configuration file: keys beside `rules` are not this room's to judge

  friend bool operator==(const RuleFile&, const RuleFile&) = default;
};

/// The rules of all files together, in their order. A name in two files is an error that gives both places. The error
/// is a list, one line each: `file:line:column: field `x` of rule `login`: value `y`: what would be right`.
Result<std::vector<Rule>> load_rules(std::span<const RuleFile> files);

/// `local`, `allow`, `deny`. The error says what would be right.
Result<FailureMode> parse_failure_mode(std::string_view text);

}  // namespace ratel
