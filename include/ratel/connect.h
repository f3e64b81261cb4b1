#pragma once
// Limits whose counts are shared with other processes and machines, in a Redis or Valkey.
//
//   auto limiter = ratel::connect("redis://10.0.0.7:6379");
//   if (!limiter.ok()) return complain(limiter.error().message);
//   auto login = limiter->limit("5/min burst 10", {.name = "login"});
//
// What it gives is a Limiter like any other, and its calls wait for the store, for at most LimitOptions::deadline. When
// there is no answer by then, because the store is slow, dead or wrong, the limit's `on_store_failure` answers, and
// Decision::source says so. A store that is known not to answer is not waited for.
//
// Each call of connect() makes connections of its own and a thread, and counts as a process of those that share a limit
// out while the store is away (FailureMode::kLocal); one for a program is enough. The thread takes no signals.
//
// Any thread may ask; where 16,384 wait at once, or some 2,000 for one server, one more is answered without the store.
//
// fork(): a child has no such thread. There its parent's limiter answers with ErrorCode::kUnavailable, and may be
// destroyed; whoever forks workers lets each connect for itself.
//
// The last of a Limiter's copies and limits to go ends the thread and closes the connections. Where units were admitted
// without the store and are not charged to it yet, it waits for that, for at most 2 s; Limiter::settle() does so, too,
// and says what remains.

#include <string_view>

#include "ratel/limiter.h"

namespace ratel {

struct StoreOptions {
  /// Takes the place of a password in the URL, and needs no escaping.
  std::string_view password = {};
  /// Paths of PEM files, for URLs with TLS: whom to trust (empty: whom the system trusts), and our own certificate with
  /// its key, both or neither.
  std::string_view ca_file = {};
  std::string_view cert_file = {};
  std::string_view key_file = {};
  /// Whom the server's certificate is for, where that is not the host in the URL.
  std::string_view server_name = {};
  /// Programs with the same prefix share counts, and so does a `ratel serve` with this key_prefix. 1 to 32 letters,
  /// digits, `-`, `_`, `.`.
  std::string_view key_prefix = "ratel";
  /// Whether to give a Limiter also where the store does not decide yet: a wrong password then is an outage.
  bool start_degraded = false;
};

/// `url` is as `ratel serve --store` takes it: `redis://[user[:password]@]host[:port][/database]`, `rediss://` with
/// TLS, `redis-sentinel://host:port,…/name`, `redis-cluster://host:port,…`, `redis+unix:///path`; `valkey` for `redis`
/// in each. Asks the store one real question before it returns, which takes at most some 2 s and mostly a millisecond.
///
/// Errors: kBadArgument for the URL or an option, by name, never with a password; kConfiguration where the store does
/// not decide, in words that say what to change, or where a file cannot be used.
Result<Limiter> connect(std::string_view url, const StoreOptions& options = {});

}  // namespace ratel
