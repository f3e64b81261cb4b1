#include "serve/http_question.h"

#include "base/ip_address.h"
#include "serve/http_routes.h"

namespace ratel {
namespace {

/// The charges of `rule` or `limit`, whichever was given.
std::optional<Problem> resolve(std::span<const JsonValue> values, Resolver& resolver, HttpItem& item) {
  const JsonValue& rule = values[kRule];
  const JsonValue& limit = values[kLimit];
  if (rule.given == limit.given) {
    return bad_argument(rule.given ? "give either rule or limit, not both" : "rule or limit is missing", "rule");
  }
  if (!values[kKey].given) return bad_argument("key is missing", "key");
  item.key = values[kKey].text;
  if (limit.given) {
    const Status status = resolver.add_limit(limit.text, item.key, item.target);
    if (!status) return problem_of(status.error(), "limit", limit.text);
    return std::nullopt;
  }
  for (const std::string_view name : rule.texts) {
    const Status status = resolver.add_rule(name, item.key, item.target);
    if (status) continue;
    const Rule* known = resolver.book()->find(name);
    const bool bad_key = known != nullptr && known->key == KeyKind::kIp && !is_ip_address(item.key);
    return bad_key ? problem_of(status.error(), "key", item.key) : problem_of(status.error(), "rule", name);
  }
  return std::nullopt;
}

std::optional<Problem> read_lease_id(std::span<const JsonValue> values, Randomness& randomness, HttpItem& item) {
  if (values[kLeaseId].given) {
    item.lease_id = values[kLeaseId].text;
  } else if (item.question.verb == Verb::kAcquire) {
    make_lease_id(randomness, item.lease_id);
  } else {
    return bad_argument("lease_id is missing", "lease_id");
  }
  item.question.lease_id = item.lease_id;
  return std::nullopt;
}

std::optional<Problem> read_fields(std::span<const JsonValue> values, Verb verb, Randomness& randomness,
                                   HttpItem& item) {
  Question& question = item.question;
  question.verb = verb == Verb::kAllow && values[kAtMost].flag ? Verb::kAtMost : verb;
  question.charges = item.target.charges;
  question.deadline_us = deadline_of(item.target);
  if (values[kCost].given) question.cost = values[kCost].integer;
  switch (verb) {
    case Verb::kReserve:
      question.max_wait_us =
          values[kMaxWait].given ? values[kMaxWait].integer * kMillisecond_us : max_wait_of(item.target);
      return std::nullopt;
    case Verb::kAcquire:
    case Verb::kRenew:
      question.lease_us = values[kTtl].given ? values[kTtl].integer * kMillisecond_us : lease_of(item.target);
      return read_lease_id(values, randomness, item);
    case Verb::kRelease:
      return read_lease_id(values, randomness, item);
    default:
      return std::nullopt;
  }
}

/// The gate's error, which is about what the fields do not show one by one.
Problem refused_by_gate(const Error& error, std::span<const JsonValue> values) {
  if (error.code == ErrorCode::kBadArgument && values[kMaxWait].given) {
    return problem_of(error, "max_wait_ms", std::to_string(values[kMaxWait].integer));
  }
  if (values[kLimit].given) return problem_of(error, "limit", values[kLimit].text);
  return problem_of(error, "rule", values[kRule].texts.front());
}

void write_count(std::string_view name, std::int64_t count, JsonWriter& json) {
  json.name(name);
  if (count == kUnlimited) {
    json.null();
  } else {
    json.value(count);
  }
}

void write_milliseconds(std::string_view name, std::chrono::microseconds wait, JsonWriter& json) {
  json.name(name);
  if (wait == kNever) {
    json.null();
  } else {
    json.value(ceil_div(wait.count(), kMillisecond_us));
  }
}

bool has_shadow(const Question& question) {
  for (const Charge& charge : question.charges) {
    if (charge.shadow) return true;
  }
  return false;
}

void write_decision(const HttpItem& item, JsonWriter& json) {
  const Decision& decision = item.answer.decision;
  json.member("allowed", decision.allowed);
  write_count("limit", decision.limit, json);
  write_count("remaining", decision.remaining, json);
  write_milliseconds("retry_after_ms", decision.retry_after, json);
  write_milliseconds("reset_after_ms", decision.reset_after, json);
  json.member("source", std::string_view(name_of(decision.source)));
  json.member("rule", std::string_view(item.question.charges[item.answer.binding].limit->label));
  switch (item.question.verb) {
    case Verb::kAtMost:
      json.member("granted", decision.granted);
      break;
    case Verb::kReserve:
      write_milliseconds("delay_ms", decision.delay, json);
      break;
    case Verb::kAcquire:
      json.name("lease_id");
      if (decision.allowed) {
        json.value(std::string_view(item.lease_id));
      } else {
        json.null();
      }
      break;
    default:
      break;
  }
  json.name("violated");
  write_violated(item, json);
  if (has_shadow(item.question)) json.member("would_deny", decision.would_deny);
}

}  // namespace

void HttpItem::clear() {
  question = {};
  answer = {};
  target.clear();
  key.clear();
  lease_id.clear();
  names.clear();
  problem.reset();
}

void read_question(std::span<const JsonValue> values, Verb verb, Gate& gate, Resolver& resolver, Randomness& randomness,
                   HttpItem& item) {
  item.problem = resolve(values, resolver, item);
  if (item.problem) return;
  item.problem = read_fields(values, verb, randomness, item);
  if (item.problem) return;
  const Status status = gate.prepare(item.question);
  if (!status) item.problem = refused_by_gate(status.error(), values);
}

void write_violated(const HttpItem& item, JsonWriter& json) {
  json.begin_array();
  for (std::size_t i = 0; i < item.question.charges.size(); ++i) {
    if ((item.answer.violated >> i & 1) != 0) json.value(std::string_view(item.question.charges[i].limit->label));
  }
  json.end_array();
}

void write_item(const HttpItem& item, JsonWriter& json) {
  json.begin_object();
  if (item.problem) {
    json.name("error");
    json.begin_object();
    write_problem(*item.problem, json);
    json.end_object();
  } else if (item.question.verb == Verb::kRenew || item.question.verb == Verb::kRelease) {
    json.member("ok", item.answer.ok);
    write_count("remaining", item.answer.decision.remaining, json);
    write_milliseconds("reset_after_ms", item.answer.decision.reset_after, json);
    json.member("source", std::string_view(name_of(item.answer.decision.source)));
  } else {
    write_decision(item, json);
  }
  json.end_object();
}

}  // namespace ratel
