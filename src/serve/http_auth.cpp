#include "serve/http_auth.h"

#include <array>
#include <bit>

#include "base/choice.h"
#include "base/ip_address.h"
#include "rules/errors.h"
#include "serve/forwarded.h"
#include "serve/http_limit_headers.h"
#include "wire/query.h"

namespace ratel {
namespace {

constexpr std::string_view kFromHeader = "ip";

/// The parameters as they were given, still encoded.
struct Query {
  struct Parameter {
    std::string_view name;
    std::string_view value = {};
    bool given = false;
  };
  Parameter rule{"rule"};
  Parameter limit{"limit"};
  Parameter key{"key"};
  Parameter cost{"cost"};
  Parameter deny{"deny"};

  std::array<Parameter*, 5> all() { return {&rule, &limit, &key, &cost, &deny}; }
};

std::optional<Problem> split(std::string_view text, Query& query) {
  while (const std::optional<QueryParameter> parameter = next_parameter(text)) {
    Query::Parameter* known = nullptr;
    for (Query::Parameter* candidate : query.all()) {
      if (candidate->name == parameter->name) known = candidate;
    }
    const std::string_view shown = parameter->value.substr(0, kJsonShownBytesMax);
    if (known == nullptr) {
      return bad_argument("there is no parameter of this name; there are rule, limit, key, cost, deny",
                          std::string(parameter->name.substr(0, kJsonShownBytesMax)), std::string(shown));
    }
    // Also what a key could smuggle in that a proxy has not encoded.
    if (known->given) return bad_argument("the parameter is given twice", std::string(known->name), std::string(shown));
    known->given = true;
    known->value = parameter->value;
  }
  if (query.rule.given == query.limit.given) {
    return bad_argument(query.rule.given ? "give either rule or limit, not both" : "rule or limit is missing", "rule");
  }
  return std::nullopt;
}

std::optional<Problem> decode(const Query::Parameter& parameter, std::string& out) {
  out.clear();
  if (append_form_decoded(parameter.value, out)) return std::nullopt;
  return bad_argument("a % must be followed by two hexadecimal digits", std::string(parameter.name),
                      std::string(parameter.value.substr(0, kJsonShownBytesMax)));
}

/// Charges of one rule after the other, for the client's address. A rule of `key: ip` makes its own key of it; for any
/// other it is as canonical as for a rule that says nothing of a prefix.
Status add_by_address(std::string_view names, std::string_view address, Resolver& resolver, HttpItem& item) {
  item.key.clear();
  canonical_ip_key(address, kIpv6PrefixDefault, item.key);
  while (true) {
    const std::size_t comma = names.find(',');
    const std::string_view name = names.substr(0, comma);
    const Rule* rule = resolver.book()->find(name);
    const bool by_ip = rule != nullptr && rule->key == KeyKind::kIp;
    Status added = resolver.add_rule(name, by_ip ? address : std::string_view(item.key), item.target);
    if (!added || comma == std::string_view::npos) return added;
    names.remove_prefix(comma + 1);
  }
}

std::optional<Problem> resolve(const Query& query, std::string_view address, Resolver& resolver, HttpItem& item) {
  const Query::Parameter& asked = query.rule.given ? query.rule : query.limit;
  if (std::optional<Problem> problem = decode(asked, item.names)) return problem;
  Status status = Done{};
  if (query.rule.given) {
    status = address.empty() ? resolver.add_rules(item.names, item.key, item.target)
                             : add_by_address(item.names, address, resolver, item);
  } else {
    if (!address.empty()) {
      item.key.clear();
      canonical_ip_key(address, kIpv6PrefixDefault, item.key);
    }
    status = resolver.add_limit(item.names, item.key, item.target);
  }
  if (!status) return problem_of(status.error(), asked.name, item.names);
  return std::nullopt;
}

std::optional<Problem> read_numbers(const Query& query, HttpItem& item, AuthReply& reply) {
  if (query.cost.given) {
    const Result<std::int64_t> cost = parse_whole_number(query.cost.value, 0, kCostMax);
    if (!cost) {
      return bad_argument("cost must be " + cost.error().message, "cost",
                          std::string(query.cost.value.substr(0, kJsonShownBytesMax)));
    }
    item.question.cost = *cost;
  }
  if (query.deny.given) {
    if (query.deny.value != "403" && query.deny.value != "429") {
      return bad_argument("deny must be 429 or 403", "deny",
                          std::string(query.deny.value.substr(0, kJsonShownBytesMax)));
    }
    reply.deny_403 = query.deny.value == "403";
  }
  return std::nullopt;
}

std::optional<Problem> read(std::string_view text, const HttpHead& head, const AuthSettings& settings, Gate& gate,
                            Resolver& resolver, HttpItem& item, AuthReply& reply) {
  Query query;
  if (std::optional<Problem> problem = split(text, query)) return problem;
  if (std::optional<Problem> problem = read_numbers(query, item, reply)) return problem;
  std::string_view address;
  if (!query.key.given || query.key.value == kFromHeader) {
    const Result<std::string_view> client = client_address(head.forwarded_for, settings.trusted_hops);
    if (!client) return problem_of(client.error(), "key", kFromHeader);
    address = *client;
  } else if (std::optional<Problem> problem = decode(query.key, item.key)) {
    return problem;
  }
  if (std::optional<Problem> problem = resolve(query, address, resolver, item)) return problem;
  item.question.charges = item.target.charges;
  item.question.deadline_us = deadline_of(item.target);
  const Status status = gate.prepare(item.question);
  if (!status) return problem_of(status.error());
  return std::nullopt;
}

/// Whose store's failure denied, not whose limit.
bool is_failure(const Decision& decision) {
  return decision.source == Source::kFailedClosed;
}

}  // namespace

AuthReply read_auth(std::string_view query, const HttpHead& head, const AuthSettings& settings, Gate& gate,
                    Resolver& resolver, HttpItem& item) {
  AuthReply reply;
  item.problem = read(query, head, settings, gate, resolver, item, reply);
  reply.headers = settings.adhoc_headers;
  return reply;
}

int auth_status(const Decision& decision, const AuthReply& reply) {
  if (decision.allowed) return 200;
  if (reply.deny_403) return 403;
  if (is_failure(decision)) return 503;
  return decision.retry_after == kNever ? 403 : 429;
}

void append_auth_headers(const HttpItem& item, const AuthReply& reply, std::string& out) {
  const Decision& decision = item.answer.decision;
  const Rule* rule = item.target.rules[item.answer.binding];
  append_limit_headers(item.question, item.answer, rule != nullptr ? rule->headers : reply.headers, out);
  append_retry_after(decision, out);
  if (decision.source != Source::kExact && decision.source != Source::kDenyCache) {
    out += "X-Ratel-Source: ";
    out += name_of(decision.source);
    out += "\r\n";
  }
  if (decision.would_deny) out += "X-Ratel-Would-Deny: true\r\n";
}

void write_auth_denial(const HttpItem& item, int status, JsonWriter& json) {
  const Decision& decision = item.answer.decision;
  Problem problem{.status = status};
  if (is_failure(decision)) {
    problem.type = kReducedCapacityType;
  } else if (decision.retry_after == kNever) {
    problem.type = kNeverType;
  } else {
    problem.type = kQuotaExceededType;
  }
  json.begin_object();
  write_problem(problem, json);
  json.name("violated-policies");
  write_violated(item, json);
  json.end_object();
}

}  // namespace ratel
