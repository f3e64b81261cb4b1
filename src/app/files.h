#pragma once
// Reads files that people wrote. Any thread.

#include <cstddef>
#include <string>

#include "ratel/result.h"

namespace ratel {

/// The whole of a regular file. The error names the path and what keeps it from being read, or that it is larger than
/// `bytes_max`.
Result<std::string> read_text_file(const std::string& path, std::size_t bytes_max);

}  // namespace ratel
