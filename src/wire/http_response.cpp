#include "wire/http_response.h"

#include <fmt/format.h>

#include <array>
#include <chrono>

#include "base/check.h"

namespace ratel {

std::string_view http_reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      break;
  }
  CHECK(false && "a status without a reason phrase");
  return {};
}

std::string_view HttpDate::at(Micros wall_us) {
  using namespace std::chrono;
  const std::int64_t second = wall_us / kSecond_us;
  if (second == second_) return text_;
  second_ = second;
  static constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const sys_seconds time{seconds(second)};
  const sys_days day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  text_.clear();
  fmt::format_to(std::back_inserter(text_), "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                 kDays[weekday(day).c_encoding()], static_cast<unsigned>(date.day()),
                 kMonths[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()), clock.hours().count(),
                 clock.minutes().count(), clock.seconds().count());
  return text_;
}

void append_http_head(std::string& out, const HttpResponseHead& head) {
  out += "HTTP/1.1 ";
  out += fmt::format_int(head.status).c_str();
  out += ' ';
  out += http_reason(head.status);
  out += "\r\nDate: ";
  out += head.date;
  if (!head.content_type.empty()) {
    out += "\r\nContent-Type: ";
    out += head.content_type;
  }
  if (head.status != 204) {
    const fmt::format_int length(head.content_length);
    out += "\r\nContent-Length: ";
    out.append(length.data(), length.size());
  }
  switch (head.connection) {
    case HttpResponseHead::Connection::kDefault:
      break;
    case HttpResponseHead::Connection::kClose:
      out += "\r\nConnection: close";
      break;
    case HttpResponseHead::Connection::kKeepAlive:
      out += "\r\nConnection: keep-alive";
      break;
  }
  out += "\r\n";
  out += head.headers;
  out += "\r\n";
}

}  // namespace ratel
