#include "app/settings.h"

#include <gtest/gtest.h>

#include <map>

namespace ratel {
namespace {

struct Given {
  std::vector<std::pair<std::string, std::string>> flags;
  std::vector<std::string> environment;
  std::map<std::string, std::string> files;
};

Result<Settings> load(const Given& given) {
  return load_settings(
      {.flags = given.flags,
       .environment = given.environment,
       .read_file = [&](const std::string& path) -> Result<std::string> {
         const auto file = given.files.find(path);
         if (file != given.files.end()) return file->second;
         return Error{ErrorCode::kConfiguration, "cannot read " + path + ": No such file or directory"};
       }});
}

std::string error_of(const Given& given) {
  const Result<Settings> settings = load(given);
  return settings.ok() ? "no error" : settings.error().message;
}

TEST(Settings, DefaultsAreLoopbackAndMemory) {
  const Result<Settings> settings = load({});
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(format_address(*settings->resp), "127.0.0.1:6390");
  EXPECT_EQ(format_address(*settings->http), "127.0.0.1:8080");
  EXPECT_EQ(settings->rules, "");
  EXPECT_EQ(settings->threads, 0);
  EXPECT_EQ(settings->max_memory, 0U);
  EXPECT_EQ(settings->idle_timeout_us, kHour_us);
  EXPECT_EQ(settings->password, "");
  EXPECT_FALSE(settings->insecure_listen);
}

TEST(Settings, EveryOneCanBeSetInEveryWay) {
  struct Case {
    std::string_view name;
    std::string_view value;
    bool (*is_set)(const Settings& settings);
  };
  const Case cases[] = {
      {"rules", "r.d", [](const Settings& s) { return s.rules == "r.d"; }},
      {"resp", ":1", [](const Settings& s) { return s.resp->port == 1; }},
      {"http", "off", [](const Settings& s) { return !s.http; }},
      {"password_file", "pw", [](const Settings& s) { return s.password == "sesame"; }},
      {"token_file", "tk", [](const Settings& s) { return s.token == "open"; }},
      {"insecure_listen", "true", [](const Settings& s) { return s.insecure_listen; }},
      {"allowed_hosts", "A.example,b:80",
       [](const Settings& s) {
         return s.allowed_hosts == std::vector<std::string>{"a.example", "b:80"};
       }},
      {"trusted_hops", "2", [](const Settings& s) { return s.trusted_hops == 2; }},
      {"store", "redis://cache:6380/2",
       [](const Settings& s) { return s.store->hosts.front().host == "cache" && s.store->database == 2; }},
      {"store_password_file", "pw", [](const Settings& s) { return s.store_password_file == "pw"; }},
      {"store_sentinel_user", "watcher", [](const Settings& s) { return s.store_sentinel_user == "watcher"; }},
      {"store_sentinel_password_file", "pw", [](const Settings& s) { return s.store_sentinel_password == "sesame"; }},
      {"store_ca_file", "ca", [](const Settings& s) { return s.store_tls.ca_file == "ca"; }},
      {"store_cert_file", "crt", [](const Settings& s) { return s.store_tls.cert_file == "crt"; }},
      {"store_key_file", "key", [](const Settings& s) { return s.store_tls.key_file == "key"; }},
      {"store_server_name", "cache.example",
       [](const Settings& s) { return s.store_tls.server_name == "cache.example"; }},
      {"key_prefix", "shop", [](const Settings& s) { return s.key_prefix == "shop"; }},
      {"start_degraded", "true", [](const Settings& s) { return s.start_degraded; }},
      {"on_store_failure", "deny", [](const Settings& s) { return s.on_store_failure == FailureMode::kDeny; }},
      {"max_memory", "2GiB", [](const Settings& s) { return s.max_memory == std::uint64_t{2} << 30; }},
      {"threads", "3", [](const Settings& s) { return s.threads == 3; }},
      {"max_connections", "7", [](const Settings& s) { return s.max_connections == 7; }},
      {"idle_timeout", "90s", [](const Settings& s) { return s.idle_timeout_us == 90 * kSecond_us; }},
      {"log_level", "debug", [](const Settings& s) { return s.log.level == LogLevel::kDebug; }},
      {"log_format", "json", [](const Settings& s) { return s.log.format == LogFormat::kJson; }},
  };
  ASSERT_EQ(std::size(cases) + 1, settings_table().size()) << "a setting without a case (config is below)";
  for (const Case& c : cases) {
    const std::string name(c.name);
    const std::string value(c.value);
    std::string variable = "RATEL_" + name;
    for (char& letter : variable) letter = static_cast<char>(std::toupper(letter));
    const std::map<std::string, std::string> files{
        {"pw", "sesame\n"}, {"tk", "open\r\nsecond line"}, {"c.yaml", name + ": " + value + "\n"}};
    Given ways[] = {{.flags = {{name, value}}, .files = files},
                    {.environment = {variable + "=" + value}, .files = files},
                    {.flags = {{"config", "c.yaml"}}, .files = files}};
    for (Given& way : ways) {
      // What some say nothing without.
      const bool of_sentinels = name.starts_with("store_sentinel_");
      if (of_sentinels) way.environment.push_back("RATEL_STORE=redis-sentinel://cache/main");
      if (name == "store_sentinel_user") way.environment.push_back("RATEL_STORE_SENTINEL_PASSWORD_FILE=pw");
      if (name.starts_with("store_") && !of_sentinels) way.environment.push_back("RATEL_STORE=rediss://cache");
      if (name == "store_cert_file") way.environment.push_back("RATEL_STORE_KEY_FILE=k");
      if (name == "store_key_file") way.environment.push_back("RATEL_STORE_CERT_FILE=c");
      const Result<Settings> settings = load(way);
      ASSERT_TRUE(settings.ok()) << name << ": " << settings.error().message;
      EXPECT_TRUE(c.is_set(*settings)) << name;
    }
  }
}

TEST(Settings, TheLaterWayWins) {
  const std::map<std::string, std::string> files{{"c.yaml", "threads: 1\nrules: { a: { limit: 1/s } }\n"}};
  struct Case {
    Given given;
    int threads;
    std::string_view rules;
  };
  const Case cases[] = {
      {{.flags = {{"config", "c.yaml"}}, .files = files}, 1, "c.yaml"},
      {{.environment = {"RATEL_CONFIG=c.yaml"}, .files = files}, 1, "c.yaml"},
      {{.flags = {{"config", "c.yaml"}}, .environment = {"RATEL_THREADS=2", "RATEL_RULES=e"}, .files = files}, 2, "e"},
      {{.flags = {{"threads", "3"}, {"config", "c.yaml"}, {"rules", "f"}},
        .environment = {"RATEL_THREADS=2", "RATEL_CONFIG=not-there", "RATEL_RULES=e"},
        .files = files},
       3,
       "f"},
      {{.flags = {{"config", "d.yaml"}}, .files = {{"d.yaml", "rules: some/where"}}}, 0, "some/where"},
      {{.flags = {{"config", "d.yaml"}}, .files = {{"d.yaml", "# nothing yet\n"}}}, 0, ""},
  };
  for (const Case& c : cases) {
    const Result<Settings> settings = load(c.given);
    ASSERT_TRUE(settings.ok()) << settings.error().message;
    EXPECT_EQ(settings->threads, c.threads);
    EXPECT_EQ(settings->rules, c.rules);
  }
}

TEST(Settings, PathsInTheFileAreRelativeToIt) {
  const std::map<std::string, std::string> files{{"sub/c", "rules: r.d\npassword_file: pw\ntoken_file: /t\n"},
                                                 {"sub/pw", "from sub"},
                                                 {"pw", "from here"},
                                                 {"/etc/c", "rules: ../r.d\n"},
                                                 {"here", "rules: r.d\npassword_file: ./pw\n"},
                                                 {"./pw", "from ./"},
                                                 {"/t", "t"}};
  struct Case {
    Given given;
    std::string_view rules;
    std::string_view password;
  };
  const Case cases[] = {
      {{.flags = {{"config", "sub/c"}}, .files = files}, "sub/r.d", "from sub"},
      {{.flags = {{"config", "/etc/c"}}, .files = files}, "/etc/../r.d", ""},
      {{.flags = {{"config", "here"}}, .files = files}, "r.d", "from ./"},
      {{.flags = {{"config", "sub/c"}, {"rules", "f"}, {"password_file", "pw"}}, .files = files}, "f", "from here"},
      {{.flags = {{"config", "sub/c"}}, .environment = {"RATEL_RULES=e"}, .files = files}, "e", "from sub"},
  };
  for (const Case& c : cases) {
    const Result<Settings> settings = load(c.given);
    ASSERT_TRUE(settings.ok()) << settings.error().message;
    EXPECT_EQ(settings->rules, c.rules);
    EXPECT_EQ(settings->password, c.password);
  }
  EXPECT_EQ(error_of({.flags = {{"config", "sub/c"}}, .files = {{"sub/c", "rules: ''\n"}}}),
            "sub/c:1:8: setting `rules`: value ``: a path was expected");
}

TEST(Settings, AListOfHostsMayBeAList) {
  const Result<Settings> settings =
      load({.flags = {{"config", "c"}}, .files = {{"c", "allowed_hosts:\n  - a.example\n  - b.example\n"}}});
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  EXPECT_EQ(settings->allowed_hosts, (std::vector<std::string>{"a.example", "b.example"}));
}

TEST(Settings, BeyondLoopbackAsksForASecretOrAClearWord) {
  struct Case {
    Given given;
    std::string_view error;
  };
  const std::map<std::string, std::string> files{{"s", "secret\n"}};
  const Case cases[] = {
      {{.flags = {{"resp", "0.0.0.0:1"}}},
       "--resp: value `0.0.0.0:1`: other machines can reach this address: set --password-file, or --insecure-listen if "
       "anybody may ask"},
      {{.flags = {{"http", "[::]:1"}, {"password_file", "s"}}, .files = files},
       "--http: value `[::]:1`: other machines can reach this address: set --token-file, or --insecure-listen if "
       "anybody "
       "may ask"},
      {{.flags = {{"resp", "0.0.0.0:1"}, {"password_file", "s"}}, .files = files}, "no error"},
      {{.flags = {{"http", "0.0.0.0:1"}, {"token_file", "s"}}, .files = files}, "no error"},
      {{.flags = {{"http", "0.0.0.0:1"}, {"resp", "host:1"}, {"insecure_listen", "true"}}}, "no error"},
      {{.flags = {{"http", "0.0.0.0:1"}, {"insecure_listen", "false"}}},
       "--http: value `0.0.0.0:1`: other machines can reach this address: set --token-file, or --insecure-listen if "
       "anybody may ask"},
      {{.flags = {{"resp", "unix:/run/r"}, {"http", "localhost:1"}}}, "no error"},
      {{.flags = {{"resp", "off"}, {"http", "off"}}}, "nothing to listen on: --resp and --http are both off"},
  };
  for (const Case& c : cases) EXPECT_EQ(error_of(c.given), c.error);
}

TEST(Settings, SaysWhereWhatAndWhatWouldBeRight) {
  struct Case {
    Given given;
    std::string_view error;
  };
  const auto flag = [](std::string name, std::string value) { return Given{.flags = {{name, value}}}; };
  const auto file = [](std::string text) { return Given{.flags = {{"config", "c"}}, .files = {{"c", text}}}; };
  const auto secret = [](std::string text) { return Given{.flags = {{"password_file", "s"}}, .files = {{"s", text}}}; };
  const auto token = [](std::string text) { return Given{.flags = {{"token_file", "s"}}, .files = {{"s", text}}}; };
  constexpr std::string_view kMark =
      "--password-file: s: it begins with a byte order mark: save it as plain UTF-8 without one";
  constexpr std::string_view kNoToken =
      "--token-file: s: its first line has a blank or another byte that is no printable ASCII, which no client could "
      "send";
  const Case cases[] = {
      {flag("threads", "-1"), "--threads: value `-1`: a whole number from 0 to 256"},
      {flag("threads", "257"), "--threads: value `257`: a whole number from 0 to 256"},
      {flag("trusted_hops", "17"), "--trusted-hops: value `17`: a whole number from 0 to 16"},
      {flag("max_connections", "0"), "--max-connections: value `0`: a whole number from 1 to 1000000"},
      {flag("store", "redis://:hunter2@cache:0"),
       "--store: value `***`: store: host `cache:0`: a port is a number from 1 to 65535, or `memory`"},
      {flag("store", "paper://here"),
       "--store: value `***`: store: scheme `paper`: redis, rediss, redis-sentinel, redis-cluster or redis+unix was "
       "expected, or `memory`"},
      {flag("store_password_file", "pw"), "--store-password-file says nothing without a --store with a URL"},
      {{.flags = {{"store", "redis://cache"}, {"store_sentinel_password_file", "s"}}, .files = {{"s", "x"}}},
       "--store-sentinel-password-file says nothing without a --store with sentinels (redis-sentinel://)"},
      {{.flags = {{"store", "redis-sentinel://a/main"}, {"store_sentinel_user", "u"}}},
       "--store-sentinel-user says nothing without --store-sentinel-password-file"},
      {{.flags = {{"store", "redis://cache"}, {"store_ca_file", "ca"}}},
       "--store-ca-file says nothing without a --store with TLS (rediss://)"},
      {{.flags = {{"store", "rediss://cache"}, {"store_key_file", "key"}}},
       "--store-cert-file and --store-key-file belong together"},
      {flag("key_prefix", "a:b"), "--key-prefix: value `a:b`: 1 to 32 letters, digits, `-`, `_`, `.` were expected"},
      {flag("max_memory", "12 parsecs"),
       "--max-memory: value `12 parsecs`: a size is a whole number and a unit (B, KiB, "
       "MiB, GiB or TiB), as in `512MiB`"},
      {flag("max_memory", "1023KiB"), "--max-memory: value `1023KiB`: at least 1MiB was expected"},
      {flag("idle_timeout", "5"),
       "--idle-timeout: value `5`: a duration is a whole number and a unit (us, ms, s, m, h or "
       "d), as in `50ms`"},
      {flag("resp", "6390"),
       "--resp: value `6390`: an address is host:port, :port (loopback), [IPv6]:port or unix:/path, "
       "as in `127.0.0.1:6390`, or `off`"},
      {flag("rules", ""), "--rules: value ``: a path was expected"},
      {flag("allowed_hosts", "a,,b"),
       "--allowed-hosts: value `a,,b`: host names with commas between them were expected, "
       "as in `limits.example.com,ratel`"},
      {flag("allowed_hosts", "a,"),
       "--allowed-hosts: value `a,`: host names with commas between them were expected, "
       "as in `limits.example.com,ratel`"},
      {file("allowed_hosts: [[a], b]\n"), "c:1:17: setting `allowed_hosts`: value a list: a host name was expected"},
      {file("allowed_hosts: [a, {x: y}]\n"), "c:1:20: setting `allowed_hosts`: value a map: a host name was expected"},
      {file("allowed_hosts: ['a,']\n"), "c:1:17: setting `allowed_hosts`: value `a,`: a host name was expected"},
      {file("allowed_hosts: {x: y}\n"), "c:1:16: setting `allowed_hosts`: value a map: one value was expected"},
      {flag("allowed_hosts", "http://a"),
       "--allowed-hosts: value `http://a`: host names with commas between them were "
       "expected, as in `limits.example.com,ratel`"},
      {flag("log_level", "loud"), "--log-level: value `loud`: one of `debug`, `info`, `warning`, `error`"},
      {flag("log_format", "xml"), "--log-format: value `xml`: one of `logfmt`, `json`"},
      {flag("on_store_failure", "open"), "--on-store-failure: value `open`: one of `local`, `allow`, `deny`"},
      {flag("insecure_listen", "yes"), "--insecure-listen: value `yes`: one of `true`, `false`"},
      {flag("config", "none.yaml"), "cannot read none.yaml: No such file or directory"},
      {flag("token_file", "none"), "--token-file: cannot read none: No such file or directory"},
      {secret("\nsesame"), "--password-file: s: its first line is empty"},
      {secret(std::string(kSecretBytesMax, 'x')), "no error"},
      {secret(std::string(kSecretBytesMax + 1, 'x')), "--password-file: s: its first line has more than 1024 bytes"},
      {secret(" any \x01 bytes \xFF "), "no error"},
      {secret("\xEF\xBB\xBFsesame"), kMark},
      {secret("\xFF\xFEs"), kMark},
      {secret("\xFE\xFFs"), kMark},
      {token("!all~of^it\n second"), "no error"},
      {token(" open"), kNoToken},
      {token("open \n"), kNoToken},
      {token("two words"), kNoToken},
      {token("open\t"), kNoToken},
      {token("\x7Fopen"), kNoToken},
      {token("\xC3\xB6"), kNoToken},
      {token("\xEF\xBB\xBFopen"),
       "--token-file: s: it begins with a byte order mark: save it as plain UTF-8 without one"},
      {token("\n"), "--token-file: s: its first line is empty"},
      {{.environment = {"RATEL_THREADS=many"}}, "RATEL_THREADS: value `many`: a whole number from 0 to 256"},
      {{.environment = {"RATEL_THREDS=2"}}, "RATEL_THREDS: no such setting; did you mean `RATEL_THREADS`?"},
      {{.environment = {"RATEL_PORT=tcp://10.0.0.1:6390", "RATEL_SERVICE_HOST=10.0.0.1", "RATEL_PORT_6390_TCP=x",
                        "RATEL_", "THREADS=many", "ratel_threads=many"}},
       "no error"},
      {file("threads: many\n"), "c:1:10: setting `threads`: value `many`: a whole number from 0 to 256"},
      {file("threads:\n"), "c:1:1: setting `threads`: value nothing: a whole number from 0 to 256"},
      {file("resp: off\nthreds: 2\n"), "c:2:1: unknown setting `threds`: did you mean `threads`?"},
      {file("config: x\n"),
       "c:1:1: unknown setting `config`: known are `rules`, `resp`, `http`, `password_file`, `token_file`, "
       "`insecure_listen`, `allowed_hosts`, `trusted_hops`, `store`, `store_password_file`, "
       "`store_sentinel_user`, `store_sentinel_password_file`, `store_ca_file`, `store_cert_file`, `store_key_file`, "
       "`store_server_name`, `key_prefix`, `start_degraded`, `on_store_failure`, `max_memory`, `threads`, "
       "`max_connections`, `idle_timeout`, `log_level`, `log_format`"},
      {file("- threads\n"), "c:1:1: a list where settings were expected, as in `threads: 2`"},
      {file("threads: [1]\n"), "c:1:10: setting `threads`: value a list: one value was expected"},
      {file("threads: 1\nthreads: 2\n"), "c:2:1: `threads` is already at line 1: write it once"},
      {file("threads: x\nresp: y\n"),
       "c:1:10: setting `threads`: value `x`: a whole number from 0 to 256\n"
       "c:2:7: setting `resp`: value `y`: an address is host:port, :port (loopback), [IPv6]:port or unix:/path, as in "
       "`127.0.0.1:6390`, or `off`"},
  };
  for (const Case& c : cases) EXPECT_EQ(error_of(c.given), c.error);
}

TEST(Settings, AtMostAHundredHosts) {
  std::string hosts = "h";
  for (int i = 1; i < 100; ++i) hosts += ",h";
  EXPECT_EQ(error_of({.flags = {{"allowed_hosts", hosts}}}), "no error");
  EXPECT_TRUE(error_of({.flags = {{"allowed_hosts", hosts + ",h"}}}).ends_with("at most 100 host names"));
}

}  // namespace
}  // namespace ratel
