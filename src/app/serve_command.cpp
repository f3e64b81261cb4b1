// Tested by tests/test_cli.py

#include "app/commands.h"
#include "app/server.h"
#include "app/setting_flags.h"

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

}  // namespace

void add_serve_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("serve", "Answer questions until told to stop");
  command->footer(kFooter);
  const SettingFlags flags = add_setting_flags(*command, [](const Setting&) { return true; });
  command->callback([flags, &run] {
    run = [flags] {
      const Result<Settings> settings = load_settings(flags);
      if (!settings.ok()) return fail(settings.error().message, kExitUsage);
      return run_server(*settings);
    };
  });
}

}  // namespace ratel
