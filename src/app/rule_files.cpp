#include "app/rule_files.h"

#include <algorithm>
#include <filesystem>

#include "app/files.h"
#include "rules/yaml.h"

namespace ratel {
namespace {

namespace fs = std::filesystem;

Result<std::vector<std::string>> rule_paths_of(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const fs::path& path = entry->path();
    const bool is_yaml = path.extension() == ".yaml" || path.extension() == ".yml";
    if (is_yaml && !path.filename().string().starts_with('.')) paths.push_back(path.string());
    if (paths.size() > kRuleFilesMax) {
      return Error{ErrorCode::kConfiguration,
                   folder + ": more than " + std::to_string(kRuleFilesMax) + " files of rules"};
    }
  }
  if (error) return Error{ErrorCode::kConfiguration, "cannot read " + folder + ": " + error.message()};
  // A folder that lost its files says more about the folder than about the rules.
  if (paths.empty()) return Error{ErrorCode::kConfiguration, folder + ": no *.yaml or *.yml in this folder"};
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

Result<std::vector<RuleFile>> read_rule_files(const std::string& path) {
  std::error_code error;
  std::vector<std::string> paths{path};
  if (fs::is_directory(path, error)) {
    Result<std::vector<std::string>> found = rule_paths_of(path);
    if (!found.ok()) return found.error();
    paths = *std::move(found);
  }
  std::vector<RuleFile> files;
  std::size_t bytes = 0;
  for (const std::string& name : paths) {
    Result<std::string> text = read_text_file(name, std::min(kYamlBytesMax, kRuleTextMax - bytes));
    if (!text.ok()) return text.error();
    bytes += text->size();
    files.push_back({.name = name, .text = *std::move(text)});
  }
  return files;
}

Result<std::vector<RuleFile>> read_rule_files(const Settings& settings) {
  if (settings.rules.empty()) return std::vector<RuleFile>();
  Result<std::vector<RuleFile>> files = read_rule_files(settings.rules);
  if (files.ok() && settings.rules == settings.config) files->front().has_settings = true;
  return files;
}

}  // namespace ratel
