#include "redis/redis_store.h"

#include <array>
#include <utility>

#include "base/check.h"
#include "redis/cluster.h"
#include "redis/key_name.h"
#include "redis/script.h"
#include "redis/sentinel.h"
#include "redis/standalone.h"
#include "store/key_hash.h"

namespace ratel {
namespace {

constexpr std::string_view kAsking = "*1\r\n$6\r\nASKING\r\n";

/// Whether asking twice does no more harm than to charge a question too much. As much as there is may be all there is,
/// and what was admitted without the store is charged so: that is not charged twice.
bool may_run_twice(Verb verb) {
  return verb != Verb::kRefund && verb != Verb::kReset && verb != Verb::kRelease && verb != Verb::kAtMost;
}

/// Of Charge::hash[1]: the slot of the subject, found where the question is prepared. Its own, so that a counter has
/// one hash whatever it is asked together with; questions of one subject go over one connection, in their order.
constexpr std::uint64_t kSlotBits = kClusterSlots - 1;

/// Between the loss of a connection and the next try: what ended one may have ended the others, which is known then.
constexpr Micros kAfterLoss_us = kMillisecond_us;

std::unique_ptr<Topology> make_topology(const StoreUrl& url, const LinkOptions& sentinel_options,
                                        const LinkOptions& options, const LinkContext& context) {
  switch (url.topology) {
    case StoreUrl::Topology::kStandalone:
      return std::make_unique<Standalone>(url.hosts.front(), options, context);
    case StoreUrl::Topology::kSentinel:
      return std::make_unique<Sentinel>(url.hosts, url.service, sentinel_options, options, context);
    case StoreUrl::Topology::kCluster:
      return std::make_unique<Cluster>(url.hosts, options, context);
  }
  return nullptr;
}

}  // namespace

RedisStore::RedisStore(Options options, Link::Shell& shell, Randomness& randomness)
    : options_(std::move(options)), randomness_(randomness) {
  CHECK(is_key_prefix(options_.key_prefix));
  const bool cluster = options_.url.topology == StoreUrl::Topology::kCluster;
  link_options_ = {.to = cluster ? LinkOptions::To::kAnyNode : LinkOptions::To::kPrimary,
                   .user = options_.url.user,
                   .password = options_.url.password,
                   .database = options_.url.database,
                   .scripts = {std::string(decision_script().text)}};
  sentinel_options_ = {.to = LinkOptions::To::kSentinel,
                       .user = options_.sentinel_user,
                       .password = options_.sentinel_password,
                       .dial_us = Sentinel::kAnswer_us,
                       .greeting_us = Sentinel::kAnswer_us};
  topology_ = make_topology(options_.url, sentinel_options_, link_options_,
                            {.shell = shell,
                             .randomness = randomness_,
                             .budget = options_.handshakes == nullptr ? budget_ : *options_.handshakes,
                             .news = news_});
  evictions_ = std::make_unique<EvictionWatch>(*topology_);
}

RedisStore::~RedisStore() = default;

void RedisStore::use_passwords(std::string password, std::string sentinel_password) {
  link_options_.password = std::move(password);
  sentinel_options_.password = std::move(sentinel_password);
}

void RedisStore::prepare(Question& question) {
  const Charge* last = nullptr;
  std::uint64_t slot = 0;
  for (Charge& charge : question.charges) {
    if (last == nullptr || last->key != charge.key) {
      scratch_.clear();
      append_key_name(options_.key_prefix, charge.limit->identity, charge.key, scratch_);
      slot = slot_of(scratch_);
    }
    charge.hash = key_hash(charge.limit->identity, charge.key, options_.hash_seed);
    charge.hash[1] = (charge.hash[1] & ~kSlotBits) | slot;
    last = &charge;
  }
}

std::size_t RedisStore::part_of(const Question& question) const {
  if (options_.url.topology != StoreUrl::Topology::kCluster) return 0;
  return (question.charges.front().hash[1] & kSlotBits) * kPartsMax / kClusterSlots;
}

bool RedisStore::decides_together(const Charge& a, const Charge& b) const {
  return options_.url.topology != StoreUrl::Topology::kCluster || a.key == b.key;
}

void RedisStore::ask(const Question& question, Instant now, Completion done) {
  if (idle_.empty()) {
    if (calls_.size() == kStoreCallsMax) {
      ++counters_.crowded;
      return done({.fault = StoreFault::kCrowded});
    }
    idle_.push_back(static_cast<std::uint32_t>(calls_.size()));
    calls_.emplace_back().index = idle_.back();
    idle_.reserve(calls_.size());
  }
  Call& call = calls_[idle_.back()];
  idle_.pop_back();
  call.question = question;
  call.done = done;
  call.due_us = now.monotonic_us + question.deadline_us;
  call.calendar_us = 0;
  call.link = nullptr;
  call.otherwise = StoreFault::kUnreachable;
  call.slot = static_cast<std::uint16_t>(question.charges.front().hash[1] & kSlotBits);
  call.hops = call.resends = 0;
  call.loaded = call.perhaps = false;
  deadlines_.set(call, call.due_us);
  route(call, now);
}

void RedisStore::route(Call& call, Instant now) {
  Link* const link = topology_->route(call.slot);
  if (link == nullptr && now.monotonic_us < call.due_us && topology_->hopes(call.slot, now)) {
    call.hopes = true;
    ++hoping_;
    return;
  }
  send(call, link, false, now);
}

void RedisStore::send(Call& call, Link* link, bool asking, Instant now) {
  if (link == nullptr) return give_up(call, call.otherwise);
  // Where no server has said or done anything with it, it is not the store that had no time or no room for it.
  const StoreFault crowded = call.otherwise == StoreFault::kUnreachable ? StoreFault::kCrowded : call.otherwise;
  if (now.monotonic_us >= call.due_us) return give_up(call, crowded);
  const bool knows_time = link->clock().known();
  const Micros ahead_us = knows_time ? link->clock().lowest_us() : now.wall_us - now.monotonic_us;
  scratch_.assign(asking ? kAsking : std::string_view());
  append_script_call(call.question,
                     {.prefix = options_.key_prefix,
                      .deadline_us = knows_time ? call.due_us + ahead_us : 0,
                      .calendar_us = call.calendar_us != 0 ? call.calendar_us : now.monotonic_us + ahead_us},
                     scratch_);
  const auto place = link->send({.bytes = scratch_,
                                 .preludes = static_cast<std::uint8_t>(asking ? 1 : 0),
                                 .deadline_us = call.question.deadline_us},
                                *this, call.token(), now);
  if (!place) return give_up(call, link->has_room(scratch_.size()) ? call.otherwise : crowded);
  call.link = link;
  call.place = *place;
}

RedisStore::Call& RedisStore::call_of(std::uint64_t token) {
  Call& call = calls_[token & UINT32_MAX];
  CHECK(call.token() == token && call.link != nullptr);
  call.link = nullptr;
  return call;
}

bool RedisStore::replied(std::uint64_t token, Link& link, RespReply reply, Instant now) {
  Call& call = call_of(token);
  if (reply.kind() != RespReply::Kind::kError) return decided(call, link, reply, now);
  errored(call, link, reply.text(), now);
  return true;
}

bool RedisStore::decided(Call& call, Link& link, RespReply reply, Instant now) {
  std::array<std::int64_t, kScriptReplyMax> integers;
  std::size_t count = 0;
  bool good = reply.kind() == RespReply::Kind::kList && reply.size() <= integers.size();
  if (good) {
    for (const RespReply item : reply) {
      good = good && item.kind() == RespReply::Kind::kInteger;
      integers[count++] = item.integer();
    }
  }
  ScriptOutcome outcome;
  if (good) outcome = read_script_reply(call.question, std::span(integers).first(count));
  if (outcome.kind == ScriptOutcome::Kind::kMalformed) {
    refusal_ = "a reply that is none of the script's";
    give_up(call, StoreFault::kLost);
    return false;
  }
  link.sample_clock(outcome.now_us, now);
  counters_.ahead_us = outcome.now_us - now.wall_us;
  counters_.clamped += static_cast<std::uint64_t>(std::popcount(outcome.clamped));
  counters_.healed += static_cast<std::uint64_t>(std::popcount(outcome.healed));
  switch (outcome.kind) {
    case ScriptOutcome::Kind::kAnswer:
      ++counters_.decided;
      remember(call.question, outcome, now);
      finish(call, outcome.answer);
      break;
    case ScriptOutcome::Kind::kFaults:
      ++counters_.bad_state;
      finish(call, {.fault = StoreFault::kBadState, .faulty = outcome.faults});
      break;
    case ScriptOutcome::Kind::kExpired:  // in time by our clock, where the store's has been set forward
      ++counters_.late;
      resend(call, link, now);
      break;
    case ScriptOutcome::Kind::kAgain:
      call.calendar_us = outcome.now_us;
      resend(call, link, now);
      break;
    case ScriptOutcome::Kind::kMalformed:
      break;
  }
  return true;
}

void RedisStore::remember(const Question& question, const ScriptOutcome& outcome, Instant now) {
  if (options_.debts == nullptr) return;
  for (std::size_t i = 0; i < question.charges.size(); ++i) {
    const auto [used, reset_after_us] = outcome.uses[i];
    const Micros until_us = now.monotonic_us + reset_after_us;
    options_.debts->told(question.charges[i].hash, used, until_us, outcome.now_us, now.monotonic_us);
  }
}

/// After an answer that says that nothing was done.
void RedisStore::resend(Call& call, Link& link, Instant now) {
  call.otherwise = StoreFault::kRefused;
  if (++call.resends > kStoreResendsMax) return give_up(call, StoreFault::kRefused);
  send(call, &link, false, now);
}

void RedisStore::errored(Call& call, Link& link, std::string_view text, Instant now) {
  const StoreError error = read_store_error(text);
  if (error.kind == StoreError::Kind::kNoScript) {
    ++counters_.no_script;
    // The link has sent the script before this.
    return std::exchange(call.loaded, true) ? give_up(call, StoreFault::kRefused) : resend(call, link, now);
  }
  refusal_ = text;
  const Topology::Next next = topology_->errored(error, link, call.slot, now);
  if (error.kind == StoreError::Kind::kWrongType) {
    ++counters_.bad_state;
    const auto all = static_cast<std::uint16_t>((1U << call.question.charges.size()) - 1);
    return finish(call, {.fault = StoreFault::kBadState, .faulty = all});
  }
  if (error.executed == StoreError::Executed::kPerhaps) return give_up(call, StoreFault::kLost);
  call.otherwise = StoreFault::kRefused;
  switch (next.kind) {
    case Topology::Next::Kind::kFail:
      return give_up(call, StoreFault::kRefused);
    case Topology::Next::Kind::kSend:
      ++counters_.redirected;
      if (++call.hops > kStoreHopsMax) return give_up(call, StoreFault::kRefused);
      return send(call, next.link, next.asking, now);
    case Topology::Next::Kind::kWait:
      if (++call.resends > kStoreResendsMax) return give_up(call, StoreFault::kRefused);
      return route(call, now);
    case Topology::Next::Kind::kLater:
      deadlines_.set(call, std::min(call.due_us, now.monotonic_us + next.pause_us));
      return;
  }
}

void RedisStore::failed(std::uint64_t token, bool perhaps, Instant now) {
  Call& call = call_of(token);
  if (perhaps) {
    if (call.perhaps || !may_run_twice(call.question.verb)) return give_up(call, StoreFault::kLost);
    call.perhaps = true;
    ++counters_.retried;
  } else if (++call.resends > kStoreResendsMax) {
    return give_up(call, StoreFault::kUnreachable);
  }
  call.otherwise = perhaps ? StoreFault::kLost : StoreFault::kUnreachable;
  deadlines_.set(call, std::min(call.due_us, now.monotonic_us + kAfterLoss_us));
}

void RedisStore::due(Call& call, Instant now) {
  if (now.monotonic_us < call.due_us) {  // its pause is over
    deadlines_.set(call, call.due_us);
    return route(call, now);
  }
  if (call.link == nullptr) return give_up(call, call.otherwise);
  const bool taken_back = call.link->cancel(call.place);
  give_up(call, taken_back ? StoreFault::kUnreachable : StoreFault::kTimeout);
}

void RedisStore::tick(Instant now) {
  deadlines_.advance(now.monotonic_us, [&](DeadlineWheel::Entry& entry) { due(static_cast<Call&>(entry), now); });
  topology_->tick(now);
  evictions_->tick(now);
  if (has_hopes_to_settle()) settle_hopes(now);
}

/// There is a link, or a hope less. Looks at all calls, which happens as seldom as links change.
void RedisStore::settle_hopes(Instant now) {
  settled_ = news_.ready + news_.given_up;
  for (std::size_t i = 0; i < calls_.size() && hoping_ > 0; ++i) {
    Call& call = calls_[i];
    if (!std::exchange(call.hopes, false)) continue;
    --hoping_;
    route(call, now);
  }
}

void RedisStore::give_up(Call& call, StoreFault fault) {
  if (call.perhaps && surely_not_charged(fault)) fault = StoreFault::kLost;
  switch (fault) {
    case StoreFault::kUnreachable:
      ++counters_.unreachable;
      break;
    case StoreFault::kRefused:
      ++counters_.refused;
      break;
    case StoreFault::kTimeout:
      ++counters_.timed_out;
      break;
    case StoreFault::kCrowded:
      ++counters_.crowded;
      break;
    default:
      ++counters_.lost;
      break;
  }
  finish(call, {.fault = fault});
}

/// The call is free before its asker hears of it, since that may ask again.
void RedisStore::finish(Call& call, const Answer& answer) {
  call.unlink();
  if (std::exchange(call.hopes, false)) --hoping_;
  ++call.generation;
  const Completion done = call.done;
  idle_.push_back(call.index);
  done(answer);
}

std::string RedisStore::last_error() const {
  const std::string error = topology_->last_error();
  return error.empty() || is_whole() ? refusal_ : error;
}

}  // namespace ratel
