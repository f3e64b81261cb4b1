#pragma once
// What a server was told: defaults, then the configuration file, then RATEL_... in the environment, then flags; the
// later wins. Made once before anything starts, immutable afterwards; any thread may read.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/micros.h"
#include "observe/log.h"
#include "rules/rule_book.h"

namespace ratel {

struct Settings {
  std::string config;  // path of the configuration file; empty: none
  std::string rules;   // path of a file or folder of rules, or `config` again where the rules stand in it; empty: none

  std::optional<Address> resp = Address{.host = "127.0.0.1", .port = 6390};  // empty: off
  std::optional<Address> http = Address{.host = "127.0.0.1", .port = 8080};
  std::string password;  // of RESP's AUTH, read from password_file; empty: none is asked for
  std::string token;     // of HTTP, read from token_file; empty: none is asked for
  bool insecure_listen = false;
  std::vector<std::string> allowed_hosts;  // Host names of HTTP beyond its own
  int trusted_hops = 0;                    // proxies that append to X-Forwarded-For before ratel

  std::string store = "memory";
  FailureMode on_store_failure = FailureMode::kLocal;  // of questions without a rule
  std::uint64_t max_memory = 0;                        // bytes of the table; 0: a quarter of what the process may have

  int threads = 0;                    // event loops; 0: one a core
  int max_connections = 10'000;       // over all listeners
  Micros idle_timeout_us = kHour_us;  // of a connection between messages; 0: never
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kLogfmt;
};

}  // namespace ratel
