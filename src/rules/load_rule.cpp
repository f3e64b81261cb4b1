#include "rules/load_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/choice.h"
#include "base/duration.h"
#include "rules/load_rules.h"

namespace ratel {
namespace {

constexpr Micros kLeaseMin_us = 1'000;

constexpr std::array kKeyKinds{Choice<KeyKind>{"text", KeyKind::kText}, Choice<KeyKind>{"ip", KeyKind::kIp}};
constexpr std::array kFailureModes{Choice<FailureMode>{"local", FailureMode::kLocal},
                                   Choice<FailureMode>{"allow", FailureMode::kAllow},
                                   Choice<FailureMode>{"deny", FailureMode::kDeny}};
constexpr std::array kHeaderStyles{Choice<HeaderStyle>{"ratelimit", HeaderStyle::kRateLimit},
                                   Choice<HeaderStyle>{"x-ratelimit", HeaderStyle::kXRateLimit},
                                   Choice<HeaderStyle>{"none", HeaderStyle::kNone}};

/// A rule while its fields come in, in any order.
struct Draft {
  Rule rule;
  std::optional<Algorithm> algorithm;
  const YamlNode* limit = nullptr;
  // Fields that go with some rules only; judged when all are known.
  const YamlNode* ipv6_prefix = nullptr;
  const YamlNode* max_wait = nullptr;
  const YamlNode* lease = nullptr;
};

Result<Micros> parse_duration_within(std::string_view text, Micros least_us, Micros most_us) {
  Result<Micros> us = parse_duration(text);
  if (us.ok() && (*us < least_us || *us > most_us)) {
    return Error{ErrorCode::kBadArgument,
                 fmt::format("from {} to {} was expected", format_duration(least_us), format_duration(most_us))};
  }
  return us;
}

template <typename T>
void keep(T& field, const std::optional<T>& value) {
  if (value) field = *value;
}

struct Field {
  std::string_view name;
  void (*read)(const YamlNode& value, Draft& draft, const RuleReader& reader);
};

constexpr std::array kFields{
    Field{"limit", [](const YamlNode& value, Draft& draft, const RuleReader&) { draft.limit = &value; }},
    Field{"algorithm",
          [](const YamlNode& value, Draft& draft, const RuleReader& reader) {
            draft.algorithm = reader.read("algorithm", value, parse_algorithm);
          }},
    Field{"key",
          [](const YamlNode& value, Draft& draft, const RuleReader& reader) {
            keep(draft.rule.key,
                 reader.read("key", value, [](std::string_view text) { return parse_choice(text, kKeyKinds); }));
          }},
    Field{"ipv6_prefix",
          [](const YamlNode& value, Draft& draft, const RuleReader& reader) {
            draft.ipv6_prefix = &value;
            const auto prefix = reader.read("ipv6_prefix", value,
                                            [](std::string_view text) { return parse_whole_number(text, 1, 128); });
            if (prefix) draft.rule.ipv6_prefix = static_cast<int>(*prefix);
          }},
    Field{"deadline",
          [](const YamlNode& value, Draft& draft, const RuleReader& reader) {
            keep(draft.rule.deadline_us, reader.read("deadline", value, [](std::string_view text) {
              return parse_duration_within(text, kDeadlineMin_us, kDeadlineMax_us);
            }));
          }},
    Field{"on_store_failure",
          [](const YamlNode& value, Draft& draft, const RuleReader& reader) {
            keep(draft.rule.on_store_failure, reader.read("on_store_failure", value, parse_failure_mode));
          }},
    Field{"max_wait",
          [](const YamlNode& value, Draft& draft, const RuleReader& reader) {
            draft.max_wait = &value;
            keep(draft.rule.max_wait_us, reader.read("max_wait", value, [](std::string_view text) {
              return parse_duration_within(text, 0, kMaxWaitMax_us);
            }));
          }},
    Field{"lease",
          [](const YamlNode& value, Draft& draft, const RuleReader& reader) {
            draft.lease = &value;
            keep(draft.rule.lease_us, reader.read("lease", value, [](std::string_view text) {
              return parse_duration_within(text, kLeaseMin_us, kLeaseMax_us);
            }));
          }},
    Field{"prepay",
          [](const YamlNode& value, Draft&, const RuleReader& reader) {
            const bool off = value.is_text() && value.text == "off";
            if (!off) reader.wrong("prepay", value, "`off`: tokens debited in advance are not part of this version");
          }},
    Field{"shadow",
          [](const YamlNode& value, Draft& draft, const RuleReader& reader) {
            keep(draft.rule.shadow,
                 reader.read("shadow", value, [](std::string_view text) { return parse_choice(text, kTrueOrFalse); }));
          }},
    Field{"headers",
          [](const YamlNode& value, Draft& draft, const RuleReader& reader) {
            keep(draft.rule.headers, reader.read("headers", value, [](std::string_view text) {
              return parse_choice(text, kHeaderStyles);
            }));
          }},
};

bool all_are(const std::vector<BoundLimit>& limits, Algorithm algorithm) {
  return std::all_of(limits.begin(), limits.end(),
                     [algorithm](const BoundLimit& bound) { return bound.limit.algorithm == algorithm; });
}

bool any_is(const std::vector<BoundLimit>& limits, Algorithm algorithm) {
  return std::any_of(limits.begin(), limits.end(),
                     [algorithm](const BoundLimit& bound) { return bound.limit.algorithm == algorithm; });
}

/// What no field can know alone.
void check_together(const Draft& draft, const RuleReader& reader) {
  const std::vector<BoundLimit>& limits = draft.rule.limits;
  const bool concurrent = any_is(limits, Algorithm::kConcurrency);
  if (concurrent && !all_are(limits, Algorithm::kConcurrency)) {
    reader.wrong("limit", *draft.limit,
                 "concurrent limits hold leases and all others spend, so they cannot share a rule: write two rules");
  }
  if (draft.max_wait != nullptr && !all_are(limits, Algorithm::kGcra)) {
    reader.wrong("max_wait", *draft.max_wait, "only gcra limits can be reserved ahead: leave it out");
  }
  if (draft.lease != nullptr && !concurrent) {
    reader.wrong("lease", *draft.lease, "only concurrent limits have leases: leave it out, or write `N concurrent`");
  }
  if (draft.ipv6_prefix != nullptr && draft.rule.key != KeyKind::kIp) {
    reader.wrong("ipv6_prefix", *draft.ipv6_prefix, "it goes with `key: ip` only");
  }
}

}  // namespace

void RuleReader::wrong(std::string_view field, const YamlNode& value, std::string_view right) const {
  errors_.add(file_, value.place,
              fmt::format("field `{}` of rule {}: value {}: {}", field, quote(rule_), describe(value), right));
}

Result<FailureMode> parse_failure_mode(std::string_view text) {
  return parse_choice(text, kFailureModes);
}

std::vector<std::string_view> rule_field_names() {
  std::vector<std::string_view> names;
  for (const Field& field : kFields) names.push_back(field.name);
  return names;
}

Status check_rule_name(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const auto is_allowed = [&](char c) {
    return is_plain(c) || std::string_view("_-.:/@").find(c) != std::string_view::npos;
  };
  if (name.empty() || !is_plain(name.front()) || !std::all_of(name.begin(), name.end(), is_allowed)) {
    return Error{ErrorCode::kBadArgument,
                 "a name is letters, digits and _ - . : / @, and begins with a letter or digit"};
  }
  if (name.size() > kRuleNameBytesMax) {
    return Error{ErrorCode::kBadArgument, fmt::format("a name has at most {} bytes", kRuleNameBytesMax)};
  }
  constexpr std::string_view kLimitWord = "limit";  // RATEL.ALLOW LIMIT "5/min" key
  const auto equal_fold = [](char a, char b) { return (a | 0x20) == b; };
  if (std::equal(name.begin(), name.end(), kLimitWord.begin(), kLimitWord.end(), equal_fold)) {
    return Error{ErrorCode::kBadArgument, "this word announces a limit in a question; choose another name"};
  }
  return Done{};
}

std::optional<Rule> load_rule(const YamlEntry& entry, std::string_view file, ErrorList& errors) {
  const RuleReader reader(file, entry.key, errors);
  if (const Status name = check_rule_name(entry.key); !name.ok()) {
    reader.wrong(entry.place, fmt::format("rule {}: {}", quote(entry.key), name.error().message));
    return std::nullopt;
  }
  if (!entry.value.is_map()) {
    reader.wrong(entry.value.place, fmt::format("rule {}: value {}: a map of fields was expected, as in "
                                                "`{}: {{ limit: 5/min }}`",
                                                quote(entry.key), describe(entry.value), entry.key));
    return std::nullopt;
  }

  Draft draft;
  draft.rule.name = entry.key;
  for (const YamlEntry& field : entry.value.entries) {
    const auto known =
        std::find_if(kFields.begin(), kFields.end(), [&](const Field& f) { return f.name == field.key; });
    if (known != kFields.end()) {
      known->read(field.value, draft, reader);
    } else {
      reader.wrong(field.place, fmt::format("unknown field {} of rule {}: {}", quote(field.key), quote(entry.key),
                                            suggest(field.key, rule_field_names())));
    }
  }
  if (draft.limit == nullptr) {
    reader.wrong(entry.place,
                 fmt::format("rule {} has no `limit`: write for instance `limit: 5/min`", quote(entry.key)));
    return std::nullopt;
  }
  draft.rule.limits =
      load_limits(*draft.limit, {.algorithm = draft.algorithm, .max_wait_us = draft.rule.max_wait_us}, reader);
  if (!draft.rule.limits.empty()) check_together(draft, reader);
  return std::move(draft.rule);
}

}  // namespace ratel
