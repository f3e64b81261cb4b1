#include "app/machine.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>

#include "base/check.h"

namespace ratel {
namespace {

constexpr std::uint64_t kUnlimitedMemory = std::numeric_limits<std::uint64_t>::max();

/// The number in the file's first line, or kUnlimitedMemory where there is none (`max`, no file).
std::uint64_t read_limit(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::uint64_t bytes = 0;
  if (!std::getline(file, line)) return kUnlimitedMemory;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), bytes);
  return error == std::errc() ? bytes : kUnlimitedMemory;
}

/// The least limit from a control group up to the root of its hierarchy.
std::uint64_t least_limit(const std::string& hierarchy, std::string group, const char* file) {
  std::uint64_t least = kUnlimitedMemory;
  while (true) {
    least = std::min(least, read_limit(hierarchy + group + "/" + file));
    const std::size_t slash = group.rfind('/');
    if (slash == std::string::npos) return least;
    group.resize(slash);
  }
}

}  // namespace

int usable_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return std::max(1, CPU_COUNT(&cores));
}

std::uint64_t usable_memory(const std::string& root) {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  std::uint64_t least = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  // A line a hierarchy: `0::/group` of version 2, `9:memory:/group` of version 1.
  std::ifstream groups(root + "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    if (controllers == ",,") least = std::min(least, least_limit(root + "sys/fs/cgroup", group, "memory.max"));
    if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, least_limit(root + "sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

std::uint64_t raise_descriptor_limit() {
  rlimit limit{};
  CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlimit most{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  return setrlimit(RLIMIT_NOFILE, &most) == 0 ? most.rlim_cur : limit.rlim_cur;
}

}  // namespace ratel
