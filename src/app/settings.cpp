#include "app/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "rules/errors.h"
#include "rules/yaml.h"

namespace ratel {
namespace {

constexpr std::string_view kVariablePrefix = "RATEL_";

const Setting* find(std::string_view name) {
  const auto table = settings_table();
  const auto found = std::find_if(table.begin(), table.end(), [&](const Setting& s) { return s.name == name; });
  return found == table.end() ? nullptr : &*found;
}

/// What a path written in a file means: from there, wherever the server was started.
std::string beside(const std::string& file, const std::string& path) {
  if (path.empty() || path.starts_with('/')) return path;
  return file.substr(0, file.rfind('/') + 1) + path;
}

/// Applies one source after the other, least first.
class Loader {
 public:
  explicit Loader(const SettingsSources& sources) : sources_(sources) {}

  Result<Settings> load() {
    // Where the file is can only be said in the environment or by a flag.
    read_environment(true);
    read_flags(true);
    if (!settings_.config.empty()) read_file();
    read_environment(false);
    read_flags(false);
    read_secret(settings_.password_file, "password_file", secret_in, settings_.password);
    read_secret(settings_.token_file, "token_file", token_in, settings_.token);
    if (settings_.store) {
      read_secret(settings_.store_password_file, "store_password_file", secret_in, settings_.store->password);
      read_secret(settings_.store_sentinel_password_file, "store_sentinel_password_file", secret_in,
                  settings_.store_sentinel_password);
    }
    if (errors_.empty()) check_together();
    if (!errors_.empty()) return errors_.error();
    return std::move(settings_);
  }

 private:
  void set(const Setting& setting, std::string_view value, std::string_view where) {
    const Status status = setting.set(settings_, value);
    if (!status.ok())
      errors_.add(
          fmt::format("{}: value {}: {}", where, setting.is_secret ? "`***`" : quote(value), status.error().message));
  }

  void read_flags(bool config_only) {
    for (const auto& [name, value] : sources_.flags) {
      const Setting* setting = find(name);
      if (setting != nullptr && (name == "config") == config_only) set(*setting, value, flag_of(*setting));
    }
  }

  void read_environment(bool config_only) {
    for (const std::string& entry : sources_.environment) {
      const std::size_t equals = entry.find('=');
      if (!entry.starts_with(kVariablePrefix) || equals == std::string::npos) continue;
      const std::string_view variable = std::string_view(entry).substr(0, equals);
      const std::string_view value = std::string_view(entry).substr(equals + 1);
      const Setting* known = nullptr;
      std::string near;
      Nearest nearest(variable.substr(kVariablePrefix.size()));
      for (const Setting& setting : settings_table()) {
        const std::string candidate = variable_of(setting);
        if (candidate == variable) known = &setting;
        if (nearest.consider(std::string_view(candidate).substr(kVariablePrefix.size()))) near = candidate;
      }
      if (known != nullptr) {
        if ((known->name == "config") == config_only) set(*known, value, variable);
      } else if (config_only && !near.empty()) {
        // Others put variables of this prefix there too (Kubernetes, for a service called ratel), so only what was most
        // likely meant for us is judged.
        errors_.add(fmt::format("{}: no such setting; did you mean `{}`?", variable, near));
      }
    }
  }

  void read_file() {
    const std::string& file = settings_.config;
    const Result<std::string> text = sources_.read_file(file);
    if (!text.ok()) return errors_.add(text.error().message);
    ErrorList syntax;
    const YamlNode root = parse_yaml(*text, file, syntax);
    if (!syntax.empty()) return errors_.add(syntax.error().message);
    if (root.is_nothing()) return;
    if (!root.is_map()) {
      return errors_.add(file, root.place,
                         fmt::format("{} where settings were expected, as in `threads: 2`", describe(root)));
    }
    for (const YamlEntry& entry : root.entries) read_entry(file, entry);
  }

  void read_entry(const std::string& file, const YamlEntry& entry) {
    const Setting* setting = find(entry.key);
    if (setting == nullptr || !setting->in_file) {
      std::vector<std::string_view> names;
      for (const Setting& known : settings_table()) {
        if (known.in_file) names.push_back(known.name);
      }
      return errors_.add(file, entry.place,
                         fmt::format("unknown setting {}: {}", quote(entry.key), suggest(entry.key, names)));
    }
    if (setting->name == "rules" && entry.value.is_map()) {
      settings_.rules = file;
      return;
    }
    std::string value = setting->is_path ? beside(file, entry.value.text) : entry.value.text;
    if (setting->name == "allowed_hosts") {
      for (const YamlNode& item : entry.value.items) {
        if (item.is_text() && !item.text.empty() && item.text.find(',') == std::string::npos) continue;
        return errors_.add(file, item.place,
                           fmt::format("setting `{}`: value {}: a host name was expected", entry.key, describe(item)));
      }
    }
    for (const YamlNode& item : entry.value.items) value += (value.empty() ? "" : ",") + item.text;
    const bool listed = entry.value.is_list() && setting->name == "allowed_hosts";
    const Status status = setting->set(settings_, value);
    if (status.ok() && (entry.value.is_text() || listed)) return;
    errors_.add(file, entry.value.place,
                fmt::format("setting `{}`: value {}: {}", entry.key,
                            setting->is_secret && entry.value.is_text() ? "`***`" : describe(entry.value),
                            status.ok() ? "one value was expected" : status.error().message));
  }

  void read_secret(const std::string& path, std::string_view name, Result<std::string> (*in)(std::string_view text),
                   std::string& secret) {
    if (path.empty()) return;
    const std::string flag = flag_of(*find(name));
    const Result<std::string> text = sources_.read_file(path);
    if (!text.ok()) return errors_.add(fmt::format("{}: {}", flag, text.error().message));
    const Result<std::string> found = in(*text);
    if (!found.ok()) return errors_.add(fmt::format("{}: {}: {}", flag, path, found.error().message));
    secret = *found;
  }

  void check_together() {
    if (!settings_.resp && !settings_.http) errors_.add("nothing to listen on: --resp and --http are both off");
    check_store();
    check_listener("resp", settings_.resp, settings_.password, "--password-file");
    check_listener("http", settings_.http, settings_.token, "--token-file");
  }

  /// What is said of a store that there is none of, or in vain, was most likely meant to have an effect.
  void check_store() {
    const auto needs = [this](std::string_view name, bool given, bool has, std::string_view what) {
      if (given && !has) errors_.add(fmt::format("{} says nothing without {}", flag_of(*find(name)), what));
    };
    const bool has_store = settings_.store.has_value();
    const bool has_tls = has_store && settings_.store->tls;
    constexpr std::string_view kTls = "a --store with TLS (rediss://)";
    needs("store_password_file", !settings_.store_password_file.empty(), has_store, "a --store with a URL");
    const bool has_sentinels = has_store && settings_.store->topology == StoreUrl::Topology::kSentinel;
    constexpr std::string_view kSentinels = "a --store with sentinels (redis-sentinel://)";
    needs("store_sentinel_user", !settings_.store_sentinel_user.empty(), has_sentinels, kSentinels);
    needs("store_sentinel_password_file", !settings_.store_sentinel_password_file.empty(), has_sentinels, kSentinels);
    if (!settings_.store_sentinel_user.empty() && settings_.store_sentinel_password_file.empty()) {
      errors_.add("--store-sentinel-user says nothing without --store-sentinel-password-file");
    }
    needs("store_ca_file", !settings_.store_tls.ca_file.empty(), has_tls, kTls);
    needs("store_cert_file", !settings_.store_tls.cert_file.empty(), has_tls, kTls);
    needs("store_key_file", !settings_.store_tls.key_file.empty(), has_tls, kTls);
    needs("store_server_name", !settings_.store_tls.server_name.empty(), has_tls, kTls);
    if (settings_.store_tls.cert_file.empty() != settings_.store_tls.key_file.empty()) {
      errors_.add("--store-cert-file and --store-key-file belong together");
    }
  }

  void check_listener(std::string_view name, const std::optional<Address>& listener, const std::string& secret,
                      std::string_view secret_flag) {
    if (!listener || is_loopback(*listener) || !secret.empty() || settings_.insecure_listen) return;
    errors_.add(
        fmt::format("--{}: value `{}`: other machines can reach this address: set {}, or --insecure-listen if "
                    "anybody may ask",
                    name, format_address(*listener), secret_flag));
  }

  const SettingsSources& sources_;
  Settings settings_;
  ErrorList errors_;
};

}  // namespace

Result<std::string> secret_in(std::string_view text) {
  const std::string_view secret = text.substr(0, text.find_first_of("\r\n"));
  if (secret.empty()) return Error{ErrorCode::kConfiguration, "its first line is empty"};
  // Editors write it unasked and show it to nobody, and no client sends it.
  for (const std::string_view mark : {"\xEF\xBB\xBF", "\xFF\xFE", "\xFE\xFF"}) {
    if (secret.starts_with(mark)) {
      return Error{ErrorCode::kConfiguration, "it begins with a byte order mark: save it as plain UTF-8 without one"};
    }
  }
  if (secret.size() > kSecretBytesMax) {
    return Error{ErrorCode::kConfiguration, fmt::format("its first line has more than {} bytes", kSecretBytesMax)};
  }
  return std::string(secret);
}

Result<std::string> token_in(std::string_view text) {
  Result<std::string> token = secret_in(text);
  if (!token.ok()) return token;
  if (!std::all_of(token->begin(), token->end(), [](char c) { return c >= '!' && c <= '~'; })) {
    return Error{ErrorCode::kConfiguration,
                 "its first line has a blank or another byte that is no printable ASCII, which no client could send"};
  }
  return token;
}

Result<Settings> load_settings(const SettingsSources& sources) {
  return Loader(sources).load();
}

}  // namespace ratel
