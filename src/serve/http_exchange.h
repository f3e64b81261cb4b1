#pragma once
// A request on its way to its response. Belongs to one event loop.

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http_auth.h"
#include "serve/http_question.h"
#include "serve/http_routes.h"
#include "wire/http_response.h"

namespace ratel {

class HttpSession;
class HttpExchangePool;

/// Memory that a resting exchange keeps: most requests are one question. One exchange a loop may keep more, so that a
/// loop whose store answers at once allocates nothing for long arrays either.
inline constexpr std::size_t kHttpItemsKept = 16;
/// Of a text; metrics are longer, and rare.
inline constexpr std::size_t kHttpTextKeptBytesMax = 4 * 1024;
/// Resting exchanges; as many as are at once under way in a busy loop over a store that answers later.
inline constexpr std::size_t kHttpExchangesKept = 256;

struct HttpExchange {
  enum class Reply : std::uint8_t {
    kAnswers,  // of the items, in JSON
    kAuth,     // of the one item, in status and headers
    kRoute,    // a text that the session makes when all before it is sent
    kText,
    kProblem,
  };

  Reply reply = Reply::kText;
  bool array = false;
  bool without_body = false;  // of HEAD
  HttpResponseHead::Connection connection = HttpResponseHead::Connection::kDefault;

  // kAnswers, kAuth
  std::deque<HttpItem> items;  // the first `count` of them; a deque, because questions point into their item
  std::size_t count = 0;
  AuthReply auth;

  // kRoute
  const HttpRoute* route = nullptr;

  // kText
  int status = 200;
  std::string_view content_type = {};
  std::string headers;  // lines, each with its CRLF
  std::string text;

  // kProblem
  Problem problem;

  // The session's: its place among the responses that are owed.
  HttpExchangePool* pool = nullptr;
  std::size_t place = 0;           // among those of the pool
  HttpSession* session = nullptr;  // who owes it; nullptr when the connection is gone
  LoopMetrics* metrics = nullptr;  // that count the answers, whoever still waits for them
  Micros asked_us = 0;             // monotonic
  HttpExchange* next = nullptr;
  std::size_t awaited = 0;     // answers, and 1 while there may be more to ask
  std::size_t owed = 0;        // what it adds to that of its session: a request, or the questions of an array,
  std::size_t owed_bytes = 0;  // and its texts

  HttpItem& add_item();
  void say(int with_status, std::string_view type, std::string_view body);
  void refuse(Problem with);
  /// Of all strings that belong to it while it waits.
  std::size_t text_bytes() const;
};

/// All exchanges of a loop; those that are not under way are used again.
class HttpExchangePool {
 public:
  HttpExchange* take();
  void give_back(HttpExchange* exchange);
  /// The rules in force from now on; no others are kept alive by what rests.
  void use(const RuleBookPtr& book);
  /// Under way or resting.
  std::size_t size() const { return all_.size(); }

 private:
  std::vector<std::unique_ptr<HttpExchange>> all_;
  std::vector<HttpExchange*> resting_;
  const RuleBook* in_force_ = nullptr;
};

/// Writes responses. One an event loop.
class HttpReplyWriter {
 public:
  /// Appends the response of an exchange all of whose answers are in.
  void write(const HttpExchange& exchange, Micros wall_us, std::string& output);

 private:
  void write_answers(const HttpExchange& exchange);
  void write_auth(const HttpExchange& exchange, HttpResponseHead& head);

  HttpDate date_;
  std::string body_;
  std::string headers_;
};

}  // namespace ratel
