// From arguments to questions: what CL.THROTTLE and RATEL.* take.

#include <array>
#include <string>

#include "rules/errors.h"
#include "serve/resp_question.h"

namespace ratel {
namespace {

Error bad_argument(std::string message) {
  return {ErrorCode::kBadArgument, std::move(message)};
}

struct Range {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

bool read_number(std::string_view text, Range range, std::int64_t& value) {
  return read_integer(text, value) && value >= range.least && value <= range.most;
}

Error bad_number(std::string_view field, std::string_view text, Range range) {
  return bad_argument("invalid " + std::string(field) + " " + quote(text) + ": must be a whole number from " +
                      std::to_string(range.least) + " to " + std::to_string(range.most));
}

constexpr Range kMaxBurstRange{0, kCountMax - 1};  // capacity is one more
constexpr Range kCountRange{1, kCountMax};
constexpr Range kPeriodRange_s{1, kPeriodMax_us / kSecond_us};
constexpr Range kCostRange{0, kCostMax};
constexpr Range kMaxWaitRange_ms{0, kMaxWaitMax_us / kMillisecond_us};
constexpr Range kLeaseRange_ms{1, kLeaseMax_us / kMillisecond_us};

Status check_lease_id(std::string_view id) {
  if (!id.empty() && id.size() <= kLeaseIdBytesMax) return Done{};
  return bad_argument("invalid ID " + quote(id) + ": must be 1 to " + std::to_string(kLeaseIdBytesMax) + " bytes");
}

/// What the options of one RATEL command said.
struct Options {
  std::int64_t cost = 1;
  bool at_most = false;
  bool violated = false;
  std::int64_t max_wait_ms = -1;  // not given
  std::int64_t lease_ms = -1;     // not given
  std::string_view lease_id;      // empty: not given
};

std::string known_options(const RatelVerb& verb) {
  std::string text;
  const auto add = [&](bool takes, std::string_view option) {
    if (takes) text += (text.empty() ? "" : ", ") + std::string(option);
  };
  add(verb.takes_id, "ID id");
  add(verb.takes_cost, "COST n");
  add(verb.takes_at_most, "ATMOST");
  add(verb.takes_violated, "VIOLATED");
  add(verb.takes_max_wait, "MAXWAIT ms");
  add(verb.takes_ttl, "TTL ms");
  return text.empty() ? "no options" : text;
}

Status read_options(const RatelVerb& verb, RespArguments words, Options& options) {
  struct Number {
    std::string_view name;
    bool taken;
    Range range;
    std::int64_t* value;
  };
  const std::array<Number, 3> numbers = {{
      {"COST", verb.takes_cost, kCostRange, &options.cost},
      {"MAXWAIT", verb.takes_max_wait, kMaxWaitRange_ms, &options.max_wait_ms},
      {"TTL", verb.takes_ttl, kLeaseRange_ms, &options.lease_ms},
  }};
  const auto read_one = [&](std::size_t& i) -> Status {
    const std::string_view word = words[i++];
    if (verb.takes_at_most && same_word(word, "ATMOST")) {
      options.at_most = true;
      return Done{};
    }
    if (verb.takes_violated && same_word(word, "VIOLATED")) {
      options.violated = true;
      return Done{};
    }
    for (const Number& number : numbers) {
      if (!number.taken || !same_word(word, number.name)) continue;
      if (i == words.size()) return bad_argument(std::string(number.name) + " needs a value");
      const std::string_view text = words[i++];
      return read_number(text, number.range, *number.value) ? Status(Done{})
                                                            : bad_number(number.name, text, number.range);
    }
    if (verb.takes_id && same_word(word, "ID")) {
      if (i == words.size()) return bad_argument("ID needs a value");
      options.lease_id = words[i++];
      return check_lease_id(options.lease_id);
    }
    return bad_argument("unknown option " + quote(word) + ": RATEL." + std::string(verb.name) + " takes " +
                        known_options(verb));
  };
  for (std::size_t i = 0; i < words.size();) {
    Status read = read_one(i);
    if (!read) return read;
  }
  return Done{};
}

}  // namespace

Status read_throttle(RespArguments arguments, RespQuestion& asked) {
  std::int64_t max_burst = 0;
  std::int64_t count = 0;
  std::int64_t period_s = 0;
  std::int64_t cost = 1;
  if (!read_number(arguments[2], kMaxBurstRange, max_burst)) {
    return bad_number("max_burst", arguments[2], kMaxBurstRange);
  }
  if (!read_number(arguments[3], kCountRange, count)) return bad_number("count", arguments[3], kCountRange);
  if (!read_number(arguments[4], kPeriodRange_s, period_s)) return bad_number("period", arguments[4], kPeriodRange_s);
  if (arguments.size() > 5 && !read_number(arguments[5], kCostRange, cost)) {
    return bad_number("quantity", arguments[5], kCostRange);
  }
  Limit& limit = asked.throttle_limit.limit;
  if (limit.capacity != max_burst + 1 || limit.count != count || asked.throttle_period_s != period_s) {
    asked.throttle_period_s = 0;  // whatever happens to the limit now, it is not to be reused by mistake
    if (!make_gcra_limit(count, period_s * kSecond_us, max_burst + 1, limit)) {
      return bad_argument("max_burst " + std::to_string(max_burst) + ", count " + std::to_string(count) + ", period " +
                          std::to_string(period_s) + ": a spent burst would take more than " +
                          std::to_string(kCapacityTimeMax_us / kDay_us) + " days to come back");
    }
    asked.throttle_period_s = period_s;
  }
  asked.key = arguments[1];
  asked.throttle_charge.key = asked.key;
  asked.shape = RespQuestion::Shape::kThrottle;
  asked.question = {.verb = Verb::kAllow, .charges = {&asked.throttle_charge, 1}, .cost = cost};
  return Done{};
}

Status read_ratel(const RatelVerb& verb, RespArguments arguments, Resolver& resolver, Randomness& randomness,
                  RespQuestion& asked) {
  const bool is_lease = verb.verb == Verb::kRenew || verb.verb == Verb::kRelease;
  const bool given = same_word(arguments[1], "LIMIT");
  const std::size_t key_at = given ? 3 : 2;
  const std::size_t options_at = key_at + (is_lease ? 2 : 1);
  if (arguments.size() < options_at) return bad_argument(wrong_arity("ratel." + std::string(verb.name)));

  asked.key = arguments[key_at];
  asked.target.clear();
  Status resolved = given ? resolver.add_limit(arguments[2], asked.key, asked.target)
                          : resolver.add_rules(arguments[1], asked.key, asked.target);
  if (!resolved) return resolved;

  Options options;
  Status read = read_options(verb, arguments.subspan(options_at), options);
  if (!read) return read;

  asked.shape = is_lease ? RespQuestion::Shape::kLease : RespQuestion::Shape::kDecision;
  asked.lists_violated = options.violated;
  asked.question = {.verb = options.at_most ? Verb::kAtMost : verb.verb,
                    .charges = asked.target.charges,
                    .cost = options.cost,
                    .deadline_us = deadline_of(asked.target)};
  if (verb.takes_max_wait) {
    const Micros most_us = max_wait_of(asked.target);
    asked.question.max_wait_us = options.max_wait_ms < 0 ? most_us : options.max_wait_ms * kMillisecond_us;
    if (asked.question.max_wait_us > most_us) {
      return bad_argument("invalid MAXWAIT `" + std::to_string(options.max_wait_ms) + "`: above the max_wait of " +
                          quote(given ? arguments[2] : arguments[1]) + ", " +
                          std::to_string(most_us / kMillisecond_us) + " ms");
    }
  }
  if (verb.takes_ttl) {
    asked.question.lease_us = options.lease_ms < 0 ? lease_of(asked.target) : options.lease_ms * kMillisecond_us;
  }
  if (is_lease) {
    options.lease_id = arguments[key_at + 1];
    Status checked = check_lease_id(options.lease_id);
    if (!checked) return checked;
  }
  if (is_lease || verb.takes_id) {
    asked.lease_id = options.lease_id;
    if (asked.lease_id.empty()) make_lease_id(randomness, asked.lease_id);
    asked.question.lease_id = asked.lease_id;
  }
  return Done{};
}

}  // namespace ratel
