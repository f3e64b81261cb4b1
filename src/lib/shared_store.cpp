// Tested by tests/test_shared_store.py

#include "lib/shared_store.h"

#include <algorithm>
#include <utility>

#include "redis/store_advice.h"

namespace ratel {
namespace {

/// Twice what a connection may take to come to be: a first try that fails is tried again.
constexpr Micros kProbe_us = 2 * kSecond_us;
constexpr Micros kProbeAgain_us = 20 * kMillisecond_us;

std::size_t debts_for(std::uint64_t bytes) {
  constexpr std::uint64_t kEntry_bytes = KnownDebts::kEntry_bytes;
  return std::clamp<std::uint64_t>(bytes / SharedStore::kDebtsShare / kEntry_bytes, 1, SharedStore::kDebtsMax);
}

LocalShare::Options local_options(std::uint64_t bytes, Instant start) {
  LocalShare::Options options{.start = start};
  options.bytes_max = std::min<std::uint64_t>(options.bytes_max, bytes - bytes / SharedStore::kDebtsShare);
  return options;
}

}  // namespace

Result<std::unique_ptr<SharedStore>> SharedStore::make(Options options, const Clock& clock) {
  std::optional<TlsClient> tls;
  if (options.url.tls) {
    Result<TlsClient> made = TlsClient::make(options.tls);
    if (!made.ok()) return made.error();
    tls = *std::move(made);
  }
  return std::unique_ptr<SharedStore>(new SharedStore(std::move(options), clock, std::move(tls)));
}

SharedStore::SharedStore(Options options, const Clock& clock, std::optional<TlsClient> tls)
    : options_(std::move(options)),
      clock_(clock),
      seed_(random_seed()),
      name_(format_store_url(options_.url)),
      tls_(std::move(tls)),
      debts_(debts_for(options_.max_memory_bytes)),
      local_(local_options(options_.max_memory_bytes, clock.now()), debts_) {}

RedisStore::Options SharedStore::redis_options() {
  return {.url = options_.url,
          .key_prefix = options_.key_prefix,
          .sentinel_user = options_.sentinel_user,
          .sentinel_password = options_.sentinel_password,
          .debts = &debts_,
          .hash_seed = seed_,
          .handshakes = &handshakes_};
}

Status SharedStore::probe() {
  EventLoop loop(clock_, {.tick = [] {}, .turn_ended = [] {}});
  return Loop(*this, loop).probe();
}

SharedStore::Loop::Loop(SharedStore& shared, EventLoop& loop)
    : shared_(shared),
      loop_(loop),
      turn_(loop),
      remote_(loop, shared.clock_, shared.resolver_, shared.tls_ ? &*shared.tls_ : nullptr, shared.redis_options(),
              randomness_),
      safe_(remote_.store(), shared.local_, turn_, randomness_) {}

void SharedStore::Loop::keep_heartbeat() {
  remote().watch_evictions(loop_.now());
  heartbeat_.emplace(remote(), shared_.local_, std::to_string(randomness_.next()));
  loop_.wake_by(loop_.now().monotonic_us);
}

void SharedStore::Loop::turn_ended() {
  const Instant now = loop_.now();
  if (const Micros due_us = safe_.due_us(); due_us != SafeStore::kNone_us && now.monotonic_us >= due_us) {
    safe_.tick(now);
  }
  if (now.monotonic_us >= tidy_us_) {
    tidy_us_ = now.monotonic_us + kSecond_us;
    shared_.local_.tidy(now);
  }
  if (heartbeat_) {
    heartbeat_->tick(now);
    loop_.wake_by(heartbeat_->due_us());
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

Status SharedStore::Loop::probe() {
  struct Seen {
    bool answered = true;
    Answer answer{.fault = StoreFault::kUnreachable};
  } seen;
  const BoundLimit limit = probe_limit();
  Charge charge{.limit = &limit, .key = "probe"};
  Question question{.charges = {&charge, 1}};
  const Micros until_us = shared_.clock_.now().monotonic_us + kProbe_us;
  Micros ask_us = 0;
  while (!seen.answered || seen.answer.fault != StoreFault::kNone) {
    const Micros now_us = loop_.now().monotonic_us;
    if (seen.answered && now_us >= until_us) {
      const std::string why = remote().last_error();
      return Error{ErrorCode::kConfiguration, "the store " + shared_.name_ + " does not decide: " +
                                                  with_store_advice(why.empty() ? name_of(seen.answer.fault) : why,
                                                                    shared_.options_.url.topology)};
    }
    if (seen.answered && now_us >= ask_us) {
      ask_us = now_us + kProbeAgain_us;
      question.deadline_us = std::min(kProbe_us / 2, until_us - now_us);  // what it is told lives no longer than this
      seen.answered = false;
      remote().prepare(question);
      remote().ask(
          question, loop_.now(),
          {.call = [](void* context, std::uint64_t,
                      const Answer& answer) { *static_cast<Seen*>(context) = {.answered = true, .answer = answer}; },
           .context = &seen,
           .ticket = 0});
    }
    turn_ended();
    loop_.wake_by(seen.answered ? ask_us : until_us);
    loop_.turn();
  }
  return Done{};
}

void SharedStore::Loop::warm_up(Micros patience_us) {
  const Micros until_us = shared_.clock_.now().monotonic_us + patience_us;
  while (!remote().is_whole() && shared_.clock_.now().monotonic_us < until_us) {
    turn_ended();
    loop_.wake_by(until_us);
    loop_.turn();
  }
}

}  // namespace ratel
