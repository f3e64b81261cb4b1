// docs/configuration.md says what the tables of settings and fields say, and its examples are good.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "app/settings.h"
#include "rules/load_rule.h"
#include "rules/load_rules.h"

namespace ratel {

extern const char* const kSourceDir;  // made by the build

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(kSourceDir) + "/" + path);
  EXPECT_TRUE(file.is_open()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Inside a table of Markdown a bar is written `\|`.
std::string in_a_table(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

TEST(Documentation, HasARowForEachSettingAndNoOther) {
  const std::string page = text_of("docs/configuration.md");
  std::size_t rows = 0;
  for (std::size_t at = page.find("\n| `--"); at != std::string::npos; at = page.find("\n| `--", at + 1)) ++rows;
  EXPECT_EQ(rows, settings_table().size());
  for (const Setting& setting : settings_table()) {
    std::string flag = flag_of(setting);
    if (!setting.value.empty()) flag.append(" ").append(setting.value);
    const std::string key = setting.in_file ? "`" + std::string(setting.name) + "`" : "";
    const std::string row = "\n| `" + in_a_table(flag) + "` | `" + variable_of(setting) + "` | " + key + " | " +
                            std::string(setting.standard) + " | " + in_a_table(setting.help) + " |\n";
    EXPECT_NE(page.find(row), std::string::npos) << "not in docs/configuration.md:" << row;
  }
}

TEST(Documentation, HasARowForEachField) {
  const std::string page = text_of("docs/configuration.md");
  const std::size_t of_limits = page.find("| field of a limit |");
  ASSERT_NE(of_limits, std::string::npos);
  const auto row = [](std::string_view field) { return "\n| `" + std::string(field) + "` | "; };
  for (const std::string_view field : rule_field_names()) EXPECT_LT(page.find(row(field)), of_limits) << field;
  for (const std::string_view field : limit_field_names()) {
    EXPECT_NE(page.find(row(field), of_limits), std::string::npos) << field;
  }
}

/// The blocks of a page marked ```yaml.
std::vector<std::string> examples_in(const std::string& page) {
  constexpr std::string_view kBegin = "```yaml\n";
  std::vector<std::string> examples;
  for (std::size_t at = page.find(kBegin); at != std::string::npos; at = page.find(kBegin, at)) {
    at += kBegin.size();
    examples.push_back(page.substr(at, page.find("```", at) - at));
  }
  return examples;
}

TEST(Documentation, ExamplesAreGood) {
  std::vector<std::string> examples{text_of("examples/ratel.yaml")};
  for (const std::string page : {"docs/configuration.md", "docs/concepts.md"}) {
    const std::vector<std::string> found = examples_in(text_of(page));
    EXPECT_FALSE(found.empty()) << page;
    examples.insert(examples.end(), found.begin(), found.end());
  }
  for (const std::string& example : examples) {
    const Result<Settings> settings =
        load_settings({.flags = {{"config", "example"}}, .environment = {}, .read_file = [&](const std::string& path) {
                         return Result<std::string>(path == "example" ? example : "a secret");
                       }});
    EXPECT_TRUE(settings.ok()) << example << settings.error().message;
    const RuleFile file{.name = "example", .text = example, .has_settings = true};
    const Result<std::vector<Rule>> rules = load_rules(std::span(&file, 1));
    ASSERT_TRUE(rules.ok()) << example << rules.error().message;
    EXPECT_FALSE(rules->empty()) << example;
  }
}

}  // namespace
}  // namespace ratel
