#include "serve/resolver.h"

#include <algorithm>
#include <functional>

#include "base/ip_address.h"
#include "rules/errors.h"

namespace ratel {
namespace {

// More distinct texts than a program writes by hand; ones made by machine cost a parse each.
constexpr std::size_t kCachedTexts = 1024;

Error too_many_limits() {
  return {ErrorCode::kBadArgument, "too many limits: a question may name at most " + std::to_string(kChargesMax)};
}

Error bad_limit(std::string_view text, const Error& error) {
  return {error.code, "limit " + quote(text) + ": " + error.message};
}

std::uint32_t series_of(const Rule* rule) {
  return rule != nullptr ? rule->series : kAdhocSeries;
}

}  // namespace

void Target::clear() {
  charges.clear();
  rules.clear();
  keys_used = 0;
  limits.clear();
}

Micros max_wait_of(const Target& target) {
  Micros least_us = kMaxWaitMax_us;
  for (const Charge& charge : target.charges) {
    const Limit& limit = charge.limit->limit;
    if (!charge.shadow && !limit.unlimited) least_us = std::min(least_us, limit.max_wait_us);
  }
  return least_us;
}

Micros deadline_of(const Target& target) {
  Micros least_us = kDeadlineMax_us;
  for (const Rule* rule : target.rules) {
    least_us = std::min(least_us, rule != nullptr ? rule->deadline_us : Rule{}.deadline_us);
  }
  return least_us;
}

Micros lease_of(const Target& target) {
  Micros least_us = kLeaseMax_us;
  for (const Rule* rule : target.rules) {
    least_us = std::min(least_us, rule != nullptr ? rule->lease_us : Rule{}.lease_us);
  }
  return least_us;
}

void make_lease_id(Randomness& randomness, std::string& id) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  id.clear();
  for (int word = 0; word < 2; ++word) {
    std::uint64_t bits = randomness.next();
    for (int digit = 0; digit < 16; ++digit, bits >>= 4) id += kDigits[bits & 15];
  }
}

void count_answer(LoopMetrics& metrics, const Target& target, Verb verb, const Answer& answer) {
  const bool decides =
      verb == Verb::kAllow || verb == Verb::kAtMost || verb == Verb::kReserve || verb == Verb::kAcquire;
  const auto is_faulty = [&](std::size_t i) { return (answer.faulty >> i & 1U) != 0; };
  const std::size_t count = target.charges.size();
  if (!target.charges[answer.binding].shadow) {
    const Decision& decision = answer.decision;
    if (decides) metrics.decided(series_of(target.rules[answer.binding]), decision.allowed, false, decision.source);
    if (answer.fault != StoreFault::kNone) {
      std::size_t blamed = 0;
      while (blamed < count && (target.charges[blamed].shadow || !is_faulty(blamed))) ++blamed;
      if (blamed == count) blamed = answer.binding;
      metrics.degraded(series_of(target.rules[blamed]), answer.fault);
    }
  }
  for (std::size_t i = 0; i < count;) {
    const Rule* rule = target.rules[i];
    const bool is_shadow = target.charges[i].shadow;
    bool would_deny = false;
    bool faulty = false;
    do {  // the limits of a rule stand together
      would_deny = would_deny || (answer.violated >> i & 1U) != 0;
      faulty = faulty || is_faulty(i);
    } while (++i < count && target.rules[i] == rule);
    if (!is_shadow) continue;
    if (decides) metrics.decided(rule->series, true, would_deny, answer.shadow_source);
    if (answer.shadow_fault != StoreFault::kNone && (faulty || answer.shadow_fault != StoreFault::kBadState)) {
      metrics.degraded(rule->series, answer.shadow_fault);
    }
  }
}

Resolver::Resolver(FailureMode without_rule) : without_rule_(without_rule), cache_(kCachedTexts) {}

Status Resolver::add_rule(std::string_view name, std::string_view key, Target& target) {
  const Rule* rule = book_->find(name);
  if (rule == nullptr) {
    std::string message = "unknown rule " + quote(name);
    const std::string_view nearest = book_->nearest(name);
    if (!nearest.empty()) message += ": did you mean " + quote(nearest) + "?";
    return Error{ErrorCode::kUnknownRule, std::move(message)};
  }
  // Every rule has a limit, so that this bounds the number of rules, too.
  if (target.charges.size() + rule->limits.size() > kChargesMax) return too_many_limits();
  if (rule->key == KeyKind::kIp) {
    target.keys.resize(kChargesMax);  // once: a charge's key must not move when another joins it
    std::string& canonical = target.keys[target.keys_used++];
    canonical.clear();
    if (!canonical_ip_key(key, rule->ipv6_prefix, canonical)) {
      return Error{ErrorCode::kBadArgument,
                   "invalid key " + quote(key) + ": rule " + quote(name) + " is for IP addresses, and this is none"};
    }
    key = canonical;
  }
  for (const BoundLimit& limit : rule->limits) {
    target.charges.push_back(
        {.limit = &limit, .key = key, .shadow = rule->shadow, .on_failure = rule->on_store_failure});
    target.rules.push_back(rule);
  }
  if (target.book != book_) target.book = book_;
  return Done{};
}

Status Resolver::add_rules(std::string_view names, std::string_view key, Target& target) {
  while (true) {
    const std::size_t comma = names.find(',');
    Status added = add_rule(names.substr(0, comma), key, target);
    if (!added || comma == std::string_view::npos) return added;
    names.remove_prefix(comma + 1);
  }
}

Status Resolver::add_limit(std::string_view text, std::string_view key, Target& target) {
  if (target.charges.size() == kChargesMax) return too_many_limits();
  if (text.size() > kLimitTextBytesMax) {
    return Error{ErrorCode::kBadArgument,
                 "limit " + quote(text) + " is longer than " + std::to_string(kLimitTextBytesMax) + " bytes"};
  }
  CachedText& cached = cache_[std::hash<std::string_view>{}(text) % kCachedTexts];
  if (!cached.limit || cached.text != text) {
    Result<LimitSpec> spec = parse_limit(text);
    if (!spec) return bad_limit(text, spec.error());
    Result<Limit> limit = make_limit(*spec);
    if (!limit) return bad_limit(text, limit.error());
    std::string canonical = to_text(*spec);
    std::string identity = adhoc_identity(canonical, *limit);
    cached.limit = std::make_shared<const BoundLimit>(
        BoundLimit{.limit = std::move(*limit), .identity = std::move(identity), .label = std::move(canonical)});
    cached.text = text;
  }
  target.charges.push_back({.limit = cached.limit.get(), .key = key, .on_failure = without_rule_});
  target.rules.push_back(nullptr);
  target.limits.push_back(cached.limit);
  return Done{};
}

}  // namespace ratel
