#include "serve/http_problem.h"

#include <utility>

#include "wire/http_response.h"

namespace ratel {
namespace {

std::string_view title_of(const Problem& problem) {
  if (problem.type == kBadArgumentType) return "The question is not valid";
  if (problem.type == kUnknownRuleType) return "There is no such rule";
  if (problem.type == kWrongVerbType) return "This kind of limit is asked in another way";
  if (problem.type == kUnavailableType) return "The store cannot answer";
  if (problem.type == kNeverType) return "No waiting makes this fit";
  if (problem.type == kQuotaExceededType) return "Request cannot be satisfied as assigned quota has been exceeded";
  if (problem.type == kReducedCapacityType)
    return "Request cannot be satisfied due to temporary server capacity constraints";
  return http_reason(problem.status);
}

}  // namespace

Problem bad_argument(std::string detail, std::string field, std::string value) {
  return {.status = 400,
          .type = kBadArgumentType,
          .detail = std::move(detail),
          .field = std::move(field),
          .value = std::move(value)};
}

Problem problem_of(JsonFault fault) {
  return bad_argument(std::move(fault.detail), std::move(fault.field), std::move(fault.value));
}

Problem problem_of(const Error& error, std::string_view field, std::string_view value) {
  Problem problem = bad_argument(error.message, std::string(field), std::string(value.substr(0, kJsonShownBytesMax)));
  switch (error.code) {
    case ErrorCode::kUnknownRule:
      problem.type = kUnknownRuleType;
      break;
    case ErrorCode::kWrongVerb:
      problem.type = kWrongVerbType;
      break;
    case ErrorCode::kUnavailable:
      problem.type = kUnavailableType;
      problem.status = 503;
      break;
    case ErrorCode::kBadArgument:
    case ErrorCode::kConfiguration:
      break;
  }
  return problem;
}

void write_problem(const Problem& problem, JsonWriter& json) {
  json.member("type", problem.type);
  json.member("title", title_of(problem));
  json.member("status", std::int64_t{problem.status});
  if (!problem.detail.empty()) json.member("detail", std::string_view(problem.detail));
  if (!problem.field.empty()) json.member("field", std::string_view(problem.field));
  if (!problem.value.empty()) json.member("value", std::string_view(problem.value));
}

Rejected rejection_of(const Problem& problem) {
  if (problem.type == kUnknownRuleType) return Rejected::kUnknownRule;
  switch (problem.status) {
    case 401:
      return Rejected::kUnauthorized;
    case 403:
    case 421:
      return Rejected::kForbiddenOrigin;
    case 404:
    case 405:
      return Rejected::kUnknownCommand;
    case 413:
    case 414:
    case 431:
      return Rejected::kTooLarge;
    default:
      return problem.type == kBadArgumentType || problem.type == kWrongVerbType ? Rejected::kBadArgument
                                                                                : Rejected::kProtocol;
  }
}

}  // namespace ratel
