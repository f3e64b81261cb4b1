#include "store/memory_store.h"

#include <algorithm>
#include <array>
#include <exception>
#include <memory>

#include "store/key_hash.h"

namespace ratel {
namespace {

bool keeps_record(const Limit& limit) {
  return limit.algorithm == Algorithm::kSlidingLog || limit.algorithm == Algorithm::kConcurrency;
}

KeyHash hash_of(const Charge& charge) {
  return {charge.hash[0], charge.hash[1]};
}

/// Whether a question can add to a record.
bool may_grow(Verb verb) {
  return verb == Verb::kAllow || verb == Verb::kAtMost || verb == Verb::kReserve || verb == Verb::kAcquire;
}

std::size_t bytes_of(const std::unique_ptr<Record>& record) {
  return record == nullptr ? 0 : record->bytes();
}

// The buckets of a question, each once and locked in order of address, so that two questions can never wait for each
// other. Which they are is known only at run time, where the thread-safety analysis cannot follow.
class LockedBuckets {
 public:
  LockedBuckets(const Table& table, std::span<const Charge> charges) RATEL_NO_THREAD_ANALYSIS {
    while (!try_lock_all(table, charges)) {
    }
  }
  ~LockedBuckets() RATEL_NO_THREAD_ANALYSIS { unlock_all(); }
  LockedBuckets(const LockedBuckets&) = delete;
  LockedBuckets& operator=(const LockedBuckets&) = delete;

  Bucket& of_charge(std::size_t i) const { return *of_charge_[i]; }

 private:
  bool try_lock_all(const Table& table, std::span<const Charge> charges) RATEL_NO_THREAD_ANALYSIS {
    for (std::size_t i = 0; i < charges.size(); ++i) of_charge_[i] = &table.bucket_of(hash_of(charges[i]));
    std::copy_n(of_charge_.begin(), charges.size(), locked_.begin());
    const auto end = locked_.begin() + charges.size();
    std::sort(locked_.begin(), end);
    count_ = static_cast<std::size_t>(std::unique(locked_.begin(), end) - locked_.begin());
    for (std::size_t i = 0; i < count_; ++i) locked_[i]->mutex.lock();
    for (std::size_t i = 0; i < charges.size(); ++i) {
      if (&table.bucket_of(hash_of(charges[i])) == of_charge_[i]) continue;
      unlock_all();  // split or merged meanwhile
      return false;
    }
    return true;
  }
  void unlock_all() RATEL_NO_THREAD_ANALYSIS {
    for (std::size_t i = 0; i < count_; ++i) locked_[i]->mutex.unlock();
  }

  std::array<Bucket*, kChargesMax> of_charge_;
  std::array<Bucket*, kChargesMax> locked_;
  std::size_t count_ = 0;
};

}  // namespace

MemoryStore::MemoryStore(const Options& options)
    : seed_(options.seed), clock_(options.start), table_(options.max_memory_bytes, clock_) {}

void MemoryStore::prepare(Question& question) {
  for (Charge& charge : question.charges) {
    const auto [order, rest] = key_hash(charge.limit->identity, charge.key, seed_);
    const Limit& limit = charge.limit->limit;
    const std::uint64_t kind = keeps_record(limit) ? 1 : static_cast<std::uint64_t>(limit.calendar) << 1;
    constexpr std::uint64_t kKinds = (1 << KeyHash::kKindBits) - 1;
    const KeyHash hash{order | 1, (rest & ~kKinds) | kind};
    charge.hash = {hash.order, hash.rest};
    if (table_.is_small()) continue;

    // The bucket's head now, and of the question before, whose head has come meanwhile, the entry. Only a hint: of the
    // last question of a batch, and of one from another store, nothing is fetched that helps.
    thread_local KeyHash before;
    const std::byte* const head = reinterpret_cast<const std::byte*>(&table_.bucket_of(hash));
    __builtin_prefetch(head, 1);
    __builtin_prefetch(head + 64, 1);
    if (before.order != 0) table_.bucket_of(before).prefetch(table_.pool(), before);
    before = hash;
  }
}

void MemoryStore::ask(const Question& question, Instant now, Completion done) {
  const StoreTime time = clock_.at(now);
  const bool plain = question.charges.size() == 1 && (question.charges[0].hash[1] & 1) == 0;
  done(plain ? ask_one(question, time) : ask_many(question, time));
}

Answer MemoryStore::ask_one(const Question& question, StoreTime time) {
  const KeyHash hash = hash_of(question.charges[0]);
  Bucket& bucket = table_.lock_bucket_of(hash);
  bucket.mutex.assert_held();
  Entry* const entry = bucket.find(table_.pool(), hash);
  Cell absent;
  Cell& cell = entry != nullptr ? entry->cell : absent;
  const Slot slot{&cell, nullptr};
  const Answer answer = decide(question, {&slot, 1}, time);

  const bool inserts = entry == nullptr && cell.until_us >= time.now_us;
  if (inserts) {
    bucket.insert(table_.context(time.now_us), {hash.order, hash.rest, cell});
  } else if (entry != nullptr && cell.until_us == Cell::kFresh_us) {
    bucket.remove(table_.pool(), entry);
  }
  bucket.mutex.unlock();
  if (inserts) table_.after_insertion(hash, time.now_us);
  return answer;
}

// The states are taken out, decided on and put back, because putting one in may move the others.
Answer MemoryStore::ask_many(const Question& question, StoreTime time) RATEL_NO_THREAD_ANALYSIS {
  const std::size_t count = question.charges.size();
  std::array<Cell, kChargesMax> cells;
  std::array<std::unique_ptr<Record>, kChargesMax> records;
  std::array<std::size_t, kChargesMax> record_bytes{};  // as the budget knows them
  std::array<Slot, kChargesMax> slots;
  std::uint32_t inserted = 0;  // bit i: charge i
  const Bucket::Context context = table_.context(time.now_us);
  Answer answer;
  std::exception_ptr failure;
  {
    const LockedBuckets locked(table_, question.charges);
    for (std::size_t i = 0; i < count; ++i) {
      slots[i] = {&cells[i], &records[i]};
      const KeyHash hash = hash_of(question.charges[i]);
      Entry* const entry = locked.of_charge(i).find(table_.pool(), hash);
      if (entry != nullptr) cells[i] = entry->cell;
      if ((hash.rest & 1) == 0) continue;
      if (entry != nullptr) {
        records[i].reset(reinterpret_cast<Record*>(std::exchange(cells[i].word, 0)));
        entry->cell.word = 0;
        record_bytes[i] = bytes_of(records[i]);
      }
      slots[i].record_bytes_max = record_bytes[i];
      const std::size_t growth_bytes = record_growth_bytes(record_bytes[i]);
      if (!may_grow(question.verb) || !table_.budget().take_record(growth_bytes)) continue;
      record_bytes[i] += growth_bytes;
      slots[i].record_bytes_max = std::min(record_bytes[i], table_.budget().record_max_bytes());
    }

    try {
      answer = decide(question, {slots.data(), count}, time);
    } catch (...) {  // no memory for a record; what was taken out is put back all the same
      failure = std::current_exception();
    }

    std::uint32_t absent = 0;  // bit i: charge i is to be inserted, once all that was taken out is in place
    for (std::size_t i = 0; i < count; ++i) {
      const KeyHash hash = hash_of(question.charges[i]);
      Bucket& bucket = locked.of_charge(i);
      const bool with_record = (hash.rest & 1) != 0;
      const bool is_fresh = cells[i].until_us == Cell::kFresh_us || (with_record && records[i] == nullptr);
      Entry* const entry = bucket.find(table_.pool(), hash);
      if (is_fresh || (entry == nullptr && cells[i].until_us < time.now_us)) {
        table_.budget().resize_record(record_bytes[i], bytes_of(records[i]));
        context.reaper.retire(std::move(records[i]));
        if (entry != nullptr) bucket.remove(table_.pool(), entry);
        continue;
      }
      table_.budget().resize_record(record_bytes[i], bytes_of(records[i]));
      if (with_record) cells[i].word = reinterpret_cast<std::uint64_t>(records[i].release());
      if (entry != nullptr) {
        entry->cell = cells[i];
      } else {
        absent |= 1u << i;
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      if ((absent >> i & 1) == 0) continue;
      const KeyHash hash = hash_of(question.charges[i]);
      locked.of_charge(i).insert(context, {hash.order, hash.rest, cells[i]});
      inserted |= 1u << i;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if ((inserted >> i & 1) != 0) table_.after_insertion(hash_of(question.charges[i]), time.now_us);
  }
  context.reaper.work();
  if (answer.decision.source == Source::kFailedClosed) table_.refused(time.now_us);
  if (failure) std::rethrow_exception(failure);
  return answer;
}

void MemoryStore::tidy(Instant now, std::uint32_t buckets) {
  table_.tidy(clock_.at(now).now_us, buckets);
}

}  // namespace ratel
