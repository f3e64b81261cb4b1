#include "app/machine.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

namespace ratel {
namespace {

TEST(Machine, MemoryIsTheLeastThatAnyControlGroupAllows) {
  struct Case {
    const char* what;
    std::vector<std::pair<std::string, std::string>> files;
    std::uint64_t bytes;  // 0: the machine's
  };
  const Case cases[] = {
      {"no control groups", {}, 0},
      {"version 2 in a container", {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/memory.max", "1048\n"}}, 1048},
      {"version 2 without a limit", {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/memory.max", "max\n"}}, 0},
      {"the parent's is less",
       {{"proc/self/cgroup", "0::/a.slice/b\n"},
        {"sys/fs/cgroup/a.slice/b/memory.max", "3000000\n"},
        {"sys/fs/cgroup/a.slice/memory.max", "2000000\n"}},
       2000000},
      {"version 1",
       {{"proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/x\n"},
        {"sys/fs/cgroup/memory/x/memory.limit_in_bytes", "77\n"}},
       77},
      {"version 1 without a limit",
       {{"proc/self/cgroup", "4:memory:/\n"}, {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"}},
       0},
      {"garbage", {{"proc/self/cgroup", "memory\n\n:\n"}, {"sys/fs/cgroup/memory.max", "lots\n"}}, 0},
  };
  const std::uint64_t machine = usable_memory("/nowhere/");
  EXPECT_GT(machine, 1U << 20);
  for (const Case& c : cases) {
    const std::filesystem::path root = testing::TempDir() + "machine_test/";
    std::filesystem::remove_all(root);
    for (const auto& [name, text] : c.files) {
      std::filesystem::create_directories((root / name).parent_path());
      std::ofstream(root / name) << text;
    }
    EXPECT_EQ(usable_memory(root.string()), c.bytes == 0 ? machine : c.bytes) << c.what;
    std::filesystem::remove_all(root);
  }
}

TEST(Machine, TakesWhatItMayHave) {
  EXPECT_GE(usable_cores(), 1);
  EXPECT_GE(raise_descriptor_limit(), 64U);
}

}  // namespace
}  // namespace ratel
