// ratel: reads the command line and runs what it names.

#include <iostream>
#include <vector>

#include "app/commands.h"
#include "base/nearest.h"

namespace {

constexpr const char* kAbout = "ratel, a rate limiter that all your servers share";

constexpr const char* kFooter = R"(
Start here:
  ratel serve --rules rules.yaml        a server on loopback: RESP on port 6390, HTTP on 8080
  ratel ask login user:42               one question to it
  redis-cli -p 6390 CL.THROTTLE user:42 15 30 60
  ratel check rules.yaml                what the rules do, in words
  ratel doctor --store redis://...      what is good and bad about a store for many servers

where rules.yaml may be as short as
  rules:
    login: { limit: 5/min }

`ratel COMMAND --help` says more.
)";

/// What CLI11 says of a word it does not know, and what that word was most likely meant to be.
std::string describe(const CLI::ParseError& error, const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (chosen.empty()) {
    for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
      known.push_back(each->get_name());
  } else {
    for (const CLI::Option* option : chosen.front()->get_options()) known.push_back(option->get_name());
  }
  std::string message = error.what();
  for (const std::string& word : words) {
    const std::string_view near = ratel::nearest_of(word, known);
    if (!near.empty() && near != word) message.append("; did you mean `").append(near).append("`?");
  }
  return message;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(kAbout, "ratel");
  app.footer(kFooter);
  ratel::Run run;
  ratel::add_serve_command(app, run);
  ratel::add_check_command(app, run);
  ratel::add_ask_command(app, run);
  ratel::add_doctor_command(app, run);
  ratel::add_show_command(app, run);
  ratel::add_version_command(app, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    return ratel::fail(describe(error, app, {argv + 1, argv + argc}), ratel::kExitUsage);
  }
  if (!run) {
    std::cerr << app.help();
    return ratel::kExitUsage;
  }
  return run();
}
