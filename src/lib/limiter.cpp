#include "ratel/limiter.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "gate/check_question.h"
#include "limit/question.h"
#include "net/random_seed.h"
#include "net/system_clock.h"
#include "store/memory_store.h"

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

struct Limiter::Core {
  explicit Core(const MemoryOptions& options)
      : store({.seed = random_seed(), .max_memory_bytes = options.max_memory_bytes, .start = clock.now()}) {}

  /// The first use of a name says what it means. Counts under other numbers would be misread: a debt that one limit
  /// allows is a fault of the clock to another.
  Status define(std::string_view name, const std::string& meaning) {
    const std::lock_guard lock(mutex);
    if (meanings.size() == kNamesMax && meanings.count(name) == 0) {
      return Error{ErrorCode::kBadArgument, "name: more than " + std::to_string(kNamesMax) + " in one limiter"};
    }
    const auto [known, is_new] = meanings.emplace(name, meaning);
    if (is_new || known->second == meaning) return Done{};
    return Error{ErrorCode::kBadArgument, "name: '" + std::string(name) +
                                              "' is in use with other limits: " + known->second + ", now " + meaning};
  }

  SystemClock clock;
  MemoryStore store;
  std::mutex mutex;
  std::map<std::string, std::string, std::less<>> meanings;  // of names
};

struct RateLimit::State {
  std::shared_ptr<Limiter::Core> core;
  std::vector<BoundLimit> limits;
  std::size_t counting = 0;  // the first so many; those that are unlimited, which no store needs to know, come last

  Result<Decision> ask(std::string_view key, Question question) const {
    std::array<Charge, kChargesMax> charges;
    for (std::size_t i = 0; i < limits.size(); ++i) charges[i] = {.limit = &limits[i], .key = key};
    question.charges = {charges.data(), limits.size()};
    if (Status status = check_question(question); !status.ok()) return status.error();
    if (counting == 0) {
      return Decision{.allowed = true,
                      .limit = kUnlimited,
                      .remaining = kUnlimited,
                      .granted = grants_cost(question.verb) ? question.cost : 0};
    }

    Answer answer;
    const auto keep = [](void* context, std::uint64_t, const Answer& given) { *static_cast<Answer*>(context) = given; };
    question.charges = {charges.data(), counting};
    core->store.prepare(question);
    core->store.ask(question, core->clock.now(), {keep, &answer, 0});
    return answer.decision;
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
  return Limiter(std::make_shared<Core>(options));
}

Result<RateLimit> Limiter::limit(std::string_view text, const LimitOptions& options) const {
  return limits({text}, options);
}

Result<RateLimit> Limiter::limits(std::initializer_list<std::string_view> texts, const LimitOptions& options) const {
  if (texts.size() == 0 || texts.size() > kChargesMax) {
    return Error{ErrorCode::kBadArgument,
                 "limits: expected 1 to " + std::to_string(kChargesMax) + ", got " + std::to_string(texts.size())};
  }
  auto state = std::make_shared<RateLimit::State>();
  state->core = core_;
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

MemoryUse Limiter::memory_use() const {
  const TableStats stats = core_->store.stats();
  return {stats.entries, stats.bytes, stats.max_bytes, stats.live_evictions, stats.refusals};
}

void Limiter::tidy() const {
  constexpr std::uint32_t kBuckets = 256;
  core_->store.tidy(core_->clock.now(), kBuckets);
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
