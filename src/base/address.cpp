#include "base/address.h"

#include <algorithm>
#include <charconv>

namespace ratel {
namespace {

Error wrong(std::string message) {
  return {ErrorCode::kBadArgument, std::move(message)};
}

Error malformed() {
  return wrong("an address is host:port, :port (loopback), [IPv6]:port or unix:/path, as in `127.0.0.1:6390`");
}

bool is_one_of(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kNameCharacters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_";
constexpr std::string_view kIpv6Characters = "0123456789abcdefABCDEF:.";

/// Four numbers of at most 255. A host of digits and dots that is no such thing is a mistake, not a name.
bool is_ipv4(std::string_view host) {
  int parts = 0;
  for (std::size_t start = 0; start <= host.size();) {
    const std::size_t end = std::min(host.find('.', start), host.size());
    const std::string_view part = host.substr(start, end - start);
    if (!is_one_of(part, kDigits) || part.size() > 3) return false;
    if (part.size() > 1 && part.front() == '0') return false;  // some read 010 as eight
    if (part.size() == 3 && part > "255") return false;
    ++parts;
    start = end + 1;
  }
  return parts == 4;
}

Result<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (!is_one_of(text, kDigits) || error != std::errc{}) return wrong("a port is a number from 0 to 65535");
  return port;
}

Result<Address> parse_unix(std::string_view path) {
  if (!path.starts_with('/')) return wrong("a Unix socket is an absolute path, as in `unix:/run/ratel.sock`");
  if (path.size() > kUnixPathBytesMax) {
    return wrong("the path of a Unix socket has at most " + std::to_string(kUnixPathBytesMax) + " bytes");
  }
  if (path.find('\0') != std::string_view::npos) return malformed();
  return Address{.path = std::string(path)};
}

}  // namespace

Result<Address> parse_address(std::string_view text) {
  constexpr std::string_view kUnix = "unix:";
  if (text.starts_with(kUnix)) return parse_unix(text.substr(kUnix.size()));

  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return malformed();
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[')) {
    if (!host.ends_with(']')) return malformed();
    host = host.substr(1, host.size() - 2);
    if (!is_one_of(host, kIpv6Characters) || host.find(':') == std::string_view::npos) {
      return wrong("between brackets stands an IPv6 address, as in `[::1]:6390`");
    }
  } else if (host.find(':') != std::string_view::npos) {
    return wrong("an IPv6 address stands between brackets, as in `[::1]:6390`");
  } else if (host.empty()) {
    host = "127.0.0.1";
  } else if (!is_one_of(host, kNameCharacters) || host.size() > kHostBytesMax) {
    return malformed();
  } else if (is_one_of(host, "0123456789.") && !is_ipv4(host)) {
    return wrong("an IPv4 address is four numbers from 0 to 255, as in `127.0.0.1:6390`");
  }

  const Result<std::uint16_t> port = parse_port(text.substr(colon + 1));
  if (!port.ok()) return port.error();
  return Address{.host = std::string(host), .port = *port};
}

std::string format_address(const Address& address) {
  if (address.is_unix()) return "unix:" + address.path;
  const bool ipv6 = address.host.find(':') != std::string::npos;
  return (ipv6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

bool is_loopback(const Address& address) {
  if (address.is_unix() || address.host == "localhost" || address.host == "::1") return true;
  return address.host.starts_with("127.") && is_ipv4(address.host);
}

}  // namespace ratel
