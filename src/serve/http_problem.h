#pragma once
// What went wrong with an HTTP request, as application/problem+json (RFC 9457). Pure; any thread.

#include <string>
#include <string_view>

#include "observe/metrics.h"
#include "ratel/result.h"
#include "wire/json_reader.h"
#include "wire/json_writer.h"

namespace ratel {

/// Allocated only on the path of a bad request.
struct Problem {
  int status = 400;
  std::string_view type = "about:blank";  // what a program can go by; static text
  std::string detail;
  std::string field = {};    // empty: none in particular
  std::string value = {};    // of the field, as it was given
  std::string headers = {};  // lines that the response must carry, each with its CRLF
};

inline constexpr std::string_view kBadArgumentType = "urn:ratel:bad-argument";
inline constexpr std::string_view kUnknownRuleType = "urn:ratel:unknown-rule";
inline constexpr std::string_view kWrongVerbType = "urn:ratel:wrong-verb";
inline constexpr std::string_view kUnavailableType = "urn:ratel:unavailable";
inline constexpr std::string_view kNeverType = "urn:ratel:never";
inline constexpr std::string_view kQuotaExceededType = "https://iana.org/assignments/http-problem-types#quota-exceeded";
inline constexpr std::string_view kReducedCapacityType =
    "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity";

Problem bad_argument(std::string detail, std::string field = {}, std::string value = {});
Problem problem_of(JsonFault fault);
/// `field` and `value` are those of the question that the error is about.
Problem problem_of(const Error& error, std::string_view field = {}, std::string_view value = {});

/// The members, without the braces: a problem stands alone, or with more of the caller's, or as an item's `error`.
void write_problem(const Problem& problem, JsonWriter& json);

/// How a problem is counted.
Rejected rejection_of(const Problem& problem);

}  // namespace ratel
