#pragma once
// One HTTP/1.1 connection, without its socket, and what makes them for a listener. Belongs to one event loop.
//
// A response never overtakes one before it: while answers are owed, what follows waits behind them. When the store
// answers at once, which the memory store always does, nothing waits and responses go straight to the output.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "observe/metrics.h"
#include "serve/http_exchange.h"
#include "serve/http_routes.h"
#include "wire/http_parser.h"
#include "wire/json_reader.h"
#include "wire/session.h"

namespace ratel {

/// Questions in one array.
inline constexpr std::size_t kHttpQuestionsMax = 1'000;
/// Requests and questions of one connection under way in a store that answers later, above which no more are read.
inline constexpr std::size_t kHttpOwedMax = 1'024;
/// Response bytes that the peer has not taken, and texts of requests under way, above which no more of its requests are
/// read.
inline constexpr std::size_t kHttpUnsentBytesMax = 256 * 1024;

/// What the sessions of one event loop share, on loan.
struct HttpServices {
  Gate& gate;
  Resolver& resolver;
  LoopMetrics& metrics;
  Randomness& randomness;
  std::string token;                       // empty: none is asked for
  std::vector<std::string> allowed_hosts;  // beyond `localhost` and addresses
  AuthSettings auth;
  std::function<std::string()> why_not_ready;  // empty text: ready
  std::function<std::string()> metrics_text;   // Prometheus 0.0.4
};

/// What they work with: memory that is used again, one request after the other.
struct HttpTools {
  JsonReader json;
  HttpReplyWriter replies;
  HttpExchangePool pool;
};

class HttpSession final : public Session {
 public:
  HttpSession(HttpServices& services, HttpTools& tools, SessionFactory::Outlet& outlet);
  ~HttpSession() override;
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  void receive(std::string_view bytes, Instant now) override;
  void end_of_input(Instant now) override;
  void expire(Instant now) override;
  void drain(Instant now) override;
  void shed(Instant now) override;
  std::size_t held() const override {
    return held_.capacity() + parser_.head_memory() + parser_.body_memory() + output_.capacity() + owed_bytes_;
  }
  bool wants_input() const override;
  bool finished() const override;
  Waiting waiting() const override;

 private:
  class Questions;

  bool in_request() const { return !held_.empty() || parser_.within_message(); }
  void consume(std::string_view& bytes, Instant now);
  void begin(bool more_has_arrived);
  std::optional<Problem> check_request(const HttpHead& head, std::string_view path) const;
  void respond(bool more_has_arrived, Instant now);
  void fill(HttpExchange& exchange);
  void read_questions(HttpExchange& exchange);
  void read_query(HttpExchange& exchange);
  void refuse(HttpExchange& exchange, Problem problem);
  void refuse_and_close(Problem problem);
  void end_with(Problem problem);
  void show(HttpExchange& exchange);
  void count_owed(HttpExchange& exchange);
  HttpExchange& owe(HttpResponseHead::Connection connection);
  void ask_all(HttpExchange& exchange, Instant now);
  void settle(HttpExchange& exchange);
  void send_answered();

  static void on_answer(void* context, std::uint64_t ticket, const Answer& answer);

  HttpServices& services_;
  HttpTools& tools_;
  SessionFactory::Outlet& outlet_;
  HttpParser parser_;
  std::string held_;         // input that is incomplete, or held back by a bound
  bool held_back_ = false;   // held_ may have whole requests
  bool last_input_ = false;  // no more will be received
  bool closing_ = false;     // nothing that follows is read
  bool greeted_ = false;     // a request of a peer that may ask has come whole
  Micros wall_us_ = 0;       // of the last call, for Date

  // The request being read.
  const HttpRoute* route_ = nullptr;
  std::string_view query_;          // of the parser's head
  std::optional<Problem> refusal_;  // why it will not be asked
  bool without_body_ = false;       // it is a HEAD

  // Responses owed, oldest first.
  HttpExchange* first_ = nullptr;
  HttpExchange* last_ = nullptr;
  std::size_t owed_ = 0;        // requests, or questions of arrays
  std::size_t owed_bytes_ = 0;  // in their texts
  bool owes_continue_ = false;  // 100 Continue, behind the responses owed
};

/// REQUIRES: outlives its sessions and every question they asked.
class HttpSessionFactory final : public SessionFactory {
 public:
  explicit HttpSessionFactory(HttpServices services) : services_(std::move(services)) {}

  std::unique_ptr<Session> make(std::string_view peer, Outlet& outlet) override;
  std::string_view refusal() const override;

  /// The resolver has been given other rules.
  void rules_changed() { tools_.pool.use(services_.resolver.book()); }

 private:
  HttpServices services_;
  HttpTools tools_;
};

}  // namespace ratel
