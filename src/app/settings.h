#pragma once
// What a server was told: defaults, then the configuration file, then RATEL_... in the environment, then flags; the
// later wins. Made once before anything starts, immutable afterwards; any thread may read.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/address.h"
#include "base/micros.h"
#include "net/tls_client.h"
#include "observe/log.h"
#include "redis/store_url.h"
#include "rules/rule_book.h"

namespace ratel {

struct Settings {
  std::string config;  // path of the configuration file; empty: none
  std::string rules;   // path of a file or folder of rules, or `config` again where the rules stand in it; empty: none

  std::optional<Address> resp = Address{.host = "127.0.0.1", .port = 6390};  // empty: off
  std::optional<Address> http = Address{.host = "127.0.0.1", .port = 8080};
  std::string password_file;
  std::string password;  // of RESP's AUTH, read from password_file; empty: none is asked for
  std::string token_file;
  std::string token;  // of HTTP, read from token_file; empty: none is asked for
  bool insecure_listen = false;
  std::vector<std::string> allowed_hosts;  // Host names of HTTP beyond its own, in lower case
  int trusted_hops = 0;                    // proxies before ratel that append to X-Forwarded-For

  std::optional<StoreUrl> store;     // empty: counts live in this process
  std::string store_password_file;   // of `store`; takes the place of a password in its URL
  std::string store_sentinel_user;           // where `store` names sentinels that ask for one; empty: the default user
  std::string store_sentinel_password_file;
  std::string store_sentinel_password;  // read from it; empty: none
  TlsClientOptions store_tls;        // where its URL says so
  std::string key_prefix = "ratel";  // of the counters' names in it
  bool start_degraded = false;       // also where it gives no answer at the start

  FailureMode on_store_failure = FailureMode::kLocal;  // of questions without a rule
  std::uint64_t max_memory = 0;                        // bytes of the table; 0: a quarter of what the process may have

  int threads = 0;                    // event loops; 0: one a core
  int max_connections = 10'000;       // over all listeners
  Micros idle_timeout_us = kHour_us;  // of a connection between messages; 0: never
  Log::Options log;
};

/// One row of the table that flags, environment, configuration file, --help and docs/configuration.md are made of.
struct Setting {
  std::string_view name;      // as in the file; the flag is --max-memory, the variable RATEL_MAX_MEMORY
  std::string_view value;     // what --help says it takes; empty for what is on by being there
  std::string_view standard;  // the default, in words
  std::string_view help;
  bool in_file = true;
  bool is_path = false;
  bool is_secret = false;  // may hold a password, so errors do not repeat it
  /// The error says what would be right.
  Status (*set)(Settings& settings, std::string_view text) = nullptr;
};

std::span<const Setting> settings_table();
std::string flag_of(const Setting& setting);
std::string variable_of(const Setting& setting);

/// What was said where, still as text.
struct SettingsSources {
  std::vector<std::pair<std::string, std::string>> flags;  // a setting's name, and the value given
  std::vector<std::string> environment;                    // NAME=value, as the process has it
  /// A whole file, for the configuration and the secrets. The error is what keeps it from being read.
  std::function<Result<std::string>(const std::string& path)> read_file;
};

/// The settings in force. The error is one line for each mistake, naming the place, the value and what would be right.
Result<Settings> load_settings(const SettingsSources& sources);

inline constexpr std::size_t kSecretBytesMax = 1'024;

/// The secret in the text of a file: its first line, since editors end files with a newline. The error says what is
/// wrong with that line.
Result<std::string> secret_in(std::string_view text);
/// The same for a secret that a header of HTTP can carry.
Result<std::string> token_in(std::string_view text);

}  // namespace ratel
