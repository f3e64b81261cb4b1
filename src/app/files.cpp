#include "app/files.h"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace ratel {
namespace {

Error cannot_read(const std::string& path, const std::string& why) {
  return {ErrorCode::kConfiguration, "cannot read " + path + ": " + why};
}

std::string last_error() {
  return std::error_code(errno, std::generic_category()).message();
}

}  // namespace

Result<std::string> read_text_file(const std::string& path, std::size_t bytes_max) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) return cannot_read(path, last_error());
  struct stat status = {};
  if (::fstat(::fileno(file.get()), &status) != 0) return cannot_read(path, last_error());
  if (S_ISDIR(status.st_mode)) return cannot_read(path, "it is a folder");

  std::string text;
  std::array<char, 16 * 1024> chunk;
  while (const std::size_t bytes = std::fread(chunk.data(), 1, chunk.size(), file.get())) {
    text.append(chunk.data(), bytes);
    if (text.size() > bytes_max) return cannot_read(path, "it has more than " + std::to_string(bytes_max) + " bytes");
  }
  if (std::ferror(file.get()) != 0) return cannot_read(path, last_error());
  return text;
}

}  // namespace ratel
