// Tested by tests/test_cli.py

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

#include "app/commands.h"
#include "app/files.h"
#include "app/rule_files.h"
#include "app/settings.h"
#include "rules/explain.h"
#include "rules/yaml.h"

namespace ratel {
namespace {

constexpr const char* kFooter = R"(
Says what is wrong with the rules, each mistake with file, line and column; or, if nothing is, what
each rule does in words: how much passes at once, in the long run and in the worst minute, and when a
client that was denied may return. Exit code 0 if the file is good, 2 if not.

Examples:
  ratel check rules.yaml
  ratel check /etc/ratel/rules.d
  ratel check /etc/ratel/ratel.yaml     a file of settings is judged with the rules it names
)";

/// Whether a file is one for --config: it holds a setting that is not the rules.
bool has_settings(const YamlNode& root) {
  return std::any_of(root.entries.begin(), root.entries.end(), [](const YamlEntry& entry) {
    const auto table = settings_table();
    return std::any_of(table.begin(), table.end(), [&](const Setting& setting) {
      return setting.in_file && setting.name != "rules" && setting.name == entry.key;
    });
  });
}

/// The files of rules that a path given to check stands for.
Result<std::vector<RuleFile>> files_of(const std::string& path) {
  std::error_code unreadable;
  if (std::filesystem::is_directory(path, unreadable)) return read_rule_files(path);
  const Result<std::string> text = read_text_file(path, kYamlBytesMax);
  if (!text.ok()) return text.error();
  ErrorList errors;
  if (!has_settings(parse_yaml(*text, path, errors))) return std::vector<RuleFile>{{.name = path, .text = *text}};
  // The secrets stand where the server runs, which need not be here.
  const Result<Settings> settings = load_settings(
      {.flags = {{"config", path}},
       .environment = {},
       .read_file = [&](const std::string& file) -> Result<std::string> { return file == path ? *text : "secret"; }});
  if (!settings.ok()) return settings.error();
  return read_rule_files(*settings);
}

int check(const std::string& path) {
  const Result<std::vector<RuleFile>> files = files_of(path);
  if (!files.ok()) return fail(files.error().message, kExitUsage);
  const Result<std::vector<Rule>> rules = load_rules(*files);
  if (!rules.ok()) return fail(rules.error().message, kExitUsage);
  for (const Rule& rule : *rules) std::cout << explain(rule) << '\n';
  std::cout << path << " is good: " << rules->size() << (rules->size() == 1 ? " rule\n" : " rules\n");
  return kExitGood;
}

}  // namespace

void add_check_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("check", "Judge a file of rules and say in words what each rule does");
  command->footer(kFooter);
  const auto path = std::make_shared<std::string>();
  command->add_option("file", *path, "rules, a folder of them, or a configuration")->type_name("FILE|DIR")->required();
  command->callback([path, &run] { run = [path] { return check(*path); }; });
}

}  // namespace ratel
