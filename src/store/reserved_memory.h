#pragma once
// A long range of addresses of which only what is committed and touched takes memory.
//
// It is how a table grows without ever moving or copying what it holds. Committing is the caller's to serialise; what
// is committed may be used from any thread.

#include <cstddef>

namespace ratel {

class ReservedMemory {
 public:
  /// Reserves `bytes`, or as large a part of them as the process is allowed addresses (ulimit -v).
  explicit ReservedMemory(std::size_t bytes);
  ~ReservedMemory();
  ReservedMemory(const ReservedMemory&) = delete;
  ReservedMemory& operator=(const ReservedMemory&) = delete;

  /// Of a multiple of 2 MiB and aligned as much.
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// Makes the first `bytes` usable; what was never touched reads as zero. False when the system has no more.
  bool commit(std::size_t bytes);
  /// Gives back the pages that lie wholly in [offset, offset + bytes); they stay usable and read as zero.
  void discard(std::size_t offset, std::size_t bytes);

 private:
  std::byte* mapped_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t committed_ = 0;
};

}  // namespace ratel
