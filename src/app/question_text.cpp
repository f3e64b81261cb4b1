#include "app/question_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/duration.h"
#include "wire/resp_command.h"

namespace ratel {
namespace {

// The places of RATEL_ALLOW's answer in RESP2.
enum Field : std::size_t { kAllowed, kLimit, kRemaining, kRetryAfter, kResetAfter, kSource, kRule, kFieldCount };

bool is_an_answer(const RespReply& reply) {
  if (reply.kind() != RespReply::Kind::kList || reply.size() < kFieldCount) return false;
  for (const std::size_t field : {kAllowed, kLimit, kRemaining, kRetryAfter, kResetAfter}) {
    if (reply[field].kind() != RespReply::Kind::kInteger) return false;
  }
  return reply[kSource].kind() == RespReply::Kind::kText && reply[kRule].kind() == RespReply::Kind::kText;
}

/// Milliseconds as people write them; -1 is never.
std::string wait_text(std::int64_t ms) {
  constexpr std::int64_t kMax_ms = kDurationMax_us / 1'000;
  return ms < 0 ? "never" : format_duration(std::min(ms, kMax_ms) * 1'000);
}

/// What a server sent, fit for a terminal.
std::string printable(std::string_view sent) {
  std::string text(sent);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return text;
}

std::string units_text(std::int64_t units) {
  return units < 0 ? "unlimited" : std::to_string(units);
}

}  // namespace

std::string format_question(const AskedQuestion& question) {
  const std::string_view verb = question.peek ? "RATEL.PEEK" : "RATEL.ALLOW";
  std::string command;
  if (question.rule.empty()) {
    append_command({verb, "LIMIT", question.limit, question.key, "COST", question.cost}, command);
  } else {
    append_command({verb, question.rule, question.key, "COST", question.cost}, command);
  }
  return command;
}

AskedAnswer describe_answer(const RespReply& reply) {
  if (reply.kind() == RespReply::Kind::kError) return {.line = printable(reply.text())};
  if (!is_an_answer(reply)) return {.line = "this is no answer of ratel: is the address right?"};
  const auto integer = [&](Field field) { return reply[field].integer(); };
  const bool allowed = integer(kAllowed) == 1;
  std::string line =
      fmt::format("{} rule={} limit={} remaining={}", allowed ? "allowed" : "denied", printable(reply[kRule].text()),
                  units_text(integer(kLimit)), units_text(integer(kRemaining)));
  if (!allowed) line += fmt::format(" retry_after={}", wait_text(integer(kRetryAfter)));
  line += fmt::format(" reset_after={} source={}", wait_text(integer(kResetAfter)), printable(reply[kSource].text()));
  return {.verdict = allowed ? AskedAnswer::Verdict::kAllowed : AskedAnswer::Verdict::kDenied, .line = std::move(line)};
}

}  // namespace ratel
