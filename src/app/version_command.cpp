// Tested by tests/test_cli.py

#include <iostream>

#include "app/commands.h"
#include "app/version.h"

namespace ratel {
namespace {

#ifdef __clang__
constexpr const char* kCompiler = __VERSION__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

}  // namespace

void add_version_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("version", "Say which ratel this is");
  command->callback([&run] {
    run = [] {
      std::cout << "ratel " << version() << " (" << revision() << "), built by " << kCompiler << '\n';
      return kExitGood;
    };
  });
}

}  // namespace ratel
