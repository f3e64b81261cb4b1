#pragma once
// Reads the files that rules are in. Any thread.

#include <string>
#include <vector>

#include "app/settings.h"
#include "rules/load_rules.h"

namespace ratel {

/// The texts of a file, or of a folder's *.yaml and *.yml in the order of their names; hidden ones are left out, so
/// that the files of a Kubernetes ConfigMap are read once. Errors: nothing there, unreadable, too large, too many.
Result<std::vector<RuleFile>> read_rule_files(const std::string& path);

/// What the settings say the rules are in. None where they name nothing.
Result<std::vector<RuleFile>> read_rule_files(const Settings& settings);

}  // namespace ratel
