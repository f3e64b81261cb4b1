// Tested by tests/test_shared_store.py

#include "app/store_report.h"

#include <utility>

#include "redis/key_name.h"

namespace ratel {

void StoreReport::Loop::tick(SharedStore::Loop& shared, Instant now, Log& log) {
  const SafeStore::Stats& stats = shared.safe().stats();
  const bool is_up = shared.why_not_ready().empty();  // whether or not anybody has asked in vain
  if (is_up != was_up_) report_.loop_changed(is_up, shared.remote().last_error(), log);
  was_up_ = is_up;
  constexpr auto kBadState = static_cast<std::size_t>(StoreFault::kBadState);
  if (const std::uint64_t more = stats.faults[kBadState] - said_.faults[kBadState]; more > 0) {
    report_.say_faulty(shared, more, now, log);
  }
  report_.say(stats, said_, shared.remote().last_error(), now, log);
  said_ = stats;

  const std::uint64_t evicted = shared.remote().evictions_seen();
  if (evicted > evicted_) {
    log.warning("the store evicts keys, and may forget counters", {{"keys", evicted - evicted_}});
    evicted_ = evicted;
  }

  const RedisStore::Counters& counters = shared.remote().counters();
  published_.opened.set(stats.opened);
  published_.charged.set(stats.charged);
  published_.lost.set(stats.lost);
  published_.retried.set(counters.retried);
  published_.redirected.set(counters.redirected);
  published_.script_missing.set(counters.no_script);
  published_.late.set(counters.late);
  published_.clamped.set(counters.clamped);
  published_.healed.set(counters.healed);
  published_.evicted.set(evicted);
  published_.ahead_us = counters.ahead_us;
  published_.durations.set(shared.safe().durations());
  published_.is_up = is_up;
}

void StoreReport::say_faulty(const SharedStore::Loop& shared, std::uint64_t answers, Instant now, Log& log) {
  const std::lock_guard lock(mutex_);
  unsaid_faulty_ += answers;
  if (now.monotonic_us < say_faulty_us_ && !ends_) return;
  say_faulty_us_ = now.monotonic_us + kSecond_us;
  const SafeStore::Faulty& faulty = shared.safe().last_faulty();
  std::string name;
  append_key_name(shared.key_prefix(), faulty.identity, faulty.key, name);
  log.warning("what stands under a counter's key is no counter",
              {{"rule", faulty.label}, {"key", name}, {"answers", std::exchange(unsaid_faulty_, 0)}});
}

void StoreReport::loop_changed(bool is_up, const std::string& error, Log& log) {
  const std::lock_guard lock(mutex_);
  loops_down_ += is_up ? -1 : 1;
  if (is_up && loops_down_ == 0) log.info("the store decides again");
  if (!is_up && loops_down_ == 1) log.error("the store does not decide", {{"error", error}});
}

void StoreReport::say(const SafeStore::Stats& now_is, const SafeStore::Stats& was, const std::string& error,
                      Instant now, Log& log) {
  const std::lock_guard lock(mutex_);
  bool degraded_here = false;
  for (std::size_t i = 0; i < kStoreFaultCount; ++i) {
    degraded_here |= now_is.faults[i] != was.faults[i];
    unsaid_.faults[i] += now_is.faults[i] - was.faults[i];
  }
  unsaid_.lost += now_is.lost - was.lost;
  if (degraded_here) unsaid_error_ = error;
  if (now.monotonic_us < say_us_ && !ends_) return;

  std::uint64_t degraded = 0;
  std::string reasons;
  for (std::size_t i = 0; i < kStoreFaultCount; ++i) {
    degraded += unsaid_.faults[i];
    if (unsaid_.faults[i] > 0) {
      reasons += (reasons.empty() ? "" : ",") + std::string(name_of(static_cast<StoreFault>(i)));
    }
  }
  if (degraded > 0) {
    log.warning("answered without the store", {{"answers", degraded}, {"reasons", reasons}, {"error", unsaid_error_}});
  }
  if (unsaid_.lost > 0) {
    log.warning("it is not known whether all that was admitted alone was charged", {{"units", unsaid_.lost}});
  }
  if (degraded > 0 || unsaid_.lost > 0) say_us_ = now.monotonic_us + kSecond_us;
  unsaid_ = {};
}

}  // namespace ratel
