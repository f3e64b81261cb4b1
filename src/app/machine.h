#pragma once
// What this process may have of the machine it runs on. For the start-up.

#include <cstdint>
#include <string>

namespace ratel {

/// Cores this process may run on, at least 1.
int usable_cores();

/// Bytes of memory: the machine's, or less where a control group says so. `root` is `/` but in tests.
std::uint64_t usable_memory(const std::string& root = "/");

/// Takes as many file descriptors as it may, for connections. Returns how many that is.
std::uint64_t raise_descriptor_limit();

}  // namespace ratel
