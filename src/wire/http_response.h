#pragma once
// The heads of HTTP/1.1 responses. Pure; any thread.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/micros.h"

namespace ratel {

/// `Not Found` of 404. Known for every status that ratel answers with; anything else is a programmer's error.
std::string_view http_reason(int status);

/// `Tue, 01 Dec 2026 21:12:50 GMT`, as Date headers have it. Writes it once a second; belongs to one event loop.
class HttpDate {
 public:
  /// Until the next call. `wall_us` since the Unix epoch; years 0 to 9999.
  std::string_view at(Micros wall_us);

 private:
  std::int64_t second_ = -1;
  std::string text_;
};

struct HttpResponseHead {
  enum class Connection : std::uint8_t { kDefault, kClose, kKeepAlive };

  int status = 200;
  std::string_view content_type;   // empty: none
  std::size_t content_length = 0;  // of HEAD, what GET would send; not written for 204
  std::string_view headers;        // further lines, each with its CRLF
  std::string_view date;
  Connection connection = Connection::kDefault;
};

/// Up to and with the blank line.
void append_http_head(std::string& out, const HttpResponseHead& head);

inline constexpr std::string_view kHttpContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace ratel
