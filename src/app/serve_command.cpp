// Tested by tests/test_cli.py

#include <unistd.h>

#include <memory>

#include "app/commands.h"
#include "app/files.h"
#include "app/server.h"
#include "app/settings.h"
#include "rules/yaml.h"

namespace ratel {
namespace {

constexpr const char* kFooter = R"(
Every flag is also a variable (--max-memory: RATEL_MAX_MEMORY) and a key of the file given with
--config (max_memory: 2GiB). Flags win over variables, and both over the file.

Examples:
  ratel serve
      CL.THROTTLE, and limits that come with the question, on 127.0.0.1:6390
  ratel serve --rules rules.yaml
  ratel serve --config /etc/ratel/ratel.yaml --threads 2
  ratel serve --resp 0.0.0.0:6390 --password-file /run/secrets/ratel --http off

The rules are read again when their files change and on SIGHUP; counts stay. SIGTERM drains.
)";

std::vector<std::string> environment_of_process() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

}  // namespace

void add_serve_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("serve", "Answer questions until told to stop");
  command->footer(kFooter);
  const auto flags = std::make_shared<std::vector<std::pair<std::string, std::string>>>();
  for (const Setting& setting : settings_table()) {
    const auto given = [flags, name = std::string(setting.name)](const std::string& value) {
      flags->emplace_back(name, value);
    };
    const std::string help = std::string(setting.help) + " [" + std::string(setting.standard) + "]";
    if (setting.value.empty()) {
      command->add_flag_function(
          flag_of(setting), [given](std::int64_t count) { given(count > 0 ? "true" : "false"); }, help);
    } else {
      command->add_option_function<std::string>(flag_of(setting), given, help)->type_name(std::string(setting.value));
    }
  }
  command->callback([flags, &run] {
    run = [flags] {
      const Result<Settings> settings = load_settings(
          {.flags = *flags, .environment = environment_of_process(), .read_file = [](const std::string& path) {
             return read_text_file(path, kYamlBytesMax);
           }});
      if (!settings.ok()) return fail(settings.error().message, kExitUsage);
      return run_server(*settings);
    };
  });
}

}  // namespace ratel
