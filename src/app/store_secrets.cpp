// Tested by tests/test_store_faults.py

#include "app/store_secrets.h"

#include "app/files.h"
#include "rules/yaml.h"

namespace ratel {
namespace {

/// The secret in a file, or what it was before.
std::string again(const std::string& path, const std::string& before, Log& log) {
  if (path.empty()) return before;
  const Result<std::string> text = read_text_file(path, kYamlBytesMax);
  const Result<std::string> secret = text.ok() ? secret_in(*text) : text.error();
  if (secret.ok()) return *secret;
  log.warning("cannot read the store's password again", {{"file", path}, {"error", secret.error().message}});
  return before;
}

}  // namespace

void StoreSecrets::tick(RedisStore& store, Log& log) {
  if (store.password_refusals() == refusals_) return;
  refusals_ = store.password_refusals();
  store.use_passwords(again(settings_.store_password_file, settings_.store->password, log),
                      again(settings_.store_sentinel_password_file, settings_.store_sentinel_password, log));
}

}  // namespace ratel
