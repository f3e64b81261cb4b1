// A store on real sockets, against a real server.

#include "net/store_loop.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/prng.h"
#include "net/slow_names_testing.h"
#include "net/system_clock.h"
#include "redis/redis_server_testing.h"

namespace ratel {
namespace {

using testing::HasSubstr;

/// One loop with a store, and its answers in order.
struct Rig {
  explicit Rig(const std::string& url, const TlsClient* tls = nullptr) {
    ::signal(SIGPIPE, SIG_IGN);
    const Result<StoreUrl> where = parse_store_url(url);
    EXPECT_TRUE(where.ok()) << where.error().message;
    store = std::make_unique<StoreLoop>(loop, clock, resolver, tls, RedisStore::Options{.url = *where}, prng);
  }

  /// Whether it comes to be before a limit that no machine is that slow for.
  template <typename Condition>
  bool turn_until(Condition condition) {
    const Micros limit_us = clock.now().monotonic_us + 20 * kSecond_us;
    while (!condition()) {
      if (clock.now().monotonic_us > limit_us) return false;
      loop.turn();
    }
    return true;
  }
  bool connect() {
    return turn_until([&] { return store->store().is_whole(); });
  }

  /// Of `5/min burst 5`, with time enough.
  void ask(std::string_view key, Micros deadline_us = 10 * kSecond_us) {
    Charge& charge = charges.emplace_back(Charge{.limit = &limit, .key = key});
    Question question{.charges = {&charge, 1}, .deadline_us = deadline_us};
    store->store().prepare(question);
    store->store().ask(question, loop.now(), {.call = &Rig::answered, .context = this, .ticket = charges.size()});
    loop.wake_by(0);  // this is not within a turn, as it should be
  }
  Answer ask_and_wait(std::string_view key, Micros deadline_us = 10 * kSecond_us) {
    const std::size_t wanted = answers.size() + 1;
    ask(key, deadline_us);
    EXPECT_TRUE(turn_until([&] { return answers.size() == wanted; }));
    return answers.back();
  }
  static void answered(void* context, std::uint64_t, const Answer& answer) {
    static_cast<Rig*>(context)->answers.push_back(answer);
  }

  const BoundLimit limit{
      .limit = *make_limit({.count = 5, .period_us = kMinute_us, .burst = 5}), .identity = "limit", .label = "limit"};
  SystemClock clock;
  EventLoop loop{clock, {.tick = [] {}, .turn_ended = [this] { store->turn_ended(); }}};
  SlowNames names;
  NameResolver resolver{names.look_up()};
  Prng prng{1};
  std::unique_ptr<StoreLoop> store;
  std::deque<Charge> charges;
  std::vector<Answer> answers;
};

std::uint16_t free_port() {
  const Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

void expect_five_of_seven(Rig& rig) {
  ASSERT_TRUE(rig.connect()) << rig.store->store().last_error();
  for (int i = 0; i < 7; ++i) {
    const Answer answer = rig.ask_and_wait("alice");
    EXPECT_EQ(answer.fault, StoreFault::kNone);
    EXPECT_EQ(answer.decision.allowed, i < 5) << i;
  }
}

TEST(StoreLoop, DecidesOverAUnixSocketAndOverTcpByNumberAndByName) {
  const std::string port = std::to_string(free_port());
  RedisServer server("redis-server", {"--port", port, "--bind", "127.0.0.1"});
  for (const std::string& url :
       {"redis+unix://" + server.socket(), "redis://127.0.0.1:" + port + "/1", "redis://localhost:" + port + "/2"}) {
    Rig rig(url);
    SCOPED_TRACE(url);
    expect_five_of_seven(rig);
  }
}

TEST(StoreLoop, SendsWhatIsAskedInOneTurnTogether) {
  RedisServer server("redis-server");
  Rig rig("redis+unix://" + server.socket());
  ASSERT_TRUE(rig.connect());
  constexpr std::size_t kAsked = 500;
  std::deque<std::string> keys;
  for (std::size_t i = 0; i < kAsked; ++i) rig.ask(keys.emplace_back("key" + std::to_string(i)));
  ASSERT_TRUE(rig.turn_until([&] { return rig.answers.size() == kAsked; }));
  for (const Answer& answer : rig.answers) EXPECT_TRUE(answer.decision.allowed);
}

TEST(StoreLoop, SaysWhyThereIsNoConnection) {
  const std::string port = std::to_string(free_port());
  RedisServer server("redis-server", {"--requirepass", "secret"});
  struct Case {
    std::string url;
    std::string_view error;
  };
  const Case cases[] = {
      {"redis://127.0.0.1:" + port, "refused"},
      {"redis+unix:///nowhere/socket", "No such file"},
      {"redis://no.such.host.invalid:6379", "cannot resolve `no.such.host.invalid`"},
      {"redis+unix://" + server.socket(), "NOAUTH"},
      {"redis+unix://:wrong@" + server.socket(), "WRONGPASS"},
      {"redis+unix://:secret@" + server.socket() + "?db=99", "DB index is out of range"},
  };
  for (const Case& c : cases) {
    Rig rig(c.url);
    rig.names.answer({.addresses = {}, .error = "cannot resolve `no.such.host.invalid`"});
    EXPECT_TRUE(rig.turn_until([&] { return rig.store->store().last_error().find(c.error) != std::string::npos; }))
        << c.url << ": " << rig.store->store().last_error();
    EXPECT_EQ(rig.ask_and_wait("alice").fault, StoreFault::kUnreachable);
  }
  Rig right("redis+unix://:secret@" + server.socket());
  EXPECT_TRUE(right.connect());
}

TEST(StoreLoop, AStoppedServerCostsADeadlineAndChargesNobodyLater) {
  RedisServer server("redis-server");
  Rig rig("redis+unix://" + server.socket());
  ASSERT_TRUE(rig.connect());
  EXPECT_TRUE(rig.ask_and_wait("alice").decision.allowed);
  ::kill(server.pid(), SIGSTOP);
  constexpr Micros kDeadline_us = 50 * kMillisecond_us;
  for (int i = 0; i < 3; ++i) {
    const Micros asked_us = rig.clock.now().monotonic_us;
    EXPECT_NE(rig.ask_and_wait("alice", kDeadline_us).fault, StoreFault::kNone);
    // Before is wrong on any machine; how long after depends on it.
    if (rig.answers.back().fault == StoreFault::kTimeout) {
      EXPECT_GE(rig.clock.now().monotonic_us, asked_us + kDeadline_us);
    }
  }
  ::kill(server.pid(), SIGCONT);
  ASSERT_TRUE(rig.connect());
  Answer answer;
  EXPECT_TRUE(rig.turn_until([&] { return (answer = rig.ask_and_wait("alice")).fault == StoreFault::kNone; }));
  EXPECT_EQ(answer.decision.remaining, 3) << "two were charged in all";
}

TEST(StoreLoop, GoesOnAfterItsServerHasLostItsScriptsAndItsConnections) {
  RedisServer server("redis-server");
  Rig rig("redis+unix://" + server.socket());
  ASSERT_TRUE(rig.connect());
  RedisClient client(server.socket());
  EXPECT_TRUE(rig.ask_and_wait("a").decision.allowed);
  EXPECT_EQ(client.run({"SCRIPT", "FLUSH"}).text, "OK");
  EXPECT_TRUE(rig.ask_and_wait("b").decision.allowed);
  EXPECT_EQ(rig.store->store().counters().no_script, 1U);
  client.run({"CLIENT", "KILL", "TYPE", "normal"});
  EXPECT_TRUE(rig.turn_until([&] { return rig.ask_and_wait("c").fault == StoreFault::kNone; }));
}

TEST(StoreLoop, ConnectsHoweverLongANameServerTakes) {
  const std::string port = std::to_string(free_port());
  RedisServer server("redis-server", {"--port", port, "--bind", "127.0.0.1"});
  Rig rig("redis://a.name:" + port);
  rig.names.hold("a.name");
  EXPECT_TRUE(rig.turn_until([&] { return rig.store->store().last_error() == "no connection in time"; }));
  EXPECT_EQ(rig.names.asked("a.name"), 1);
  rig.names.hold("");
  ASSERT_TRUE(rig.connect()) << "by what came too late for the first";

  // From here on no name server answers, and what was known before does.
  const int asked = rig.names.asked("a.name");
  rig.names.hold("a.name");
  RedisClient(server.socket()).run({"CLIENT", "KILL", "TYPE", "normal"});
  EXPECT_TRUE(rig.turn_until([&] { return rig.names.asked("a.name") > asked; }));
  EXPECT_TRUE(rig.turn_until([&] { return rig.ask_and_wait("alice").fault == StoreFault::kNone; }));
}

/// A certificate of its own authority for 127.0.0.1, and its key, as files in a folder.
void make_certificate(const std::string& folder) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  X509_EXTENSION* names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1");
  X509_add_ext(certificate, names, -1);
  X509_sign(certificate, key, EVP_sha256());
  std::FILE* file = std::fopen((folder + "/cert.pem").c_str(), "w");
  PEM_write_X509(file, certificate);
  std::fclose(file);
  file = std::fopen((folder + "/key.pem").c_str(), "w");
  PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(file);
  X509_EXTENSION_free(names);
  X509_free(certificate);
  EVP_PKEY_free(key);
}

TEST(StoreLoop, SpeaksTlsAndTrustsOnlyWhatItShould) {
  std::string pattern = (std::filesystem::temp_directory_path() / "ratel-tls-XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  const std::string cert = pattern + "/cert.pem", key = pattern + "/key.pem";
  make_certificate(pattern);
  const std::string port = std::to_string(free_port());
  RedisServer server("redis-server", {"--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key,
                                      "--tls-ca-cert-file", cert, "--bind", "127.0.0.1"});
  const std::string url = "rediss://127.0.0.1:" + port;

  const Result<TlsClient> good = TlsClient::make({.ca_file = cert, .cert_file = cert, .key_file = key});
  ASSERT_TRUE(good.ok()) << good.error().message;
  {
    Rig rig(url, &*good);
    expect_five_of_seven(rig);
    // More than a record, both ways.
    std::deque<std::string> keys;
    const std::size_t before = rig.answers.size();
    for (int i = 0; i < 500; ++i) rig.ask(keys.emplace_back("key" + std::to_string(i)));
    ASSERT_TRUE(rig.turn_until([&] { return rig.answers.size() == before + 500; }));
    for (std::size_t i = before; i < rig.answers.size(); ++i) EXPECT_TRUE(rig.answers[i].decision.allowed);
  }
  struct Case {
    TlsClientOptions options;
    std::string_view error;
  };
  const Case cases[] = {
      {{.ca_file = "", .cert_file = cert, .key_file = key}, "self-signed certificate"},
      {{.ca_file = cert, .cert_file = cert, .key_file = key, .server_name = "redis.example"}, "hostname mismatch"},
      {{.ca_file = cert}, "certificate required"},  // of us, which the server says after the handshake
  };
  for (const Case& c : cases) {
    const Result<TlsClient> tls = TlsClient::make(c.options);
    ASSERT_TRUE(tls.ok());
    Rig rig(url, &*tls);
    EXPECT_TRUE(rig.turn_until([&] { return rig.store->store().last_error().find(c.error) != std::string::npos; }))
        << c.error << ": " << rig.store->store().last_error();
  }
  const Result<TlsClient> missing = TlsClient::make({.ca_file = pattern + "/none.pem"});
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr("none.pem"));
  EXPECT_FALSE(TlsClient::make({.cert_file = cert}).ok());
  std::filesystem::remove_all(pattern);
}

}  // namespace
}  // namespace ratel
