#pragma once
// Counts in the memory of this process.
//
// Thread-safe: all event loops share one. An answer comes before ask() returns. Holds at most the memory it is given;
// where that is used up, a new key takes the place of the one nearest to being fresh among its bucket's some hundred,
// which is as good a choice as among all of them: keys fall into buckets at random. What is lost by that is counted.
// Logs and leases have bounds of their own (see Budget): a question for which one would have to grow beyond is denied,
// marked and counted, and nothing is forgotten for it.

#include <cstddef>
#include <cstdint>

#include "store/store.h"
#include "store/store_clock.h"
#include "store/table.h"

namespace ratel {

class MemoryStore final : public Store {
 public:
  struct Options {
    /// Of the hash that places keys. Random for each process, and never told, so that nobody can aim at one bucket.
    std::uint64_t seed = 0;
    /// Bound of all that is held; less than Table::kMaxMemoryMin_bytes counts as that.
    std::size_t max_memory_bytes = Table::kMaxMemoryMin_bytes;
    Instant start;
  };

  explicit MemoryStore(const Options& options);

  void prepare(Question& question) override;
  void ask(const Question& question, Instant now, Completion done) override;

  /// Some 2 us for each bucket of up to 800 keys: drops what is spent and returns memory that keys which stopped coming
  /// hold. A loop with nothing to do calls it now and then; a busy store does as much by itself as new keys come.
  void tidy(Instant now, std::uint32_t buckets);

  TableStats stats() const { return table_.stats(); }

 private:
  Answer ask_one(const Question& question, StoreTime time);
  Answer ask_many(const Question& question, StoreTime time);

  const std::uint64_t seed_;
  StoreClock clock_;
  Table table_;
};

}  // namespace ratel
