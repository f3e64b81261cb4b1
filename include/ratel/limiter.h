#pragma once
// Rate limits for C++ programs.
//
//   auto limiter = ratel::Limiter::in_memory();
//   auto login = limiter.limit("5/min burst 10");
//   if (!login.ok()) return complain(login.error().message);
//   if (const auto decision = login->allow("user:42"); decision.ok() && !decision->allowed) {
//     return try_again_after(decision->retry_after);
//   }
//
// Any thread may call anything, on the same objects. No exception leaves a call but std::bad_alloc, and a decision on
// plain limits (gcra, windows) allocates nothing. connect.h makes a Limiter that shares its counts with other machines.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "ratel/decision.h"
#include "ratel/result.h"

namespace ratel {

struct LimitOptions {
  /// Keeps the counts of one use apart from another's. Limits of the same name share them, and a name that
  /// is in use with other numbers or options is an error; without a name, limits of the same text and max_wait do.
  std::string_view name = {};
  /// `gcra`, `fixed_window`, `sliding_window`, `sliding_log`; a text that says `concurrent` needs no other word.
  std::string_view algorithm = "gcra";
  /// Windows that begin with the minute, hour, day, week, month or year, in this time zone; only for fixed_window.
  bool calendar = false;
  std::string_view zone = {};  // as `Europe/Vienna`; UTC unless told
  /// How far ahead reserve() may book. At most 366 days, only for gcra.
  std::chrono::microseconds max_wait{0};
  /// Of counts in a store elsewhere: who answers while it cannot, and how long to wait for it, 1 ms to 1 min. In memory
  /// they say nothing.
  FailureMode on_store_failure = FailureMode::kLocal;
  std::chrono::microseconds deadline{50'000};
};

/// One or several limits on whatever keys it is asked about. A small value: copies mean the same limit. Keeps alive
/// what it needs of its Limiter.
///
/// Every verb takes a key of up to 4,096 bytes and a cost of 0 to 2^31 - 1; others are errors, and so is a verb that
/// does not exist for the algorithm. A bad question changes nothing. See Decision for what the answers say.
class RateLimit {
 public:
  /// May this key spend this cost now? Spends it if so; with several limits of all of them or of none.
  Result<Decision> allow(std::string_view key, std::int64_t cost = 1) const;
  /// Spends as much of `cost` as there is; Decision::granted says how much that was.
  Result<Decision> at_most(std::string_view key, std::int64_t cost) const;
  /// What allow() would say. Changes nothing.
  Result<Decision> peek(std::string_view key, std::int64_t cost = 1) const;
  /// Gives back what was spent for nothing; never above full.
  Result<Decision> refund(std::string_view key, std::int64_t cost = 1) const;
  /// As if the key had never been seen.
  Result<Decision> reset(std::string_view key) const;
  /// Books now what will be free within `max_wait`; Decision::delay says how long to wait before going ahead. Only
  /// gcra.
  Result<Decision> reserve(std::string_view key, std::int64_t cost, std::chrono::microseconds max_wait) const;

  /// Takes `cost` slots of a concurrency limit, until released or the lease of 1 us to 24 h ends, should the holder
  /// die. `lease_id`, of 1 to 128 bytes, is the holder's to choose; taking the same again renews it.
  Result<Decision> acquire(std::string_view key, std::string_view lease_id, std::chrono::microseconds lease,
                           std::int64_t cost = 1) const;
  /// Decision::allowed says whether the lease was still held; who is told that it was not must stop.
  Result<Decision> renew(std::string_view key, std::string_view lease_id, std::chrono::microseconds lease) const;
  Result<Decision> release(std::string_view key, std::string_view lease_id) const;

 private:
  friend class Limiter;
  struct State;
  explicit RateLimit(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;  // shared by copies
};

struct MemoryOptions {
  /// At most this is held; less than 1 MiB counts as that. A key takes some 40 bytes. When it is used up, the keys
  /// nearest to being as good as new are forgotten, and counted. The log or the leases of one key may take a 16th, all
  /// of them together half; what would need more is denied, with Source::kFailedClosed, and counted.
  std::size_t max_memory_bytes = std::size_t{256} << 20;
};

/// What a limiter in memory holds.
struct MemoryUse {
  std::uint64_t keys = 0;  // some of them may be as good as new, and not dropped yet
  std::uint64_t bytes = 0;
  std::uint64_t max_bytes = 0;
  std::uint64_t forgotten = 0;  // keys that had something spent and were forgotten for want of memory
  std::uint64_t refused = 0;    // questions that a log or a lease had no room for, and that were denied for that
};

struct StoreOptions;

/// Where counts live. A small value: copies mean the same counts.
class Limiter {
 public:
  /// Counts in the memory of this process.
  static Limiter in_memory(const MemoryOptions& options = {});

  /// A limit as a person writes it: `5/min`, `100/s burst 200`, `7 per 3s`, `10000/day`, `20 concurrent`, `unlimited`.
  /// The error names what is wrong and where.
  Result<RateLimit> limit(std::string_view text, const LimitOptions& options = {}) const;
  /// Up to 16 limits that are spent together or not at all; the options are for each of them. Without a name no two may
  /// be the same, since they would be one counter.
  Result<RateLimit> limits(std::initializer_list<std::string_view> texts, const LimitOptions& options = {}) const;

  /// Why answers are not exact just now, in words for people; empty where they are, as always in memory.
  std::string why_not_exact() const;

  /// Charges to a store elsewhere what was admitted without it, for which it waits 2 s at most, and says of how many
  /// units it is not known that they were: 0 where nothing was, and for counts in memory. For the end of a program: the
  /// last of a Limiter's copies to go does as much, and can tell nobody.
  [[nodiscard]] std::uint64_t settle() const;

  /// All zero for counts that are elsewhere.
  MemoryUse memory_use() const;
  /// Returns some of the memory of keys that are as good as new, at most about 1 ms of work. New keys do as much by
  /// themselves; call it now and then where they may stop coming and the memory is wanted.
  void tidy() const;

 private:
  friend struct RateLimit::State;
  friend Result<Limiter> connect(std::string_view url, const StoreOptions& options);
  struct Core;
  explicit Limiter(std::shared_ptr<Core> core) : core_(std::move(core)) {}

  std::shared_ptr<Core> core_;  // shared by copies, and by limits, so that these may outlive it
};

}  // namespace ratel
