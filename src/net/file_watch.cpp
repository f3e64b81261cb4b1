#include "net/file_watch.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace ratel {
namespace {

/// What tells one state of a file from another, through symbolic links.
void append_state(const std::string& path, std::string& out) {
  struct stat file {};
  out += path;
  if (stat(path.c_str(), &file) == 0) {
    for (const auto number : {std::uint64_t{file.st_dev}, std::uint64_t{file.st_ino},
                              static_cast<std::uint64_t>(file.st_size), static_cast<std::uint64_t>(file.st_mtim.tv_sec),
                              static_cast<std::uint64_t>(file.st_mtim.tv_nsec),
                              static_cast<std::uint64_t>(file.st_ctim.tv_sec),
                              static_cast<std::uint64_t>(file.st_ctim.tv_nsec)}) {
      out += ' ';
      out += std::to_string(number);
    }
  }
  out += '\n';
}

std::vector<std::string> entries_of(const std::string& path) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
  if (folder == nullptr) return names;
  while (const dirent* entry = readdir(folder.get())) names.emplace_back(entry->d_name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

FileWatch::FileWatch(std::vector<std::string> paths) : paths_(std::move(paths)), known_(look()), seen_(known_) {}

bool FileWatch::changed() {
  std::string state = look();
  const bool settled = state == seen_;
  seen_ = std::move(state);
  if (!settled || seen_ == known_) return false;
  known_ = seen_;
  return true;
}

std::string FileWatch::look() const {
  std::string state;
  for (const std::string& path : paths_) {
    append_state(path, state);
    // `..` of a folder changes with what is beside it.
    for (const std::string& name : entries_of(path)) {
      if (name != "..") append_state(path + "/" + name, state);
    }
  }
  return state;
}

}  // namespace ratel
