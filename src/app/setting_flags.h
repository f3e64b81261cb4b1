#pragma once
// Settings as flags of a subcommand. For main's thread.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/settings.h"

namespace ratel {

/// What was given on the command line; filled while it is parsed.
using SettingFlags = std::shared_ptr<std::vector<std::pair<std::string, std::string>>>;

/// Adds a flag for each setting that `wanted` takes.
SettingFlags add_setting_flags(CLI::App& command, bool (*wanted)(const Setting& setting));

/// Whether a setting says where a store is and who asks it; the configuration file may say it too.
bool is_of_store(const Setting& setting);

/// With the environment of the process and the files it names.
Result<Settings> load_settings(const SettingFlags& flags);

}  // namespace ratel
