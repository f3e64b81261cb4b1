#include "gate/check_question.h"

#include <string>

#include "base/duration.h"

namespace ratel {
namespace {

Error bad(std::string message) {
  return {ErrorCode::kBadArgument, std::move(message)};
}

Error out_of_range(std::string_view field, std::int64_t value, std::int64_t min, std::int64_t max) {
  return bad(std::string(field) + ": expected " + std::to_string(min) + " to " + std::to_string(max) + ", got " +
             std::to_string(value));
}

Status check_duration(std::string_view field, Micros value_us, Micros min_us, Micros max_us) {
  if (value_us >= min_us && value_us <= max_us) return Done{};
  const std::string got = value_us < 0 ? std::to_string(value_us) + "us" : format_duration(value_us);
  return bad(std::string(field) + ": expected " + format_duration(min_us) + " to " + format_duration(max_us) +
             ", got " + got);
}

bool needs_lease(Verb verb) {
  return verb == Verb::kAcquire || verb == Verb::kRenew || verb == Verb::kRelease;
}

std::string_view name_of(Verb verb) {
  switch (verb) {
    case Verb::kAllow:
      return "ALLOW";
    case Verb::kAtMost:
      return "ATMOST";
    case Verb::kPeek:
      return "PEEK";
    case Verb::kRefund:
      return "REFUND";
    case Verb::kReset:
      return "RESET";
    case Verb::kReserve:
      return "RESERVE";
    case Verb::kAcquire:
      return "ACQUIRE";
    case Verb::kRenew:
      return "RENEW";
    case Verb::kRelease:
      return "RELEASE";
  }
  return "";
}

/// The verb to use on `algorithm` by someone who asked for `verb`; the same where it exists.
Verb right_verb(Verb verb, Algorithm algorithm) {
  const bool leases = algorithm == Algorithm::kConcurrency;
  switch (verb) {
    case Verb::kAllow:
    case Verb::kAtMost:
      return leases ? Verb::kAcquire : verb;
    case Verb::kReserve:
      return leases ? Verb::kAcquire : algorithm == Algorithm::kGcra ? verb : Verb::kAllow;
    case Verb::kRefund:
      return leases ? Verb::kRelease : verb;
    case Verb::kAcquire:
    case Verb::kRenew:
      return leases ? verb : Verb::kAllow;
    case Verb::kRelease:
      return leases ? verb : Verb::kRefund;
    case Verb::kPeek:
    case Verb::kReset:
      break;
  }
  return verb;
}

Status check_charge(const Question& question, const Charge& charge) {
  if (charge.key.size() > kKeyBytesMax) {
    return bad("key: expected at most " + std::to_string(kKeyBytesMax) + " bytes, got " +
               std::to_string(charge.key.size()));
  }
  const Limit& limit = charge.limit->limit;
  if (limit.unlimited) return Done{};  // any verb: lifting a limit breaks no client
  const Verb right = right_verb(question.verb, limit.algorithm);
  if (right != question.verb) {
    return Error{ErrorCode::kWrongVerb, std::string(name_of(question.verb)) + " is not for a limit of " +
                                            std::string(name_of(limit.algorithm)) + " (" + charge.limit->label +
                                            "); use " + std::string(name_of(right))};
  }
  // A shadow rule holds nobody up: the gate books no further ahead there than it allows.
  if ((question.verb == Verb::kReserve || question.verb == Verb::kAtMost) && !charge.shadow) {
    return check_duration("max_wait", question.max_wait_us, 0, limit.max_wait_us);
  }
  return Done{};
}

bool same_counter(const Charge& a, const Charge& b) {
  return a.key == b.key && (a.limit == b.limit || a.limit->identity == b.limit->identity);
}

}  // namespace

Status check_question(const Question& question) {
  const std::span<const Charge> charges = question.charges;
  if (charges.empty() || charges.size() > kChargesMax) {
    return out_of_range("limits", static_cast<std::int64_t>(charges.size()), 1, kChargesMax);
  }
  if (question.cost < 0 || question.cost > kCostMax) return out_of_range("cost", question.cost, 0, kCostMax);
  for (std::size_t i = 0; i < charges.size(); ++i) {
    if (Status status = check_charge(question, charges[i]); !status.ok()) return status;
    for (std::size_t j = 0; j < i; ++j) {
      if (same_counter(charges[i], charges[j])) return bad("limits: " + charges[i].limit->label + " is named twice");
    }
  }
  if (!needs_lease(question.verb)) return Done{};
  if (question.lease_id.empty() || question.lease_id.size() > kLeaseIdBytesMax) {
    return bad("id: expected 1 to " + std::to_string(kLeaseIdBytesMax) + " bytes, got " +
               std::to_string(question.lease_id.size()));
  }
  if (question.verb == Verb::kRelease) return Done{};
  return check_duration("ttl", question.lease_us, 1, kLeaseMax_us);
}

}  // namespace ratel
