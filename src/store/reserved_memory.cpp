#include "store/reserved_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "base/check.h"

namespace ratel {
namespace {
// Committing in steps of a huge page keeps the system calls rare and the pages mergeable.
constexpr std::size_t kStep_bytes = std::size_t{2} << 20;
constexpr std::size_t kPage_bytes = 4096;

constexpr std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}
}  // namespace

ReservedMemory::ReservedMemory(std::size_t bytes) : size_(round_up(std::max<std::size_t>(bytes, 1), kStep_bytes)) {
  // Not accessible until committed, because otherwise a system that does not overcommit would count all of it.
  for (; size_ >= kStep_bytes; size_ = size_ / 2 / kStep_bytes * kStep_bytes) {
    void* const at = mmap(nullptr, size_ + kStep_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) continue;
    mapped_ = static_cast<std::byte*>(at);
    madvise(mapped_, size_ + kStep_bytes, MADV_NOHUGEPAGE);  // see commit()
    data_ = mapped_ + (kStep_bytes - reinterpret_cast<std::uintptr_t>(at) % kStep_bytes) % kStep_bytes;
    return;
  }
  CHECK(data_ != nullptr);  // not even one step of addresses is left to this process
}

ReservedMemory::~ReservedMemory() {
  munmap(mapped_, size_ + kStep_bytes);
}

bool ReservedMemory::commit(std::size_t bytes) {
  if (bytes <= committed_) return true;
  const std::size_t wanted = round_up(bytes, kStep_bytes);
  if (wanted > size_) return false;
  if (mprotect(data_ + committed_, wanted - committed_, PROT_READ | PROT_WRITE) != 0) return false;
  // Where a table is large, most of what a decision waits for is the translation of addresses: with huge pages it is a
  // third faster at ten million keys. Only what has been filled is marked, so that the kernel makes it huge behind our
  // backs: to be given a huge page at once would be to wait, up to some milliseconds, until it is cleared.
  madvise(data_, committed_, MADV_HUGEPAGE);
  committed_ = wanted;
  return true;
}

void ReservedMemory::discard(std::size_t offset, std::size_t bytes) {
  const std::size_t from = round_up(offset, kPage_bytes);
  const std::size_t to = (offset + bytes) / kPage_bytes * kPage_bytes;
  if (from < to) madvise(data_ + from, to - from, MADV_DONTNEED);
}

}  // namespace ratel
