#include "ratel/connect.h"

#include <utility>

#include "lib/limiter_core.h"
#include "lib/remote_backend.h"
#include "redis/key_name.h"
#include "redis/store_url.h"

namespace ratel {
namespace {

Error bad(std::string message) {
  return {ErrorCode::kBadArgument, std::move(message)};
}

Status check_tls(const StoreOptions& options, const StoreUrl& url) {
  const std::pair<const char*, std::string_view> given[] = {{"ca_file", options.ca_file},
                                                            {"cert_file", options.cert_file},
                                                            {"key_file", options.key_file},
                                                            {"server_name", options.server_name}};
  for (const auto& [name, value] : given) {
    if (!value.empty() && !url.tls) return bad(std::string(name) + ": says nothing without rediss:// or the like");
  }
  if (options.cert_file.empty() != options.key_file.empty()) return bad("cert_file and key_file belong together");
  return Done{};
}

}  // namespace

Result<Limiter> connect(std::string_view url, const StoreOptions& options) {
  Result<StoreUrl> store = parse_store_url(url);
  if (!store.ok()) return bad(store.error().message);
  if (!options.password.empty()) store->password = options.password;
  if (Status status = check_tls(options, *store); !status.ok()) return status.error();
  if (!is_key_prefix(options.key_prefix)) {
    return bad("key_prefix: '" + std::string(options.key_prefix) + "': 1 to " + std::to_string(kKeyPrefixBytesMax) +
               " letters, digits, `-`, `_`, `.` were expected");
  }
  auto backend = RemoteBackend::make({.url = *std::move(store),
                                      .tls = {.ca_file = std::string(options.ca_file),
                                              .cert_file = std::string(options.cert_file),
                                              .key_file = std::string(options.key_file),
                                              .server_name = std::string(options.server_name)},
                                      .key_prefix = std::string(options.key_prefix)},
                                     options.start_degraded);
  if (!backend.ok()) return backend.error();
  return Limiter(std::make_shared<Limiter::Core>(*std::move(backend)));
}

}  // namespace ratel
