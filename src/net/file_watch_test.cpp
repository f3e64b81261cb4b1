#include "net/file_watch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace ratel {
namespace {

namespace fs = std::filesystem;

class FileWatchTest : public testing::Test {
 protected:
  FileWatchTest() { fs::create_directories(folder_); }
  ~FileWatchTest() override { fs::remove_all(folder_); }

  /// A size nobody else has, since two writes may fall into one tick of the file system's clock.
  void write(const fs::path& path) { std::ofstream(path) << std::string(++size_, 'x'); }

  /// What the next looks say: one a character, `!` where something changed.
  static std::string looks(FileWatch& watch, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += watch.changed() ? '!' : '.';
    return result;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("file_watch_test." + std::to_string(getpid()));
  const fs::path file_ = folder_ / "rules.yaml";
  std::size_t size_ = 0;
};

TEST_F(FileWatchTest, ReportsAChangeOnceItHasSettled) {
  write(file_);
  FileWatch watch({file_});
  EXPECT_EQ(looks(watch, 3), "...");
  write(file_);
  EXPECT_EQ(looks(watch, 4), ".!..");
}

TEST_F(FileWatchTest, WaitsForAWriterInTheMiddle) {
  write(file_);
  FileWatch watch({file_});
  for (int i = 0; i < 5; ++i) {
    write(file_);
    EXPECT_EQ(looks(watch, 1), ".");
  }
  EXPECT_EQ(looks(watch, 3), "!..");
}

TEST_F(FileWatchTest, SeesAFileComeGoAndBeReplaced) {
  FileWatch watch({file_});
  write(file_);
  EXPECT_EQ(looks(watch, 3), ".!.");
  fs::remove(file_);
  EXPECT_EQ(looks(watch, 3), ".!.");
  write(file_);
  EXPECT_EQ(looks(watch, 3), ".!.");
  write(folder_ / "new");
  fs::rename(folder_ / "new", file_);  // as editors save
  EXPECT_EQ(looks(watch, 3), ".!.");
}

TEST_F(FileWatchTest, SeesAConfigMapSwap) {
  fs::create_directories(folder_ / "..1");
  fs::create_directories(folder_ / "..2");
  write(folder_ / "..1/rules.yaml");
  write(folder_ / "..2/rules.yaml");
  fs::create_symlink("..1", folder_ / "..data");
  fs::create_symlink("..data/rules.yaml", file_);
  FileWatch one({file_});
  FileWatch all({folder_});
  fs::create_symlink("..2", folder_ / "..tmp");
  fs::rename(folder_ / "..tmp", folder_ / "..data");
  EXPECT_EQ(looks(one, 3), ".!.");
  EXPECT_EQ(looks(all, 3), ".!.");
}

TEST_F(FileWatchTest, SeesWhatHappensInAFolder) {
  write(folder_ / "a.yaml");
  FileWatch watch({folder_});
  write(folder_ / "b.yaml");
  EXPECT_EQ(looks(watch, 3), ".!.");
  write(folder_ / "a.yaml");
  EXPECT_EQ(looks(watch, 3), ".!.");
  fs::remove(folder_ / "b.yaml");
  EXPECT_EQ(looks(watch, 3), ".!.");
}

TEST_F(FileWatchTest, WithoutPathsNothingChanges) {
  FileWatch watch({});
  EXPECT_EQ(looks(watch, 3), "...");
}

}  // namespace
}  // namespace ratel
