#include "base/ip_address.h"

#include <arpa/inet.h>  // inet_pton and inet_ntop, which are pure; nothing here opens a socket

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/check.h"

namespace ratel {
namespace {

struct IpAddress {
  bool v6 = false;
  std::array<unsigned char, 16> bytes{};  // of IPv4 the first four
};

constexpr std::array<unsigned char, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::array<unsigned char, 12> kNat64 = {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0};

/// The digits, dots and colons alone: no port, brackets or zone.
std::optional<IpAddress> parse_bare(std::string_view text, bool v6) {
  std::array<char, INET6_ADDRSTRLEN> terminated;
  if (text.size() >= terminated.size() || text.find('\0') != std::string_view::npos) return std::nullopt;
  std::copy(text.begin(), text.end(), terminated.begin());
  terminated[text.size()] = '\0';
  IpAddress address{.v6 = v6};
  if (inet_pton(v6 ? AF_INET6 : AF_INET, terminated.data(), address.bytes.data()) != 1) return std::nullopt;
  return address;
}

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<IpAddress> parse_v6(std::string_view text) {
  const std::size_t zone = text.find('%');
  if (zone != std::string_view::npos && zone + 1 == text.size()) return std::nullopt;
  return parse_bare(text.substr(0, zone), true);
}

std::optional<IpAddress> parse(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && !(rest.front() == ':' && is_port(rest.substr(1)))) return std::nullopt;
    return parse_v6(text.substr(1, close - 1));
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return parse_bare(text, false);
  if (text.find('.') < colon) {
    return is_port(text.substr(colon + 1)) ? parse_bare(text.substr(0, colon), false) : std::nullopt;
  }
  return parse_v6(text);
}

/// IPv4 that travels inside IPv6 is the same client.
void unwrap_v4(IpAddress& address) {
  if (!address.v6) return;
  const auto begins_with = [&](const auto& prefix) {
    return std::equal(prefix.begin(), prefix.end(), address.bytes.begin());
  };
  if (!begins_with(kMapped) && !begins_with(kNat64)) return;
  std::memmove(address.bytes.data(), address.bytes.data() + 12, 4);
  address.v6 = false;
}

void clear_beyond(std::array<unsigned char, 16>& bytes, int prefix) {
  for (int i = 0; i < 16; ++i) {
    const int kept = std::clamp(prefix - 8 * i, 0, 8);
    bytes[static_cast<std::size_t>(i)] &= static_cast<unsigned char>(0xff00 >> kept);
  }
}

}  // namespace

bool canonical_ip_key(std::string_view text, int ipv6_prefix, std::string& out) {
  CHECK(ipv6_prefix >= 1 && ipv6_prefix <= 128);
  std::optional<IpAddress> address = parse(text);
  if (!address) return false;
  unwrap_v4(*address);
  if (address->v6) clear_beyond(address->bytes, ipv6_prefix);
  std::array<char, INET6_ADDRSTRLEN> written;
  CHECK(inet_ntop(address->v6 ? AF_INET6 : AF_INET, address->bytes.data(), written.data(), written.size()) != nullptr);
  out += written.data();
  if (address->v6 && ipv6_prefix < 128) {
    std::array<char, 3> digits;
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), ipv6_prefix);
    CHECK(error == std::errc());
    out += '/';
    out.append(digits.data(), end);
  }
  return true;
}

bool is_ip_address(std::string_view text) {
  return parse(text).has_value();
}

}  // namespace ratel
