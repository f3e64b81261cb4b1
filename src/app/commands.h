#pragma once
// The subcommands. Each adds itself to the command line and, when chosen, leaves in `run` what is to be done; its
// result is the exit code. For main's thread.

#include <CLI/CLI.hpp>
#include <functional>

namespace ratel {

inline constexpr int kExitGood = 0;
inline constexpr int kExitFailed = 1;  // at run time; of ask: denied
inline constexpr int kExitUsage = 2;   // a flag, a setting or a file that cannot be used; of ask: no answer

using Run = std::function<int()>;

void add_serve_command(CLI::App& app, Run& run);
void add_check_command(CLI::App& app, Run& run);
void add_ask_command(CLI::App& app, Run& run);
void add_doctor_command(CLI::App& app, Run& run);
void add_show_command(CLI::App& app, Run& run);
void add_version_command(CLI::App& app, Run& run);

/// Prints what is wrong on standard error and returns the exit code.
int fail(const std::string& message, int exit_code);

}  // namespace ratel
