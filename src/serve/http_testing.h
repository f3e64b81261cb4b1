#pragma once
// For tests: an HTTP connection without a socket, over a store that answers at once or when told.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "rules/load_rules.h"
#include "serve/http_session.h"
#include "serve/store_testing.h"

namespace ratel {

/// A response as a client reads it.
struct HttpResponse {
  int status = 0;
  std::string head;  // status line and headers
  std::string body;

  /// The value of a header; empty when there is none.
  std::string header(std::string_view name) const {
    const std::size_t at = head.find("\r\n" + std::string(name) + ": ");
    if (at == std::string::npos) return {};
    const std::size_t begin = at + 2 + name.size() + 2;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
};

/// The first response of `bytes`, which it is taken from.
inline HttpResponse read_response(std::string_view& bytes, bool without_body = false) {
  HttpResponse response;
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos || !bytes.starts_with("HTTP/1.1 ")) {
    ADD_FAILURE() << "no response: " << bytes;
    bytes = {};
    return response;
  }
  response.head = bytes.substr(0, end + 2);
  response.status = std::stoi(response.head.substr(9, 3));
  bytes.remove_prefix(end + 4);
  const std::string length = response.header("Content-Length");
  if (!length.empty() && !without_body) {
    response.body = bytes.substr(0, std::stoul(length));
    EXPECT_EQ(response.body.size(), std::stoul(length));
    bytes.remove_prefix(response.body.size());
  }
  return response;
}

inline std::vector<HttpResponse> read_responses(std::string_view bytes) {
  std::vector<HttpResponse> responses;
  while (!bytes.empty()) responses.push_back(read_response(bytes));
  return responses;
}

inline std::string post(std::string_view path, std::string_view body, std::string_view headers = {}) {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: localhost:8080\r\nContent-Type: application/json\r\n" +
         std::string(headers) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

inline std::string get(std::string_view target, std::string_view headers = {}, std::string_view method = "GET") {
  return std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: localhost:8080\r\n" +
         std::string(headers) + "\r\n";
}

struct HttpBenchOptions {
  std::string rules = {};  // the text of a rules file
  std::string token = {};
  std::vector<std::string> allowed_hosts = {};
  int trusted_hops = 1;
  HeaderStyle adhoc_headers = HeaderStyle::kRateLimit;
};

/// One loop's services, and a connection on them.
class HttpBench : public SessionFactory::Outlet {
 public:
  explicit HttpBench(HttpBenchOptions options = {})
      : factory_(HttpServices{.gate = gate,
                              .resolver = resolver,
                              .metrics = metrics,
                              .randomness = prng,
                              .token = std::move(options.token),
                              .allowed_hosts = std::move(options.allowed_hosts),
                              .auth = {.trusted_hops = options.trusted_hops, .adhoc_headers = options.adhoc_headers},
                              .why_not_ready = [this] { return why_not_ready; },
                              .metrics_text =
                                  [this] {
                                    ++metrics_made;
                                    return std::string("ratel_up 1\n");
                                  }}) {
    if (!options.rules.empty()) {
      const RuleFile file{.name = "rules.yaml", .text = std::move(options.rules)};
      Result<std::vector<Rule>> loaded = load_rules({&file, 1});
      EXPECT_TRUE(loaded.ok()) << loaded.error().message;
      use(std::make_shared<const RuleBook>(std::move(*loaded)));
    }
    connect();
  }

  void use(RuleBookPtr book) {
    resolver.use(std::move(book));
    factory_.rules_changed();
  }

  void connect() { session = factory_.make("127.0.0.1:5000", *this); }

  /// All that has come back so far.
  std::string take() { return std::exchange(session->output(), {}); }
  std::string send(std::string_view bytes) {
    session->receive(bytes, clock.now());
    return take();
  }
  /// The one response to one request.
  HttpResponse run(std::string_view request) {
    const std::string output = send(request);
    std::string_view bytes = output;
    HttpResponse response = read_response(bytes, request.starts_with("HEAD"));
    EXPECT_EQ(bytes, "") << request;
    return response;
  }
  /// The body of the answer to a question.
  std::string ask(std::string_view path, std::string_view json) {
    const HttpResponse response = run(post(path, json));
    EXPECT_EQ(response.status, 200) << json << response.body;
    return response.body;
  }
  std::string_view refusal() const { return factory_.refusal(); }

  void wake() override { ++wakes; }

  ManualClock clock{{.monotonic_us = 1'759'400'000'000'000, .wall_us = 1'759'400'000'000'000}};
  HeldStore store;
  Gate gate{store};
  Resolver resolver;
  LoopMetrics metrics;
  Prng prng{1};
  std::string why_not_ready;
  int wakes = 0;
  int metrics_made = 0;

 private:
  HttpSessionFactory factory_;

 public:
  std::unique_ptr<Session> session;
};

}  // namespace ratel
