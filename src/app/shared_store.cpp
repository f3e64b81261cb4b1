#include "app/shared_store.h"

#include <fmt/format.h>

#include <utility>

namespace ratel {
namespace {

/// Twice what a connection may take to come to be: a first try that fails is tried again.
constexpr Micros kProbe_us = 2 * kSecond_us;
constexpr Micros kProbeAgain_us = 20 * kMillisecond_us;

}  // namespace

Result<std::unique_ptr<SharedStore>> SharedStore::make(const Settings& settings, const Clock& clock,
                                                       std::uint64_t seed) {
  std::optional<TlsClient> tls;
  if (settings.store->tls) {
    Result<TlsClient> made = TlsClient::make(settings.store_tls);
    if (!made.ok()) return made.error();
    tls = *std::move(made);
  }
  return std::unique_ptr<SharedStore>(new SharedStore(settings, clock, seed, std::move(tls)));
}

SharedStore::SharedStore(const Settings& settings, const Clock& clock, std::uint64_t seed, std::optional<TlsClient> tls)
    : settings_(settings),
      clock_(clock),
      seed_(seed),
      name_(format_store_url(*settings.store)),
      tls_(std::move(tls)),
      debts_(kKnownDebts),
      local_({.start = clock.now()}, debts_) {}

RedisStore::Options SharedStore::options() {
  return {.url = *settings_.store, .key_prefix = settings_.key_prefix, .debts = &debts_, .hash_seed = seed_};
}

Status SharedStore::probe() {
  EventLoop loop(clock_, {.tick = [] {}, .turn_ended = [] {}});
  Loop ours(*this, loop);
  struct Seen {
    bool answered = true;
    Answer answer{.fault = StoreFault::kUnreachable};
  } seen;
  const BoundLimit limit = probe_limit();
  Charge charge{.limit = &limit, .key = "probe"};
  Question question{.charges = {&charge, 1}, .deadline_us = kProbe_us / 2};
  const Micros until_us = clock_.now().monotonic_us + kProbe_us;
  Micros ask_us = 0;
  while (!seen.answered || seen.answer.fault != StoreFault::kNone) {
    const Micros now_us = loop.now().monotonic_us;
    if (now_us >= until_us) {
      const std::string why = ours.remote().last_error();
      return Error{ErrorCode::kConfiguration, fmt::format("the store {} does not decide: {}", name_,
                                                          why.empty() ? std::string(name_of(seen.answer.fault)) : why)};
    }
    if (seen.answered && now_us >= ask_us) {
      ask_us = now_us + kProbeAgain_us;
      seen.answered = false;
      ours.remote().prepare(question);
      ours.remote().ask(
          question, loop.now(),
          {.call = [](void* context, std::uint64_t,
                      const Answer& answer) { *static_cast<Seen*>(context) = {.answered = true, .answer = answer}; },
           .context = &seen,
           .ticket = 0});
    }
    ours.turn_ended();
    loop.wake_by(ask_us);
    loop.turn();
  }
  return Done{};
}

SharedStore::Loop::Loop(SharedStore& shared, EventLoop& loop)
    : shared_(shared),
      loop_(loop),
      remote_(loop, shared.clock_, shared.resolver_, shared.tls_ ? &*shared.tls_ : nullptr, shared.options(),
              randomness_),
      safe_(remote_.store(), shared.local_, shared.clock_, randomness_) {}

void SharedStore::Loop::turn_ended() {
  const Instant now = loop_.now();
  if (const Micros due_us = safe_.due_us(); due_us != SafeStore::kNone_us && now.monotonic_us >= due_us) {
    safe_.tick(now);
  }
  remote_.turn_ended();
  if (const Micros due_us = safe_.due_us(); due_us != SafeStore::kNone_us) loop_.wake_by(due_us);
}

std::string SharedStore::Loop::why_not_ready() {
  // A connection that is gone says so before anybody has asked in vain.
  if (safe_.state() == SafeStore::State::kUp && remote().is_whole()) return {};
  if (safe_.state() == SafeStore::State::kWarming) return "the store is back and is told what was admitted without it";
  const std::string why = remote().last_error();
  return "the store does not decide" + (why.empty() ? why : ": " + why);
}

void SharedStore::Loop::tick(Log& log) {
  const SafeStore::Stats& stats = safe_.stats();
  const bool is_up = safe_.state() == SafeStore::State::kUp;
  if (is_up != was_up_) shared_.loop_changed(is_up, remote().last_error(), log);
  was_up_ = is_up;
  shared_.say(stats, said_, remote().last_error(), loop_.now(), log);
  said_ = stats;

  const RedisStore::Counters& counters = remote().counters();
  published_.opened.set(stats.opened);
  published_.charged.set(stats.charged);
  published_.lost.set(stats.lost);
  published_.retried.set(counters.retried);
  published_.redirected.set(counters.redirected);
  published_.script_missing.set(counters.no_script);
  published_.late.set(counters.late);
  published_.clamped.set(counters.clamped);
  published_.healed.set(counters.healed);
  published_.is_up = is_up;
}

void SharedStore::loop_changed(bool is_up, const std::string& error, Log& log) {
  const std::lock_guard lock(mutex_);
  loops_down_ += is_up ? -1 : 1;
  if (is_up && loops_down_ == 0) log.info("the store decides again");
  if (!is_up && loops_down_ == 1) log.error("the store does not decide", {{"error", error}});
}

void SharedStore::say(const SafeStore::Stats& now_is, const SafeStore::Stats& was, const std::string& error,
                      Instant now, Log& log) {
  const std::lock_guard lock(mutex_);
  bool degraded_here = false;
  for (std::size_t i = 0; i < kStoreFaultCount; ++i) {
    degraded_here |= now_is.faults[i] != was.faults[i];
    unsaid_.faults[i] += now_is.faults[i] - was.faults[i];
  }
  unsaid_.lost += now_is.lost - was.lost;
  if (degraded_here) unsaid_error_ = error;
  if (now.monotonic_us < say_us_) return;

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
