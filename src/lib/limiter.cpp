#include "ratel/limiter.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "gate/check_question.h"
#include "lib/limiter_core.h"
#include "lib/memory_backend.h"

namespace ratel {

namespace {

// Names are of uses, which programs have few of; users are told apart by keys.
constexpr std::size_t kNamesMax = 10'000;

/// All that decides how counts are read, as text.
std::string meaning_of(const BoundLimit& limit) {
  std::string meaning = limit.label;
  meaning.append(" ").append(name_of(limit.limit.algorithm));
  if (limit.limit.calendar != CalendarUnit::kNone) meaning.append(" calendar ").append(limit.limit.zone_name);
  if (limit.limit.max_wait_us > 0) meaning.append(" max_wait ").append(std::to_string(limit.limit.max_wait_us)) += "us";
  return meaning;
}

}  // namespace

Status Limiter::Core::define(std::string_view name, const std::string& meaning) {
  const std::lock_guard lock(mutex);
  if (meanings.size() == kNamesMax && meanings.count(name) == 0) {
    return Error{ErrorCode::kBadArgument, "name: more than " + std::to_string(kNamesMax) + " in one limiter"};
  }
  const auto [known, is_new] = meanings.emplace(name, meaning);
  if (is_new || known->second == meaning) return Done{};
  return Error{ErrorCode::kBadArgument,
               "name: '" + std::string(name) + "' is in use with other limits: " + known->second + ", now " + meaning};
}

struct RateLimit::State {
  std::shared_ptr<Limiter::Core> core;
  std::vector<BoundLimit> limits;
  std::size_t counting = 0;  // the first so many; those that are unlimited, which no store needs to know, come last
  FailureMode on_store_failure = FailureMode::kLocal;
  Micros deadline_us = 0;

  Result<Decision> ask(std::string_view key, Question question) const {
    std::array<Charge, kChargesMax> charges;
    for (std::size_t i = 0; i < limits.size(); ++i) {
      charges[i] = {.limit = &limits[i], .key = key, .on_failure = on_store_failure};
    }
    question.charges = {charges.data(), limits.size()};
    if (Status status = check_question(question); !status.ok()) return status.error();
    if (counting == 0) {
      return Decision{.allowed = true,
                      .limit = kUnlimited,
                      .remaining = kUnlimited,
                      .granted = grants_cost(question.verb) ? question.cost : 0};
    }

    question.charges = {charges.data(), counting};
    question.deadline_us = deadline_us;
    return core->backend->ask(question);
  }
};

namespace {

Result<BoundLimit> make_bound_limit(std::string_view text, std::string_view place, const LimitOptions& options) {
  Result<LimitSpec> spec = parse_limit(text);
  if (!spec.ok()) return spec.error();
  if (spec->algorithm != Algorithm::kConcurrency) {
    const Result<Algorithm> algorithm = parse_algorithm(options.algorithm);
    if (!algorithm.ok()) return algorithm.error();
    spec->algorithm = *algorithm;
  }
  if (options.calendar) {
    spec->calendar = calendar_unit(spec->period_us);
    if (spec->calendar == CalendarUnit::kNone) {
      return Error{ErrorCode::kBadArgument, "limit: no calendar has windows of '" + std::string(text) + "'"};
    }
  }
  spec->zone = options.zone;
  const Result<Limit> limit = make_limit(*spec, options.max_wait.count());
  if (!limit.ok()) return limit.error();
  BoundLimit bound{*limit, {}, to_text(*spec)};
  bound.identity =
      options.name.empty() ? adhoc_identity(meaning_of(bound), *limit) : rule_identity(options.name, place, *limit);
  return bound;
}

}  // namespace

Limiter Limiter::in_memory(const MemoryOptions& options) {
  return Limiter(std::make_shared<Core>(std::make_unique<MemoryBackend>(options)));
}

Result<RateLimit> Limiter::limit(std::string_view text, const LimitOptions& options) const {
  return limits({text}, options);
}

Result<RateLimit> Limiter::limits(std::initializer_list<std::string_view> texts, const LimitOptions& options) const {
  if (texts.size() == 0 || texts.size() > kChargesMax) {
    return Error{ErrorCode::kBadArgument,
                 "limits: expected 1 to " + std::to_string(kChargesMax) + ", got " + std::to_string(texts.size())};
  }
  const Micros deadline_us = options.deadline.count();
  if (deadline_us < kDeadlineMin_us || deadline_us > kDeadlineMax_us) {
    return Error{ErrorCode::kBadArgument,
                 "deadline: '" + std::to_string(deadline_us) + "us': 1ms to 1min was expected"};
  }
  auto state = std::make_shared<RateLimit::State>();
  state->core = core_;
  state->on_store_failure = options.on_store_failure;
  state->deadline_us = deadline_us;
  std::size_t place = 0;
  std::string meaning;
  for (const std::string_view text : texts) {
    Result<BoundLimit> limit = make_bound_limit(text, std::to_string(++place), options);
    if (!limit.ok()) return limit.error();
    if (!options.name.empty()) meaning += (meaning.empty() ? "" : ", ") + meaning_of(*limit);
    for (const BoundLimit& other : state->limits) {
      if (other.identity == limit->identity) {
        return Error{ErrorCode::kBadArgument, "limits: " + limit->label + " is named twice"};
      }
    }
    state->limits.push_back(*std::move(limit));
  }
  if (!options.name.empty()) {
    if (Status status = core_->define(options.name, meaning); !status.ok()) return status.error();
  }
  const auto end = std::stable_partition(state->limits.begin(), state->limits.end(),
                                         [](const BoundLimit& limit) { return !limit.limit.unlimited; });
  state->counting = static_cast<std::size_t>(end - state->limits.begin());
  return RateLimit(std::move(state));
}

std::string Limiter::why_not_exact() const {
  return core_->backend->why_not_exact();
}

std::uint64_t Limiter::settle() const {
  return core_->backend->settle();
}

MemoryUse Limiter::memory_use() const {
  return core_->backend->memory_use();
}

void Limiter::tidy() const {
  core_->backend->tidy();
}

Result<Decision> RateLimit::allow(std::string_view key, std::int64_t cost) const {
  return state_->ask(key, {.verb = Verb::kAllow, .cost = cost});
}

Result<Decision> RateLimit::at_most(std::string_view key, std::int64_t cost) const {
  return state_->ask(key, {.verb = Verb::kAtMost, .cost = cost});
}

Result<Decision> RateLimit::peek(std::string_view key, std::int64_t cost) const {
  return state_->ask(key, {.verb = Verb::kPeek, .cost = cost});
}

Result<Decision> RateLimit::refund(std::string_view key, std::int64_t cost) const {
  return state_->ask(key, {.verb = Verb::kRefund, .cost = cost});
}

Result<Decision> RateLimit::reset(std::string_view key) const {
  return state_->ask(key, {.verb = Verb::kReset});
}

Result<Decision> RateLimit::reserve(std::string_view key, std::int64_t cost, std::chrono::microseconds max_wait) const {
  return state_->ask(key, {.verb = Verb::kReserve, .cost = cost, .max_wait_us = max_wait.count()});
}

Result<Decision> RateLimit::acquire(std::string_view key, std::string_view lease_id, std::chrono::microseconds lease,
                                    std::int64_t cost) const {
  return state_->ask(key, {.verb = Verb::kAcquire, .cost = cost, .lease_id = lease_id, .lease_us = lease.count()});
}

Result<Decision> RateLimit::renew(std::string_view key, std::string_view lease_id,
                                  std::chrono::microseconds lease) const {
  return state_->ask(key, {.verb = Verb::kRenew, .lease_id = lease_id, .lease_us = lease.count()});
}

Result<Decision> RateLimit::release(std::string_view key, std::string_view lease_id) const {
  return state_->ask(key, {.verb = Verb::kRelease, .lease_id = lease_id});
}

}  // namespace ratel
