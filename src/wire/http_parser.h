#pragma once
// HTTP/1.0 and 1.1 requests from bytes, incrementally: any split of the input gives the same messages.
//
// Belongs to one connection on one event loop. Knows framing and nothing of what a request means; answers nothing.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ratel {

/// A head is read by people's browsers too, whose cookies are long; what proxies allow by default.
inline constexpr std::size_t kHttpHeadBytesMax = 16 * 1024;
inline constexpr std::size_t kHttpRequestLineBytesMax = 8 * 1024;
inline constexpr std::size_t kHttpHeaderLinesMax = 100;
/// 1,000 questions of a kilobyte each.
inline constexpr std::size_t kHttpBodyBytesMax = 1024 * 1024;
/// What stands between the data of two chunks, and behind the last one: sizes, extensions, trailers.
inline constexpr std::size_t kHttpChunkFrameBytesMax = 4 * 1024;
/// What a connection at rest keeps of the memory of a head and of a body.
inline constexpr std::size_t kHttpHeadKeptBytesMax = 4 * 1024;
inline constexpr std::size_t kHttpBodyKeptBytesMax = 16 * 1024;

enum class HttpMethod : std::uint8_t { kGet, kHead, kPost, kOptions, kOther, kUnknown };

/// The parts of a head that ratel goes by. Absent headers are empty.
struct HttpHead {
  HttpMethod method = HttpMethod::kUnknown;
  std::string_view target;
  bool http_1_0 = false;
  bool keep_alive = false;
  bool expects_continue = false;
  bool has_host = false;
  bool has_length = false;  // Content-Length or chunked; without either there is no body
  std::string_view host;
  std::string_view content_type;
  std::string_view authorization;
  std::string_view token;  // X-Ratel-Token
  std::string_view origin;
  std::string_view referer;
  std::string_view fetch_site;     // Sec-Fetch-Site
  std::string_view forwarded_for;  // X-Forwarded-For, of several lines joined by commas
};

/// What a request that cannot be understood is answered with, before the connection is closed.
struct HttpFault {
  int status = 400;  // 400, 413, 414, 417, 431, 501, 505
  const char* detail = "";
};

class HttpParser {
 public:
  enum class Step : std::uint8_t {
    kNeedMore,  // what is left of the bytes must be presented again, with more behind it
    kHead,      // head() is complete; a body may follow
    kMessage,   // head() and body() are complete
    kFault,     // for good
  };

  HttpParser();
  ~HttpParser();

  /// Removes what it consumes from the front of `bytes`.
  Step parse(std::string_view& bytes);

  /// From kHead until the call of parse() after kMessage.
  const HttpHead& head() const;
  /// Complete from kMessage on. The caller may append behind it and move it away.
  std::string& body();
  const HttpFault& fault() const;
  /// From kHead on: what is still to come of this message's body is passed over, and takes no memory.
  void discard_body();
  /// Whether a message has begun and is not complete: bytes of it have been consumed.
  bool within_message() const;
  /// Bytes that head() occupies, used or not.
  std::size_t head_memory() const;
  /// The same of body().
  std::size_t body_memory() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;  // keeps Beast out of this header
};

}  // namespace ratel
