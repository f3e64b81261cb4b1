#include "serve/http_session.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "serve/http_guard.h"
#include "serve/http_page.h"
#include "wire/buffer.h"
#include "wire/query.h"

namespace ratel {
namespace {

using Connection = HttpResponseHead::Connection;

constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kPrometheusText = "text/plain; version=0.0.4; charset=utf-8";

std::string allow_line(std::string_view methods) {
  return "Allow: " + std::string(methods) + "\r\n";
}

bool is_json(std::string_view content_type) {
  constexpr std::string_view kJson = "application/json";
  const std::string_view type = content_type.substr(0, content_type.find_first_of("; \t"));
  return std::equal(type.begin(), type.end(), kJson.begin(), kJson.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a | 0x20) : a) == b; });
}

}  // namespace

/// Puts the objects of a body into the items of an exchange.
class HttpSession::Questions final : public JsonObjects {
 public:
  Questions(HttpServices& services, Verb verb, HttpExchange& exchange)
      : services_(services), verb_(verb), exchange_(exchange) {}

  void begin(bool array) override { exchange_.array = array; }
  void object(std::span<const JsonValue> values) override {
    read_question(values, verb_, services_.gate, services_.resolver, services_.randomness, exchange_.add_item());
  }
  void bad_object(JsonFault fault) override { exchange_.add_item().problem = problem_of(std::move(fault)); }

 private:
  HttpServices& services_;
  const Verb verb_;
  HttpExchange& exchange_;
};

std::unique_ptr<Session> HttpSessionFactory::make(std::string_view, Outlet& outlet) {
  return std::make_unique<HttpSession>(services_, tools_, outlet);
}

std::string_view HttpSessionFactory::refusal() const {
  return "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\nRetry-After: 1\r\n\r\n";
}

HttpSession::HttpSession(HttpServices& services, HttpTools& tools, SessionFactory::Outlet& outlet)
    : services_(services), tools_(tools), outlet_(outlet) {}

HttpSession::~HttpSession() {
  while (first_ != nullptr) {
    HttpExchange* exchange = std::exchange(first_, first_->next);
    exchange->session = nullptr;
    if (exchange->awaited == 0) tools_.pool.give_back(exchange);
  }
}

void HttpSession::receive(std::string_view bytes, Instant now) {
  wall_us_ = now.wall_us;
  send_answered();
  if (closing_) return;
  if (held_.empty()) {
    consume(bytes, now);
    held_ = bytes;
  } else {
    held_ += bytes;
    std::string_view rest = held_;
    consume(rest, now);
    held_.erase(0, held_.size() - rest.size());
  }
  if (last_input_ && !held_back_) closing_ = true;
  if (closing_) held_.clear();
  give_back_unused(held_);
}

void HttpSession::end_of_input(Instant now) {
  last_input_ = true;
  receive({}, now);
}

void HttpSession::drain(Instant now) {
  end_of_input(now);
  if (first_ != nullptr && (!held_back_ || held_.empty())) last_->connection = Connection::kClose;
}

void HttpSession::expire(Instant now) {
  wall_us_ = now.wall_us;
  // An idle connection gets no text: its owner would take it for the answer to what it asks next.
  if (in_request() && waiting() != Waiting::kAnswer) {
    refuse_and_close({.status = 408, .detail = "the request took too long to arrive"});
  }
  closing_ = true;
}

void HttpSession::shed(Instant now) {
  if (closing_) return;
  wall_us_ = now.wall_us;
  end_with({.status = 503, .detail = "all connections together hold too much", .headers = "Retry-After: 1\r\n"});
  held_.clear();
  give_back_unused(held_);
}

bool HttpSession::wants_input() const {
  return !closing_ && !held_back_ && !last_input_;
}

bool HttpSession::finished() const {
  return closing_ && first_ == nullptr;
}

Session::Waiting HttpSession::waiting() const {
  if (first_ != nullptr || held_back_) return Waiting::kAnswer;
  // Who has not shown the token gains no time by asking what is open to everyone, or by asking on and on.
  if (!greeted_ && (!in_request() || !services_.token.empty())) return Waiting::kGreeting;
  return in_request() ? Waiting::kMessage : Waiting::kIdle;
}

void HttpSession::consume(std::string_view& bytes, Instant now) {
  held_back_ = false;
  while (!closing_) {
    held_back_ = output_.size() + owed_bytes_ > kHttpUnsentBytesMax || owed_ >= kHttpOwedMax;
    if (held_back_) return;
    switch (parser_.parse(bytes)) {
      case HttpParser::Step::kNeedMore:
        return;
      case HttpParser::Step::kHead:
        begin(!bytes.empty());
        break;
      case HttpParser::Step::kMessage:
        respond(!bytes.empty(), now);
        break;
      case HttpParser::Step::kFault:
        without_body_ = false;
        refuse_and_close({.status = parser_.fault().status, .detail = parser_.fault().detail});
        break;
    }
  }
}

/// The head is there: whether the request will be asked is known before its body.
void HttpSession::begin(bool more_has_arrived) {
  const HttpHead& head = parser_.head();
  const RequestTarget target = split_target(head.target);
  route_ = find_http_route(target.path);
  query_ = target.query;
  without_body_ = head.method == HttpMethod::kHead;
  const std::string_view host = target.authority.empty() ? head.host : target.authority;
  refusal_ = check_guards(head, host, route_, services_.allowed_hosts, services_.token);
  if (!refusal_) refusal_ = check_request(head, target.path);
  if (refusal_) parser_.discard_body();

  if (!head.expects_continue || head.http_1_0 || !head.has_length || more_has_arrived) return;
  if (refusal_) {
    refuse_and_close(std::move(*refusal_));
  } else if (first_ == nullptr) {
    output_ += kHttpContinue;
  } else {
    owes_continue_ = true;
  }
}

std::optional<Problem> HttpSession::check_request(const HttpHead& head, std::string_view path) const {
  if (head.method == HttpMethod::kUnknown) return Problem{.status = 501, .detail = "the method is not known"};
  if (route_ == nullptr) {
    if (head.method == HttpMethod::kOptions && path == "*") return std::nullopt;
    Problem problem{.status = 404, .detail = "there is nothing at this path"};
    const std::string_view nearest = nearest_http_path(path);
    if (!nearest.empty()) problem.detail.append("; did you mean ").append(nearest).append("?");
    return problem;
  }
  if (!route_->allows(head.method)) {
    return Problem{.status = 405,
                   .detail = "this path is for " + std::string(route_->allow),
                   .headers = allow_line(route_->allow)};
  }
  if (route_->kind != HttpRoute::Kind::kAsk || head.method == HttpMethod::kOptions) return std::nullopt;
  if (!query_.empty()) return bad_argument("the question belongs in the body, as JSON; a query is not read");
  if (!head.has_length) return Problem{.status = 411, .detail = "a question has a body, and a body has a length"};
  if (!is_json(head.content_type)) {
    return Problem{.status = 415, .detail = "the body must be sent as `Content-Type: application/json`"};
  }
  return std::nullopt;
}

/// The request is there.
void HttpSession::respond(bool more_has_arrived, Instant now) {
  const HttpHead& head = parser_.head();
  greeted_ = greeted_ || services_.token.empty() || has_token(head, services_.token);
  owes_continue_ = false;
  Connection connection = head.http_1_0 ? Connection::kKeepAlive : Connection::kDefault;
  if (!head.keep_alive || (last_input_ && !more_has_arrived)) connection = Connection::kClose;
  HttpExchange& exchange = owe(connection);
  if (refusal_) {
    refuse(exchange, std::move(*refusal_));
  } else {
    fill(exchange);
  }
  count_owed(exchange);
  ask_all(exchange, now);
}

void HttpSession::fill(HttpExchange& exchange) {
  if (parser_.head().method == HttpMethod::kOptions) {
    exchange.say(204, {}, {});
    exchange.headers = allow_line(route_ != nullptr ? route_->allow : "GET, HEAD, POST, OPTIONS");
    return;
  }
  switch (route_->kind) {
    case HttpRoute::Kind::kAsk:
      return read_questions(exchange);
    case HttpRoute::Kind::kAuth:
      return read_query(exchange);
    case HttpRoute::Kind::kHealth:
    case HttpRoute::Kind::kReady:
    case HttpRoute::Kind::kMetrics:
    case HttpRoute::Kind::kPage:
      exchange.reply = HttpExchange::Reply::kRoute;
      exchange.route = route_;
      return;
  }
}

/// Makes the text of a route that is no question. Not before it can be sent, or many would wait behind one late answer.
void HttpSession::show(HttpExchange& exchange) {
  switch (exchange.route->kind) {
    case HttpRoute::Kind::kAsk:
    case HttpRoute::Kind::kAuth:
      return;  // the store answers these
    case HttpRoute::Kind::kHealth:
      return exchange.say(200, kPlainText, "ok\n");
    case HttpRoute::Kind::kReady: {
      const std::string why_not = services_.why_not_ready();
      return exchange.say(why_not.empty() ? 200 : 503, kPlainText, (why_not.empty() ? "ready" : why_not) + "\n");
    }
    case HttpRoute::Kind::kMetrics:
      return exchange.say(200, kPrometheusText, services_.metrics_text());
    case HttpRoute::Kind::kPage:
      exchange.say(200, kHtml, http_page());
      exchange.headers = http_page_headers();
      return;
  }
}

void HttpSession::read_questions(HttpExchange& exchange) {
  Questions questions(services_, route_->verb, exchange);
  if (!tools_.json.read(parser_.body(), route_->fields, kHttpQuestionsMax, questions)) {
    return refuse(exchange, problem_of(tools_.json.fault()));
  }
  HttpItem& first = exchange.items.front();
  if (!exchange.array && first.problem) return refuse(exchange, std::move(*first.problem));
  exchange.reply = HttpExchange::Reply::kAnswers;
  for (std::size_t i = 0; i < exchange.count; ++i) {
    if (exchange.items[i].problem) services_.metrics.rejected(rejection_of(*exchange.items[i].problem));
  }
}

void HttpSession::read_query(HttpExchange& exchange) {
  HttpItem& item = exchange.add_item();
  exchange.auth = read_auth(query_, parser_.head(), services_.auth, services_.gate, services_.resolver, item);
  if (item.problem) return refuse(exchange, std::move(*item.problem));
  exchange.reply = HttpExchange::Reply::kAuth;
}

void HttpSession::refuse(HttpExchange& exchange, Problem problem) {
  services_.metrics.rejected(rejection_of(problem));
  exchange.count = 0;  // nothing of it is asked
  exchange.refuse(std::move(problem));
}

/// For what leaves no way to find the next request, or is not worth reading on for.
void HttpSession::refuse_and_close(Problem problem) {
  services_.metrics.rejected(rejection_of(problem));
  end_with(std::move(problem));
}

/// Behind the responses owed, in place of one to what has arrived since.
void HttpSession::end_with(Problem problem) {
  if (!parser_.within_message()) without_body_ = false;  // that was the request before this one
  HttpExchange& exchange = owe(Connection::kClose);
  exchange.refuse(std::move(problem));
  count_owed(exchange);
  settle(exchange);
}

/// Once all is known of it that waits with it.
void HttpSession::count_owed(HttpExchange& exchange) {
  owed_ += exchange.owed = std::max<std::size_t>(1, exchange.count);
  owed_bytes_ += exchange.owed_bytes = exchange.text_bytes();
}

/// The response to the request being read, behind those owed already.
HttpExchange& HttpSession::owe(Connection connection) {
  HttpExchange* exchange = tools_.pool.take();
  exchange->session = this;
  exchange->awaited = 1;
  exchange->without_body = without_body_;
  exchange->connection = connection;
  (first_ == nullptr ? first_ : last_->next) = exchange;
  last_ = exchange;
  if (connection == Connection::kClose) closing_ = true;
  return *exchange;
}

void HttpSession::ask_all(HttpExchange& exchange, Instant now) {
  exchange.metrics = &services_.metrics;
  exchange.asked_us = now.monotonic_us;
  for (std::size_t i = 0; i < exchange.count; ++i) {
    if (exchange.items[i].problem) continue;
    ++exchange.awaited;
    services_.gate.ask(exchange.items[i].question, now, {&HttpSession::on_answer, &exchange, i});
  }
  settle(exchange);
}

/// One thing less that the exchange waits for.
void HttpSession::settle(HttpExchange& exchange) {
  if (--exchange.awaited == 0 && first_ == &exchange) send_answered();
}

void HttpSession::on_answer(void* context, std::uint64_t ticket, const Answer& answer) {
  auto& exchange = *static_cast<HttpExchange*>(context);
  CHECK(exchange.awaited > 0);
  HttpItem& item = exchange.items[ticket];
  item.answer = answer;
  exchange.metrics->answered(exchange.asked_us);
  count_answer(*exchange.metrics, item.target, item.question.verb, answer);
  HttpSession* session = exchange.session;
  if (session != nullptr) {
    const bool sends = exchange.awaited == 1 && session->first_ == &exchange;
    session->settle(exchange);
    if (sends) session->outlet_.wake();
  } else if (--exchange.awaited == 0) {
    exchange.pool->give_back(&exchange);
  }
}

/// Moves to the output what no longer waits for anything but for room.
void HttpSession::send_answered() {
  while (first_ != nullptr && first_->awaited == 0) {
    if (output_.size() > kHttpUnsentBytesMax) {
      held_back_ = true;  // receive() goes on
      return;
    }
    HttpExchange* exchange = std::exchange(first_, first_->next);
    owed_ -= exchange->owed;
    owed_bytes_ -= exchange->owed_bytes;
    if (exchange->reply == HttpExchange::Reply::kRoute) show(*exchange);
    tools_.replies.write(*exchange, wall_us_, output_);
    tools_.pool.give_back(exchange);
  }
  if (first_ == nullptr && std::exchange(owes_continue_, false)) output_ += kHttpContinue;
}

}  // namespace ratel
