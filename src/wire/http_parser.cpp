// The one file that includes Beast, which parses heads and chunks. What Beast leaves open is closed here: the end of a
// head is looked for first, so that Beast sees it whole, and bounds and verdicts do not depend on how bytes arrived.

#include "wire/http_parser.h"

#include <algorithm>
#include <array>
#include <boost/beast/http/basic_parser.hpp>
#include <optional>

namespace ratel {
namespace {

namespace http = boost::beast::http;
using Code = boost::beast::error_code;
using Text = boost::beast::string_view;

// The shortest that can stand where a chunk begins. Beast asserts that it is shown no less of a last chunk.
constexpr std::size_t kLastChunkBytes = std::string_view("0\r\n\r\n").size();

std::string_view view(Text text) {
  return {text.data(), text.size()};
}

bool equal_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a | 0x20) : a) == b; });
}

HttpMethod method_of(http::verb verb) {
  switch (verb) {
    case http::verb::get:
      return HttpMethod::kGet;
    case http::verb::head:
      return HttpMethod::kHead;
    case http::verb::post:
      return HttpMethod::kPost;
    case http::verb::options:
      return HttpMethod::kOptions;
    case http::verb::unknown:
      return HttpMethod::kUnknown;
    default:
      return HttpMethod::kOther;
  }
}

HttpFault fault_of(http::error error) {
  switch (error) {
    case http::error::body_limit:
      return {413, "the body is longer than 1 MiB"};
    case http::error::bad_method:
      return {400, "the method is not a token"};
    case http::error::bad_target:
      return {400, "the request target holds a byte that belongs percent-encoded"};
    case http::error::bad_version:
      return {400, "the request line does not end in HTTP/1.0 or HTTP/1.1"};
    case http::error::bad_field:
      return {400, "a header name is not a token followed by a colon"};
    case http::error::bad_value:
      return {400, "a header value is malformed"};
    case http::error::bad_content_length:
    case http::error::multiple_content_length:
      return {400, "Content-Length is not one number"};
    case http::error::bad_transfer_encoding:
      return {400, "Transfer-Encoding is given twice or with Content-Length"};
    case http::error::bad_chunk:
    case http::error::bad_chunk_extension:
      return {400, "a chunk is malformed"};
    default:
      return {400, "the request is malformed"};
  }
}

/// What becomes of a message. Outlives it, so that memory is used again.
struct Parts {
  HttpHead head;
  std::string arena;          // what head's views point into
  std::string forwarded_for;  // gathered by itself, because lines of other headers may lie between two of it
  std::string body;
  bool discards_body = false;
};

/// One message. Made anew for each, which costs a few stores.
class BeastParser final : public http::basic_parser<true> {
 public:
  explicit BeastParser(Parts& parts) : parts_(parts), head_(parts.head) {
    header_limit(kHttpHeadBytesMax);
    body_limit(kHttpBodyBytesMax);
  }

  /// Whether the size of a chunk is to come, or what is behind the last one.
  bool between_chunks() const { return chunked() && chunk_left_ == 0; }

  std::optional<HttpFault> fault;

 private:
  void refuse(int status, const char* detail, Code& ec) {
    fault = HttpFault{status, detail};
    ec = http::error::bad_value;
  }

  std::string_view keep(std::string_view text) {
    const std::size_t start = parts_.arena.size();
    parts_.arena += text;  // within what parse_head() reserved, so that earlier views stay
    return std::string_view(parts_.arena).substr(start);
  }

  void keep_single(std::string_view& member, std::string_view value, Code& ec) {
    if (!member.empty()) return refuse(400, "a header is given twice that may be given once", ec);
    member = keep(value);
  }

  void on_request_impl(http::verb verb, Text, Text target, int version, Code&) override {
    head_.method = method_of(verb);
    head_.http_1_0 = version == 10;
    head_.target = keep(view(target));
  }

  void on_field_impl(http::field field, Text name, Text text, Code& ec) override {
    if (is_header_done()) return;  // a trailer may claim nothing
    const std::string_view value = view(text);
    switch (field) {
      case http::field::host:
        if (head_.has_host) return refuse(400, "Host is given twice", ec);
        head_.has_host = true;
        head_.host = keep(value);
        return;
      case http::field::content_type:
        return keep_single(head_.content_type, value, ec);
      case http::field::authorization:
        return keep_single(head_.authorization, value, ec);
      case http::field::origin:
        return keep_single(head_.origin, value, ec);
      case http::field::referer:
        return keep_single(head_.referer, value, ec);
      case http::field::sec_fetch_site:
        return keep_single(head_.fetch_site, value, ec);
      case http::field::expect:
        if (!equal_ignoring_case(value, "100-continue")) return refuse(417, "only 100-continue can be expected", ec);
        head_.expects_continue = true;
        return;
      case http::field::transfer_encoding:
        if (head_.http_1_0) return refuse(400, "HTTP/1.0 has no Transfer-Encoding", ec);
        // Beast reads a message whose last coding is not chunked as one without a body, and the body as the next one.
        if (!equal_ignoring_case(value, "chunked")) return refuse(501, "the only Transfer-Encoding is chunked", ec);
        head_.has_length = true;
        return;
      case http::field::content_length:
        head_.has_length = true;
        return;
      case http::field::unknown:
        return on_unknown_field(view(name), value, ec);
      default:
        return;
    }
  }

  void on_unknown_field(std::string_view name, std::string_view value, Code& ec) {
    if (equal_ignoring_case(name, "x-forwarded-for")) {
      if (!parts_.forwarded_for.empty()) parts_.forwarded_for += ',';
      parts_.forwarded_for += value;
    } else if (equal_ignoring_case(name, "x-ratel-token")) {
      keep_single(head_.token, value, ec);
    }
  }

  void on_header_impl(Code&) override {
    head_.forwarded_for = keep(parts_.forwarded_for);
    head_.keep_alive = keep_alive();
  }

  std::size_t on_body_impl(Text text, Code&) override {
    if (!parts_.discards_body) parts_.body += view(text);
    return text.size();
  }
  void on_chunk_header_impl(std::uint64_t size, Text, Code&) override { chunk_left_ = size; }
  std::size_t on_chunk_body_impl(std::uint64_t, Text text, Code& ec) override {
    chunk_left_ -= text.size();
    return on_body_impl(text, ec);
  }

  void on_response_impl(int, Text, int, Code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Code&) override {}
  void on_finish_impl(Code&) override {}

  Parts& parts_;
  HttpHead& head_;
  std::uint64_t chunk_left_ = 0;
};

}  // namespace

struct HttpParser::Impl : Parts {
  enum class State : std::uint8_t { kBetween, kHead, kBody, kDone, kFault };

  State state = State::kBetween;
  HttpFault fault;
  std::optional<BeastParser> beast;
  std::size_t scanned = 0;  // of the head that is not complete: what holds no line's end beyond the ones counted
  std::size_t lines = 0;

  Step fail(HttpFault with) {
    state = State::kFault;
    fault = with;
    return Step::kFault;
  }
  Step fail(const Code& ec) {
    return fail(beast->fault ? *beast->fault : fault_of(static_cast<http::error>(ec.value())));
  }

  Step begin(std::string_view& bytes);
  Step find_head(std::string_view& bytes);
  Step parse_head(std::string_view head_bytes);
  Step parse_body(std::string_view& bytes);
};

HttpParser::HttpParser() : impl_(std::make_unique<Impl>()) {}
HttpParser::~HttpParser() = default;

const HttpHead& HttpParser::head() const {
  return impl_->head;
}
std::string& HttpParser::body() {
  return impl_->body;
}
const HttpFault& HttpParser::fault() const {
  return impl_->fault;
}
std::size_t HttpParser::head_memory() const {
  return impl_->arena.capacity();
}
std::size_t HttpParser::body_memory() const {
  return impl_->body.capacity();
}
void HttpParser::discard_body() {
  impl_->discards_body = true;
}
bool HttpParser::within_message() const {
  return impl_->state == Impl::State::kBody;
}

HttpParser::Step HttpParser::parse(std::string_view& bytes) {
  switch (impl_->state) {
    case Impl::State::kDone:
    case Impl::State::kBetween:
      return impl_->begin(bytes);
    case Impl::State::kHead:
      return impl_->find_head(bytes);
    case Impl::State::kBody:
      return impl_->parse_body(bytes);
    case Impl::State::kFault:
      break;
  }
  return Step::kFault;
}

HttpParser::Step HttpParser::Impl::begin(std::string_view& bytes) {
  state = State::kBetween;
  head = {};
  arena.clear();
  forwarded_for.clear();
  body.clear();
  discards_body = false;
  if (arena.capacity() > kHttpHeadKeptBytesMax) arena.shrink_to_fit();
  if (body.capacity() > kHttpBodyKeptBytesMax) body.shrink_to_fit();
  scanned = 0;
  lines = 0;
  // Clients of old end a body with a line end too many.
  while (bytes.starts_with("\r\n")) bytes.remove_prefix(2);
  if (bytes.empty() || bytes == "\r") return Step::kNeedMore;
  // Whoever speaks TLS or another protocol would wait for us to speak as long as we wait for the end of its head.
  const char first = bytes.front();
  if (!((first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z')))
    return fail({400, "this is no HTTP request"});
  state = State::kHead;
  return find_head(bytes);
}

HttpParser::Step HttpParser::Impl::find_head(std::string_view& bytes) {
  while (true) {
    // At least two bytes are before a line feed: the first one is a letter, and the first line ends in CR LF.
    const std::size_t line_feed = bytes.find('\n', scanned);
    const std::size_t seen = line_feed == std::string_view::npos ? bytes.size() : line_feed + 1;
    if (lines == 0 && seen > kHttpRequestLineBytesMax) return fail({414, "the request line is longer than 8 KiB"});
    if (seen > kHttpHeadBytesMax) return fail({431, "the headers are longer than 16 KiB"});
    if (line_feed == std::string_view::npos) {
      scanned = seen;
      return Step::kNeedMore;
    }
    if (bytes[line_feed - 1] != '\r') return fail({400, "a line does not end in CR LF"});
    const bool blank = bytes[line_feed - 2] == '\n';
    scanned = seen;
    if (blank) break;
    if (++lines > 1 + kHttpHeaderLinesMax) return fail({431, "there are more than 100 header lines"});
  }
  const std::string_view head_bytes = bytes.substr(0, scanned);
  bytes.remove_prefix(scanned);
  return parse_head(head_bytes);
}

HttpParser::Step HttpParser::Impl::parse_head(std::string_view head_bytes) {
  arena.reserve(head_bytes.size());
  beast.emplace(*this);
  Code ec;
  beast->put(boost::asio::const_buffer(head_bytes.data(), head_bytes.size()), ec);
  if (ec == http::error::bad_version && !beast->fault) {
    // A version that is well-formed and not ours is another matter than none.
    const std::string_view line = head_bytes.substr(0, head_bytes.find('\r'));
    const std::string_view version = line.substr(line.find(' ', line.find(' ') + 1) + 1);
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    if (version.size() == 8 && version.starts_with("HTTP/") && digit(version[5]) && version[6] == '.' &&
        digit(version[7])) {
      return fail({505, "only HTTP/1.0 and HTTP/1.1 are spoken here"});
    }
  }
  if (ec) return fail(ec);
  // The blank line is in, so Beast has no reason to ask for more.
  if (!beast->is_header_done()) return fail({400, "the request is malformed"});
  if (!head.http_1_0 && !head.has_host) return fail({400, "HTTP/1.1 asks for a Host header"});
  state = State::kBody;
  return Step::kHead;
}

HttpParser::Step HttpParser::Impl::parse_body(std::string_view& bytes) {
  while (!beast->is_done()) {
    const bool frame = beast->between_chunks();
    if (bytes.size() < (frame ? kLastChunkBytes : 1)) return Step::kNeedMore;
    Code ec;
    const std::size_t consumed = beast->put(boost::asio::const_buffer(bytes.data(), bytes.size()), ec);
    const bool need_more = ec == http::error::need_more;
    if (frame && (need_more ? bytes.size() : consumed) > kHttpChunkFrameBytesMax) {
      return fail({400, "chunk sizes, extensions or trailers are too long"});
    }
    bytes.remove_prefix(consumed);
    if (need_more) return Step::kNeedMore;
    if (ec) return fail(ec);
  }
  state = State::kDone;
  return Step::kMessage;
}

}  // namespace ratel
