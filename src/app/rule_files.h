#pragma once
// Reads the files that rules are in.

#include <string>
#include <vector>

#include "app/settings.h"
#include "rules/reload.h"

namespace ratel {

/// The texts at settings.rules: of the file, or of a folder's *.yaml and *.yml in the order of their names (hidden ones
/// are left out, so that a Kubernetes ConfigMap is read once). None where settings.rules is empty. Errors: unreadable,
/// too large, too many.
Result<std::vector<RuleFile>> read_rule_files(const Settings& settings);

}  // namespace ratel
