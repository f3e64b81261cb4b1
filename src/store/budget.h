#pragma once
// How many bytes a store may hold, and how many it does. Thread-safe.
//
// Records (logs, leases) and the table of entries share it: an eighth is left to records, since a table that has taken
// its memory keeps it, and without this a flood of plain keys would leave no place at all for a log or a lease; and
// half is left to the table, since records could otherwise starve all other keys.

#include <atomic>
#include <cstddef>

namespace ratel {

class Budget {
 public:
  explicit Budget(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Takes bytes for the table if they are to be had.
  bool take(std::size_t bytes) {
    // Each side first adds and then reads the other, in one order for all threads: two can both be refused the last
    // bytes, but never both be given them.
    const std::size_t table = table_bytes_.fetch_add(bytes) + bytes;
    if (table <= table_max_bytes() && table + record_bytes_.load() <= max_bytes_) return true;
    give(bytes);
    return false;
  }
  void give(std::size_t bytes) { table_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

  /// Takes bytes for a record if they are to be had.
  bool take_record(std::size_t bytes) {
    const std::size_t records = record_bytes_.fetch_add(bytes) + bytes;
    if (records <= records_max_bytes() && records + table_bytes_.load() <= max_bytes_) return true;
    resize_record(bytes, 0);
    return false;
  }
  /// What was taken for a record has turned out to be more than it needs now.
  void resize_record(std::size_t from_bytes, std::size_t to_bytes) {
    if (from_bytes != to_bytes) record_bytes_.fetch_sub(from_bytes - to_bytes, std::memory_order_relaxed);
  }

  /// The bound of one record.
  std::size_t record_max_bytes() const { return max_bytes_ / 16; }

  std::size_t used_bytes() const {
    return table_bytes_.load(std::memory_order_relaxed) + record_bytes_.load(std::memory_order_relaxed);
  }
  std::size_t max_bytes() const { return max_bytes_; }

 private:
  std::size_t table_max_bytes() const { return max_bytes_ - max_bytes_ / 8; }
  /// Of all records together.
  std::size_t records_max_bytes() const { return max_bytes_ / 2; }

  const std::size_t max_bytes_;
  std::atomic<std::size_t> table_bytes_{0};
  std::atomic<std::size_t> record_bytes_{0};
};

}  // namespace ratel
