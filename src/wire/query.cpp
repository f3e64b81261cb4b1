#include "wire/query.h"

namespace ratel {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

RequestTarget split_target(std::string_view target) {
  RequestTarget parts;
  constexpr std::string_view kScheme = "http://";
  if (target.starts_with(kScheme)) {
    target.remove_prefix(kScheme.size());
    parts.authority = target.substr(0, target.find_first_of("/?"));
    target.remove_prefix(parts.authority.size());
  }
  const std::size_t mark = target.find('?');
  parts.path = target.substr(0, mark);
  if (mark != std::string_view::npos) parts.query = target.substr(mark + 1);
  if (parts.path.empty() && !parts.authority.empty()) parts.path = "/";
  return parts;
}

bool append_form_decoded(std::string_view text, std::string& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return false;
      out += static_cast<char>(high << 4 | low);
      i += 2;
    }
  }
  return true;
}

std::optional<QueryParameter> next_parameter(std::string_view& query) {
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view parameter = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
    if (parameter.empty()) continue;
    const std::size_t equals = parameter.find('=');
    if (equals == std::string_view::npos) return QueryParameter{parameter, {}};
    return QueryParameter{parameter.substr(0, equals), parameter.substr(equals + 1)};
  }
  return std::nullopt;
}

}  // namespace ratel
