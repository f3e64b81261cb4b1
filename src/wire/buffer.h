#pragma once
// How long a connection's buffers keep the memory of what they held. Pure.

#include <cstddef>
#include <string>

namespace ratel {

/// What an idle connection keeps of a buffer: more than a pipelined batch of questions or answers needs.
inline constexpr std::size_t kBufferBytesKept = 16 * 1024;

/// To be called when some of `buffer` has been consumed. A quarter, so that a buffer in use is rarely moved.
inline void give_back_unused(std::string& buffer) {
  if (buffer.capacity() > kBufferBytesKept && buffer.size() < buffer.capacity() / 4) buffer.shrink_to_fit();
}

}  // namespace ratel
