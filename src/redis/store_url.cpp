#include "redis/store_url.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace ratel {
namespace {

using Topology = StoreUrl::Topology;

constexpr std::uint16_t kRedisPort = 6379;
constexpr std::uint16_t kSentinelPort = 26379;

Error wrong(std::string message) {
  return {ErrorCode::kConfiguration, "store: " + std::move(message)};
}

std::string quoted(std::string_view value) {
  return "`" + std::string(value) + "`";
}

/// The part of `text` before `mark`, which is taken from it with the mark. All of it if there is no mark.
std::string_view take_until(std::string_view& text, char mark) {
  const std::string_view part = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned char byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || error != std::errc{} || rest != digits.data() + 2) return std::nullopt;
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return decoded;
}

std::string percent_encoded(std::string_view text, std::string_view plain) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr std::string_view kAlways = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string encoded;
  for (const char c : text) {
    if (kAlways.find(c) != std::string_view::npos || plain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return encoded;
}

struct Scheme {
  Topology topology = Topology::kStandalone;
  bool tls = false;
  bool unix = false;
};

std::optional<Scheme> scheme_of(std::string_view name) {
  if (name == "unix") return Scheme{.unix = true};
  Scheme scheme;
  std::string_view rest = name;
  if (!rest.starts_with("redis") && !rest.starts_with("valkey")) return std::nullopt;
  rest.remove_prefix(rest.front() == 'r' ? 5 : 6);
  if (rest.starts_with('s')) {
    scheme.tls = true;
    rest.remove_prefix(1);
  }
  if (rest == "-sentinel") scheme.topology = Topology::kSentinel;
  if (rest == "-cluster") scheme.topology = Topology::kCluster;
  scheme.unix = rest == "+unix" && !scheme.tls;
  if (rest.empty() || rest == "-sentinel" || rest == "-cluster" || scheme.unix) return scheme;
  return std::nullopt;
}

Status take_credentials(std::string_view& rest, std::size_t end, StoreUrl& url) {
  const std::size_t at = rest.substr(0, end).rfind('@');
  // What follows may be the rest of a password, and is not to be shown by the next error.
  if (end != std::string_view::npos && rest.find('@', end) != std::string_view::npos) {
    return wrong("password: a `/` in it stands as %2F; elsewhere an `@` stands as %40");
  }
  if (at == std::string_view::npos) return Done{};
  std::string_view credentials = rest.substr(0, at);
  rest.remove_prefix(at + 1);
  const std::string_view user = take_until(credentials, ':');
  const std::optional<std::string> decoded_user = percent_decoded(user);
  if (!decoded_user) return wrong("user " + quoted(user) + ": after % come two hexadecimal digits");
  const std::optional<std::string> password = percent_decoded(credentials);
  if (!password) return wrong("password: after % come two hexadecimal digits; a % itself is %25");
  if (password->empty()) {
    return wrong("user " + quoted(user) + " comes without a password; the form is user:password@, or :password@");
  }
  url.user = *decoded_user;
  url.password = *password;
  return Done{};
}

Result<Address> parse_host(std::string_view text, std::uint16_t port) {
  const bool ipv6_alone = text.starts_with('[') && text.ends_with(']');
  const bool has_port = !ipv6_alone && text.find(':') != std::string_view::npos;
  std::string whole(text);
  if (!has_port) whole += ":" + std::to_string(port);
  const bool has_name = !text.empty() && text.find(':') != 0 && !text.starts_with("unix:");
  if (!has_name && text.rfind(':') == text.find(':')) {
    return wrong("host " + quoted(text) + ": a name or an address was expected, as in `10.0.0.1:6379`");
  }
  const Result<Address> address = parse_address(whole);
  if (!address.ok()) return wrong("host " + quoted(text) + ": " + address.error().message);
  if (address->port == 0) return wrong("host " + quoted(text) + ": a port is a number from 1 to 65535");
  return address;
}

Status take_hosts(std::string_view hosts, StoreUrl& url) {
  const std::uint16_t port = url.topology == Topology::kSentinel ? kSentinelPort : kRedisPort;
  if (url.topology == Topology::kStandalone && hosts.find(',') != std::string_view::npos) {
    return wrong("hosts " + quoted(hosts) +
                 ": one server stands here; several are redis-sentinel://…/name or redis-cluster://…");
  }
  if (hosts.empty()) return wrong("host: there is none, as in redis://10.0.0.1:6379");
  bool more = true;
  while (more) {
    more = hosts.find(',') != std::string_view::npos;
    const Result<Address> host = parse_host(take_until(hosts, ','), port);
    if (!host.ok()) return host.error();
    if (url.hosts.size() == kStoreHostsMax) {
      return wrong("hosts: there are more than " + std::to_string(kStoreHostsMax) + "; some of them are enough");
    }
    url.hosts.push_back(*host);
  }
  return Done{};
}

Status set_database(std::string_view text, StoreUrl& url) {
  if (text.empty()) return Done{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), url.database);
  if (error != std::errc{} || rest != text.data() + text.size() || url.database < 0 ||
      url.database > kStoreDatabaseMax) {
    return wrong("database " + quoted(text) + ": a number from 0 to " + std::to_string(kStoreDatabaseMax) +
                 " was expected");
  }
  if (url.topology == Topology::kCluster && url.database != 0) {
    return wrong("database " + quoted(text) + ": a cluster has only database 0");
  }
  return Done{};
}

Status take_query(std::string_view query, StoreUrl& url) {
  while (!query.empty()) {
    std::string_view value = take_until(query, '&');
    const std::string_view name = take_until(value, '=');
    if (name != "db") return wrong("parameter " + quoted(name) + ": only db is known; files for TLS are settings");
    if (const Status status = set_database(value, url); !status.ok()) return status;
  }
  return Done{};
}

Status take_path(std::string_view path, StoreUrl& url) {
  if (url.topology == Topology::kSentinel) {
    const std::string_view service = take_until(path, '/');
    const std::optional<std::string> decoded = percent_decoded(service);
    if (!decoded || decoded->empty()) {
      return wrong("service " + quoted(service) + ": the primary's name was expected, as in …:26379/mymaster");
    }
    url.service = *decoded;
  }
  return set_database(path, url);
}

Status parse_unix(std::string_view rest, StoreUrl& url) {
  if (const Status status = take_credentials(rest, rest.find_first_of("/?"), url); !status.ok()) return status;
  const std::string_view path = take_until(rest, '?');
  const std::optional<std::string> decoded = percent_decoded(path);
  if (!decoded) return wrong("path " + quoted(path) + ": after % come two hexadecimal digits");
  const Result<Address> address = parse_address("unix:" + *decoded);
  if (!address.ok()) return wrong("path " + quoted(path) + ": " + address.error().message);
  url.hosts.push_back(*address);
  return take_query(rest, url);
}

}  // namespace

Result<StoreUrl> parse_store_url(std::string_view text) {
  if (text.size() > kStoreUrlBytesMax) {
    return wrong("the URL has more than " + std::to_string(kStoreUrlBytesMax) + " bytes");
  }
  const std::size_t colon = text.find("://");
  const std::optional<Scheme> scheme = scheme_of(text.substr(0, colon));
  // What is not even a URL might be a password by mistake, so it is not repeated.
  if (colon == std::string_view::npos) return wrong("a URL was expected, as in redis://10.0.0.1:6379");
  if (!scheme) {
    return wrong("scheme " + quoted(text.substr(0, colon)) +
                 ": redis, rediss, redis-sentinel, redis-cluster or redis+unix was expected");
  }
  std::string_view rest = text.substr(colon + 3);
  StoreUrl url{.topology = scheme->topology, .tls = scheme->tls};
  if (scheme->unix) {
    if (const Status status = parse_unix(rest, url); !status.ok()) return status.error();
    return url;
  }
  if (const Status status = take_credentials(rest, rest.find_first_of("/?"), url); !status.ok()) return status.error();
  std::string_view query = rest;
  rest = take_until(query, '?');
  if (const Status status = take_hosts(take_until(rest, '/'), url); !status.ok()) return status.error();
  if (const Status status = take_path(rest, url); !status.ok()) return status.error();
  if (const Status status = take_query(query, url); !status.ok()) return status.error();
  return url;
}

std::string format_store_url(const StoreUrl& url) {
  const bool unix = url.hosts.front().is_unix();
  std::string text = url.tls ? "rediss" : "redis";
  if (url.topology == Topology::kSentinel) text += "-sentinel";
  if (url.topology == Topology::kCluster) text += "-cluster";
  if (unix) text += "+unix";
  text += "://";
  if (!url.password.empty()) text += percent_encoded(url.user, "") + ":***@";
  for (const Address& host : url.hosts) {
    if (&host != &url.hosts.front()) text += ',';
    text += unix ? percent_encoded(host.path, "/") : format_address(host);
  }
  if (!url.service.empty()) text += "/" + percent_encoded(url.service, "");
  if (url.database != 0) text += (unix ? "?db=" : "/") + std::to_string(url.database);
  return text;
}

}  // namespace ratel
