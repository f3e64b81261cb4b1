#include "serve/http_exchange.h"

#include <utility>

namespace ratel {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kProblemJson = "application/problem+json";

std::size_t bytes_of(const Problem& problem) {
  return problem.detail.size() + problem.field.size() + problem.value.size() + problem.headers.size();
}

}  // namespace

HttpItem& HttpExchange::add_item() {
  if (count == items.size()) items.emplace_back();
  HttpItem& item = items[count++];
  item.clear();
  return item;
}

void HttpExchange::say(int with_status, std::string_view type, std::string_view body) {
  reply = Reply::kText;
  status = with_status;
  content_type = type;
  text = body;
}

void HttpExchange::refuse(Problem with) {
  reply = Reply::kProblem;
  problem = std::move(with);
}

std::size_t HttpExchange::text_bytes() const {
  std::size_t bytes = headers.size() + text.size();
  if (reply == Reply::kProblem) bytes += bytes_of(problem);
  for (std::size_t i = 0; i < count; ++i) {
    const HttpItem& item = items[i];
    bytes += item.key.size() + item.lease_id.size() + item.names.size();
    if (item.problem) bytes += bytes_of(*item.problem);
  }
  return bytes;
}

HttpExchange* HttpExchangePool::take() {
  if (resting_.empty()) {
    all_.push_back(std::make_unique<HttpExchange>());
    all_.back()->pool = this;
    all_.back()->place = all_.size() - 1;
    return all_.back().get();
  }
  HttpExchange* exchange = resting_.back();
  resting_.pop_back();
  return exchange;
}

void HttpExchangePool::give_back(HttpExchange* exchange) {
  if (resting_.size() == kHttpExchangesKept) {
    std::swap(all_[exchange->place], all_.back());
    all_[exchange->place]->place = exchange->place;
    all_.pop_back();
    return;
  }
  for (std::size_t i = 0; i < exchange->count; ++i) exchange->items[i].target.rest(in_force_);
  if (!resting_.empty() && exchange->items.size() > kHttpItemsKept) exchange->items.resize(kHttpItemsKept);
  exchange->array = false;
  exchange->count = 0;
  exchange->headers.clear();
  exchange->text.clear();
  if (exchange->text.capacity() > kHttpTextKeptBytesMax) exchange->text.shrink_to_fit();
  exchange->session = nullptr;
  exchange->next = nullptr;
  resting_.push_back(exchange);
}

void HttpExchangePool::use(const RuleBookPtr& book) {
  in_force_ = book.get();
  for (const auto& exchange : all_) {
    for (std::size_t i = exchange->count; i < exchange->items.size(); ++i) exchange->items[i].target.rest(in_force_);
  }
}

void HttpReplyWriter::write(const HttpExchange& exchange, Micros wall_us, std::string& output) {
  body_.clear();
  headers_.clear();
  HttpResponseHead head{.date = date_.at(wall_us), .connection = exchange.connection};
  std::string_view body;
  switch (exchange.reply) {
    case HttpExchange::Reply::kAnswers:
      write_answers(exchange);
      head.content_type = kJson;
      body = body_;
      break;
    case HttpExchange::Reply::kAuth:
      write_auth(exchange, head);
      body = body_;
      break;
    case HttpExchange::Reply::kRoute:  // a text by now
    case HttpExchange::Reply::kText:
      head.status = exchange.status;
      head.content_type = exchange.content_type;
      head.headers = exchange.headers;
      body = exchange.text;
      break;
    case HttpExchange::Reply::kProblem: {
      JsonWriter json(body_);
      json.begin_object();
      write_problem(exchange.problem, json);
      json.end_object();
      head.status = exchange.problem.status;
      head.content_type = kProblemJson;
      head.headers = exchange.problem.headers;
      body = body_;
      break;
    }
  }
  head.content_length = body.size();
  append_http_head(output, head);
  if (!exchange.without_body) output += body;
}

void HttpReplyWriter::write_answers(const HttpExchange& exchange) {
  JsonWriter json(body_);
  if (!exchange.array) return write_item(exchange.items.front(), json);
  json.begin_array();
  for (std::size_t i = 0; i < exchange.count; ++i) write_item(exchange.items[i], json);
  json.end_array();
}

void HttpReplyWriter::write_auth(const HttpExchange& exchange, HttpResponseHead& head) {
  const HttpItem& item = exchange.items.front();
  head.status = auth_status(item.answer.decision, exchange.auth);
  append_auth_headers(item, exchange.auth, headers_);
  head.headers = headers_;
  if (item.answer.decision.allowed) return;
  head.content_type = kProblemJson;
  JsonWriter json(body_);
  write_auth_denial(item, head.status, json);
}

}  // namespace ratel
