// Tested by tests/test_cli.py

#include "app/setting_flags.h"

#include <unistd.h>

#include "app/files.h"
#include "rules/yaml.h"

namespace ratel {
namespace {

std::vector<std::string> environment_of_process() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

}  // namespace

SettingFlags add_setting_flags(CLI::App& command, bool (*wanted)(const Setting& setting)) {
  const auto flags = std::make_shared<SettingFlags::element_type>();
  for (const Setting& setting : settings_table()) {
    if (!wanted(setting)) continue;
    const auto given = [flags, name = std::string(setting.name)](const std::string& value) {
      flags->emplace_back(name, value);
    };
    const std::string help = std::string(setting.help) + " [" + std::string(setting.standard) + "]";
    if (setting.value.empty()) {
      command.add_flag_function(
          flag_of(setting), [given](std::int64_t count) { given(count > 0 ? "true" : "false"); }, help);
    } else {
      command.add_option_function<std::string>(flag_of(setting), given, help)->type_name(std::string(setting.value));
    }
  }
  return flags;
}

bool is_of_store(const Setting& setting) {
  return setting.name == "config" || setting.name == "key_prefix" || setting.name.starts_with("store");
}

Result<Settings> load_settings(const SettingFlags& flags) {
  return load_settings({.flags = *flags,
                        .environment = environment_of_process(),
                        .read_file = [](const std::string& path) { return read_text_file(path, kYamlBytesMax); }});
}

}  // namespace ratel
