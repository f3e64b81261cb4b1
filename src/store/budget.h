#pragma once
// How many bytes a store may hold, and how many it does. Thread-safe.

#include <atomic>
#include <cstddef>

namespace ratel {

class Budget {
 public:
  explicit Budget(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Takes bytes for the table if they are to be had.
  bool take(std::size_t bytes) {
    const std::size_t table = table_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (table <= table_max_bytes() && table + record_bytes() <= max_bytes_) return true;
    give(bytes);
    return false;
  }
  void give(std::size_t bytes) { table_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

  /// A record has changed its size, and must go when that was too much: see exceeded().
  void resize_record(std::size_t from_bytes, std::size_t to_bytes) {
    if (from_bytes != to_bytes) record_bytes_.fetch_add(to_bytes - from_bytes, std::memory_order_relaxed);
  }
  bool exceeded() const { return used_bytes() > max_bytes_; }

  std::size_t used_bytes() const { return table_bytes_.load(std::memory_order_relaxed) + record_bytes(); }
  std::size_t max_bytes() const { return max_bytes_; }

 private:
  // An eighth is left to records: a table that has taken its memory keeps it, and without this a flood of plain keys
  // would leave no place at all for a log or a lease.
  std::size_t table_max_bytes() const { return max_bytes_ - max_bytes_ / 8; }
  std::size_t record_bytes() const { return record_bytes_.load(std::memory_order_relaxed); }

  const std::size_t max_bytes_;
  std::atomic<std::size_t> table_bytes_{0};
  std::atomic<std::size_t> record_bytes_{0};
};

}  // namespace ratel
