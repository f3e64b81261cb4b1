// The rows of the settings.

#include <algorithm>
#include <array>

#include "app/settings.h"
#include "base/choice.h"
#include "base/duration.h"
#include "base/size.h"
#include "redis/key_name.h"
#include "rules/load_rules.h"

namespace ratel {
namespace {

constexpr std::int64_t kThreadsMax = 256;
constexpr std::int64_t kConnectionsMax = 1'000'000;
constexpr std::int64_t kTrustedHopsMax = 16;
constexpr std::uint64_t kMemoryMin = std::uint64_t{1} << 20;
constexpr std::size_t kAllowedHostsMax = 100;

constexpr std::array kLogLevels{Choice<LogLevel>{"debug", LogLevel::kDebug}, Choice<LogLevel>{"info", LogLevel::kInfo},
                                Choice<LogLevel>{"warning", LogLevel::kWarning},
                                Choice<LogLevel>{"error", LogLevel::kError}};
constexpr std::array kLogFormats{Choice<LogFormat>{"logfmt", LogFormat::kLogfmt},
                                 Choice<LogFormat>{"json", LogFormat::kJson}};

Error wrong(std::string message) {
  return {ErrorCode::kConfiguration, std::move(message)};
}

/// Puts a parsed value in its place.
template <typename T, typename Field>
Status keep(Result<T> parsed, Field& field) {
  if (!parsed.ok()) return parsed.error();
  field = static_cast<Field>(*std::move(parsed));
  return Done{};
}

Status set_path(std::string_view text, std::string& path) {
  if (text.empty()) return wrong("a path was expected");
  path = text;
  return Done{};
}

Status set_name(std::string_view text, std::string& name) {
  if (text.empty() || text.size() > kHostBytesMax) return wrong("the name of a host was expected");
  name = text;
  return Done{};
}

Status set_user(std::string_view text, std::string& user) {
  if (text.empty()) return wrong("the name of a user was expected");
  user = text;
  return Done{};
}

Status set_listener(std::string_view text, std::optional<Address>& listener) {
  if (text == "off") {
    listener.reset();
    return Done{};
  }
  Result<Address> address = parse_address(text);
  if (!address.ok()) return wrong(address.error().message + ", or `off`");
  listener = *std::move(address);
  return Done{};
}

Status set_store(std::string_view text, std::optional<StoreUrl>& store) {
  store.reset();
  if (text == "memory") return Done{};
  Result<StoreUrl> url = parse_store_url(text);
  if (!url.ok()) return wrong(url.error().message + ", or `memory`");
  store = *std::move(url);
  return Done{};
}

Status set_key_prefix(std::string_view text, std::string& prefix) {
  if (!is_key_prefix(text)) {
    return wrong("1 to " + std::to_string(kKeyPrefixBytesMax) + " letters, digits, `-`, `_`, `.` were expected");
  }
  prefix = text;
  return Done{};
}

Status set_allowed_hosts(std::string_view text, std::vector<std::string>& hosts) {
  hosts.clear();
  bool more = !text.empty();
  while (more) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string host(text.substr(0, comma));
    more = comma < text.size();
    text.remove_prefix(std::min(comma + 1, text.size()));
    const auto allowed = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
             std::string_view(".-_:[]").find(c) != std::string::npos;
    };
    std::transform(host.begin(), host.end(), host.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? char(c | 0x20) : c; });
    if (host.empty() || host.size() > kHostBytesMax || !std::all_of(host.begin(), host.end(), allowed)) {
      return wrong("host names with commas between them were expected, as in `limits.example.com,ratel`");
    }
    if (hosts.size() == kAllowedHostsMax) return wrong("at most " + std::to_string(kAllowedHostsMax) + " host names");
    hosts.push_back(std::move(host));
  }
  return Done{};
}

Status set_max_memory(std::string_view text, std::uint64_t& bytes) {
  const Result<std::uint64_t> size = parse_size(text);
  if (!size.ok()) return size.error();
  if (*size < kMemoryMin) return wrong("at least " + format_size(kMemoryMin) + " was expected");
  bytes = *size;
  return Done{};
}

constexpr std::array kTable{
    Setting{.name = "config",
            .value = "FILE",
            .standard = "none",
            .help = "settings and rules in one YAML file",
            .in_file = false,
            .set = [](Settings& s, std::string_view text) { return set_path(text, s.config); }},
    Setting{.name = "rules",
            .value = "FILE|DIR",
            .standard = "none",
            .help = "rules, or a folder of *.yaml",
            .is_path = true,
            .set = [](Settings& s, std::string_view text) { return set_path(text, s.rules); }},
    Setting{.name = "resp",
            .value = "ADDR|off",
            .standard = "127.0.0.1:6390",
            .help = "where to speak RESP: host:port, :port (loopback), unix:/path; port 0: any free one",
            .set = [](Settings& s, std::string_view text) { return set_listener(text, s.resp); }},
    Setting{.name = "http",
            .value = "ADDR|off",
            .standard = "127.0.0.1:8080",
            .help = "where to speak HTTP",
            .set = [](Settings& s, std::string_view text) { return set_listener(text, s.http); }},
    Setting{.name = "password_file",
            .value = "FILE",
            .standard = "none",
            .help = "holds the password that RESP's AUTH asks for",
            .is_path = true,
            .set = [](Settings& s, std::string_view text) { return set_path(text, s.password_file); }},
    Setting{.name = "token_file",
            .value = "FILE",
            .standard = "none",
            .help = "holds the bearer token that HTTP asks for",
            .is_path = true,
            .set = [](Settings& s, std::string_view text) { return set_path(text, s.token_file); }},
    Setting{.name = "insecure_listen",
            .value = "",
            .standard = "false",
            .help = "listen beyond loopback without a secret: whoever reaches the port may ask",
            .set = [](Settings& s,
                      std::string_view text) { return keep(parse_choice(text, kTrueOrFalse), s.insecure_listen); }},
    Setting{.name = "allowed_hosts",
            .value = "HOST,...",
            .standard = "none",
            .help = "Host names that HTTP answers to besides its own address and localhost",
            .set = [](Settings& s, std::string_view text) { return set_allowed_hosts(text, s.allowed_hosts); }},
    Setting{.name = "trusted_hops",
            .value = "N",
            .standard = "0",
            .help = "how many proxies in front append to X-Forwarded-For, for `key=ip` on /v1/auth",
            .set =
                [](Settings& s, std::string_view text) {
                  return keep(parse_whole_number(text, 0, kTrustedHopsMax), s.trusted_hops);
                }},
    Setting{.name = "store",
            .value = "memory|URL",
            .standard = "memory",
            .help = "where counts live: in this process, or redis://host:port and the like, shared by all who use it",
            .is_secret = true,
            .set = [](Settings& s, std::string_view text) { return set_store(text, s.store); }},
    Setting{.name = "store_password_file",
            .value = "FILE",
            .standard = "none",
            .help = "holds the password of the store's user",
            .is_path = true,
            .set = [](Settings& s, std::string_view text) { return set_path(text, s.store_password_file); }},
    Setting{.name = "store_sentinel_user",
            .value = "NAME",
            .standard = "the default user",
            .help = "who we are to sentinels that ask for it",
            .set = [](Settings& s, std::string_view text) { return set_user(text, s.store_sentinel_user); }},
    Setting{.name = "store_sentinel_password_file",
            .value = "FILE",
            .standard = "none",
            .help = "holds the password that sentinels ask for",
            .is_path = true,
            .set = [](Settings& s, std::string_view text) { return set_path(text, s.store_sentinel_password_file); }},
    Setting{.name = "store_ca_file",
            .value = "FILE",
            .standard = "the system's",
            .help = "PEM: who may vouch for a store with TLS (rediss://)",
            .is_path = true,
            .set = [](Settings& s, std::string_view text) { return set_path(text, s.store_tls.ca_file); }},
    Setting{.name = "store_cert_file",
            .value = "FILE",
            .standard = "none",
            .help = "PEM: our certificate, for a store that asks for one",
            .is_path = true,
            .set = [](Settings& s, std::string_view text) { return set_path(text, s.store_tls.cert_file); }},
    Setting{.name = "store_key_file",
            .value = "FILE",
            .standard = "none",
            .help = "PEM: the key of that certificate",
            .is_path = true,
            .set = [](Settings& s, std::string_view text) { return set_path(text, s.store_tls.key_file); }},
    Setting{.name = "store_server_name",
            .value = "NAME",
            .standard = "the host that is dialled",
            .help = "whose certificate the store has to show",
            .set = [](Settings& s, std::string_view text) { return set_name(text, s.store_tls.server_name); }},
    Setting{.name = "key_prefix",
            .value = "NAME",
            .standard = "ratel",
            .help = "what the names of counters in the store begin with; fleets with different ones do not meet",
            .set = [](Settings& s, std::string_view text) { return set_key_prefix(text, s.key_prefix); }},
    Setting{.name = "start_degraded",
            .value = "",
            .standard = "false",
            .help = "start also where the store gives no answer; the rules' failure modes answer until it does",
            .set = [](Settings& s,
                      std::string_view text) { return keep(parse_choice(text, kTrueOrFalse), s.start_degraded); }},
    Setting{
        .name = "on_store_failure",
        .value = "local|allow|deny",
        .standard = "local",
        .help = "who answers when the store cannot, for limits that come with the question",
        .set = [](Settings& s, std::string_view text) { return keep(parse_failure_mode(text), s.on_store_failure); }},
    Setting{.name = "max_memory",
            .value = "SIZE",
            .standard = "a quarter of what there is",
            .help = "what the counts may take, as in 512MiB; when full, those nearest to new go first",
            .set = [](Settings& s, std::string_view text) { return set_max_memory(text, s.max_memory); }},
    Setting{.name = "threads",
            .value = "N",
            .standard = "0, one a core",
            .help = "event loops",
            .set = [](Settings& s,
                      std::string_view text) { return keep(parse_whole_number(text, 0, kThreadsMax), s.threads); }},
    Setting{.name = "max_connections",
            .value = "N",
            .standard = "10000",
            .help = "over all listeners; who comes later is told and closed",
            .set =
                [](Settings& s, std::string_view text) {
                  return keep(parse_whole_number(text, 1, kConnectionsMax), s.max_connections);
                }},
    Setting{.name = "idle_timeout",
            .value = "TIME",
            .standard = "1h",
            .help = "closes a connection that asked nothing for so long; 0 never",
            .set = [](Settings& s, std::string_view text) { return keep(parse_duration(text), s.idle_timeout_us); }},
    Setting{
        .name = "log_level",
        .value = "debug|info|warning|error",
        .standard = "info",
        .help = "the least that is logged",
        .set = [](Settings& s, std::string_view text) { return keep(parse_choice(text, kLogLevels), s.log.level); }},
    Setting{
        .name = "log_format",
        .value = "logfmt|json",
        .standard = "logfmt",
        .help = "one line an event, on standard error",
        .set = [](Settings& s, std::string_view text) { return keep(parse_choice(text, kLogFormats), s.log.format); }},
};

}  // namespace

std::span<const Setting> settings_table() {
  return kTable;
}

std::string flag_of(const Setting& setting) {
  std::string flag = "--" + std::string(setting.name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::string variable_of(const Setting& setting) {
  std::string variable = "RATEL_" + std::string(setting.name);
  std::transform(variable.begin(), variable.end(), variable.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? char(c & ~0x20) : c; });
  return variable;
}

}  // namespace ratel
