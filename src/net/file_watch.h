#pragma once
// Notices that a file or folder has changed, by looking. Belongs to one thread.
//
// Looking once a second, and not inotify: it sees a file replaced, a folder of symbolic links swapped (as Kubernetes
// does with a ConfigMap) and a network file system alike, and costs a few system calls.

#include <string>
#include <vector>

namespace ratel {

class FileWatch {
 public:
  /// What is there now counts as known. Paths that do not exist may come to.
  explicit FileWatch(std::vector<std::string> paths);

  /// To be called about once a second. True once for each change, when what changed looked the same twice in a row: who
  /// writes a file slowly is not read in the middle.
  bool changed();

 private:
  std::string look() const;

  const std::vector<std::string> paths_;
  std::string known_;  // as it was when last reported
  std::string seen_;   // as it was a look ago
};

}  // namespace ratel
