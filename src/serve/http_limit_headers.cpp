#include "serve/http_limit_headers.h"

#include <fmt/format.h>

#include <algorithm>

namespace ratel {
namespace {

void append_number(std::int64_t number, std::string& out) {
  const fmt::format_int digits(number);
  out.append(digits.data(), digits.size());
}

/// A String of structured fields (RFC 9651), which holds printable ASCII: other bytes are written as %XX.
void append_field_string(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  out += '"';
}

/// The seconds in which a spent limit comes back whole.
std::int64_t window_seconds(const Limit& limit) {
  if (limit.algorithm != Algorithm::kGcra || limit.count == 0) return ceil_div(limit.period_us, kSecond_us);
  const Fraction& time = limit.capacity_time;
  return std::max<std::int64_t>(1, ceil_div(time.q_us + (time.r != 0 ? 1 : 0), kSecond_us));
}

bool is_told(const Charge& charge) {
  return !charge.shadow && !charge.limit->limit.unlimited;
}

void append_policy(const BoundLimit& limit, std::string& out) {
  append_field_string(limit.label, out);
  out += ";q=";
  append_number(limit.limit.capacity, out);
  if (limit.limit.period_us > 0) {
    out += ";w=";
    append_number(std::max<std::int64_t>(1, window_seconds(limit.limit)), out);
  }
}

std::int64_t reset_seconds(const Decision& decision) {
  const bool until_admitted = !decision.allowed && decision.retry_after != kNever;
  return until_admitted ? header_seconds(decision.retry_after) : ceil_div(decision.reset_after.count(), kSecond_us);
}

void append_line(std::string_view name, std::int64_t number, std::string& out) {
  out += name;
  append_number(number, out);
  out += "\r\n";
}

void append_draft_10(const Question& question, const Answer& answer, std::string& out) {
  const BoundLimit& binding = *question.charges[answer.binding].limit;
  out += "RateLimit-Policy: ";
  append_policy(binding, out);
  for (std::size_t i = 0; i < question.charges.size(); ++i) {
    if (i == answer.binding || !is_told(question.charges[i])) continue;
    out += ", ";
    append_policy(*question.charges[i].limit, out);
  }
  out += "\r\nRateLimit: ";
  append_field_string(binding.label, out);
  out += ";r=";
  append_number(answer.decision.remaining, out);
  out += ";t=";
  append_number(reset_seconds(answer.decision), out);
  out += "\r\n";
}

}  // namespace

std::int64_t header_seconds(std::chrono::microseconds wait) {
  return std::max<std::int64_t>(1, ceil_div(wait.count(), kSecond_us));
}

void append_limit_headers(const Question& question, const Answer& answer, HeaderStyle style, std::string& out) {
  if (!is_told(question.charges[answer.binding])) return;
  switch (style) {
    case HeaderStyle::kRateLimit:
      return append_draft_10(question, answer, out);
    case HeaderStyle::kXRateLimit:
      append_line("X-RateLimit-Limit: ", answer.decision.limit, out);
      append_line("X-RateLimit-Remaining: ", answer.decision.remaining, out);
      append_line("X-RateLimit-Reset: ", reset_seconds(answer.decision), out);
      return;
    case HeaderStyle::kNone:
      return;
  }
}

void append_retry_after(const Decision& decision, std::string& out) {
  if (decision.allowed || decision.retry_after == kNever) return;
  append_line("Retry-After: ", header_seconds(decision.retry_after), out);
}

}  // namespace ratel
