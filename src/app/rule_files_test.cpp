#include "app/rule_files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/files.h"
#include "rules/yaml.h"

namespace ratel {
namespace {

namespace fs = std::filesystem;

class RuleFiles : public testing::Test {
 protected:
  RuleFiles() {
    std::string pattern = (fs::temp_directory_path() / "ratel-rule-files-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~RuleFiles() override { fs::remove_all(folder_); }

  std::string path(std::string_view name) const { return (folder_ / name).string(); }
  void write(std::string_view name, std::string_view text) const { std::ofstream(path(name)) << text; }

  fs::path folder_;
};

TEST_F(RuleFiles, ReadsAFile) {
  write("r", "rules: {}");
  const auto files = read_rule_files(path("r"));
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(*files, (std::vector<RuleFile>{{.name = path("r"), .text = "rules: {}"}}));
}

TEST_F(RuleFiles, ReadsAFolderInOrderAndWithoutWhatIsHidden) {
  write("b.yaml", "b");
  write("a.yml", "a");
  write("notes.txt", "n");
  write(".c.yaml", "c");
  // As Kubernetes mounts a ConfigMap: the files are links into a hidden folder.
  fs::create_directory(folder_ / "..data");
  std::ofstream(folder_ / "..data" / "d.yaml") << "d";
  fs::create_symlink("..data/d.yaml", folder_ / "d.yaml");
  const auto files = read_rule_files(folder_.string());
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(*files, (std::vector<RuleFile>{{.name = path("a.yml"), .text = "a"},
                                           {.name = path("b.yaml"), .text = "b"},
                                           {.name = path("d.yaml"), .text = "d"}}));
}

TEST_F(RuleFiles, KnowsWhichFileHasSettings) {
  write("c", "threads: 1");
  Settings settings;
  EXPECT_TRUE(read_rule_files(settings)->empty());
  settings.config = settings.rules = path("c");
  EXPECT_TRUE(read_rule_files(settings)->at(0).has_settings);
  settings.config = "other";
  EXPECT_FALSE(read_rule_files(settings)->at(0).has_settings);
}

TEST_F(RuleFiles, SaysWhatCannotBeRead) {
  EXPECT_EQ(read_rule_files(path("none")).error().message,
            "cannot read " + path("none") + ": No such file or directory");
  EXPECT_EQ(read_rule_files(folder_.string()).error().message,
            folder_.string() + ": no *.yaml or *.yml in this folder");
  fs::create_directory(folder_ / "x.yaml");
  EXPECT_EQ(read_rule_files(folder_.string()).error().message, "cannot read " + path("x.yaml") + ": it is a folder");
}

TEST_F(RuleFiles, HasBounds) {
  for (const std::string_view name : {"a.yaml", "b.yaml", "c.yaml"}) write(name, std::string(kYamlBytesMax, 'x'));
  write("d.yaml", std::string(kYamlBytesMax - 3, 'x'));
  write("e.yaml", "yyy");
  static_assert(kRuleTextMax == 4 * kYamlBytesMax);
  EXPECT_TRUE(read_rule_files(folder_.string()).ok());
  write("e.yaml", "yyyy");
  EXPECT_EQ(read_rule_files(folder_.string()).error().message,
            "cannot read " + path("e.yaml") + ": it has more than 3 bytes");
  write("e.yaml", std::string(kYamlBytesMax + 1, 'x'));
  EXPECT_EQ(read_rule_files(path("e.yaml")).error().message,
            "cannot read " + path("e.yaml") + ": it has more than 1048576 bytes");
  fs::remove(folder_ / "d.yaml");
  fs::remove(folder_ / "e.yaml");
  write("b.yaml", "yyyy");
  EXPECT_EQ(read_text_file(path("b.yaml"), 4).value(), "yyyy");
  for (std::size_t i = 3; i < kRuleFilesMax; ++i) write("z" + std::to_string(i) + ".yaml", "");
  write("b.yaml", "");
  EXPECT_EQ(read_rule_files(folder_.string())->size(), kRuleFilesMax);
  write("d.yaml", "");
  EXPECT_EQ(read_rule_files(folder_.string()).error().message, folder_.string() + ": more than 256 files of rules");
}

}  // namespace
}  // namespace ratel
