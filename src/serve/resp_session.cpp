#include "serve/resp_session.h"

#include <utility>

#include "base/check.h"
#include "wire/buffer.h"

namespace ratel {
namespace {

// Client ids are numbers in scripts, too, where integers end at 2^53.
constexpr int kIdBits = 53;

/// What a question adds to the memory that its connection holds.
std::size_t text_bytes(const RespQuestion& asked) {
  return asked.key.size() + asked.lease_id.size() + asked.tail.size();
}

}  // namespace

std::unique_ptr<Session> RespSessionFactory::make(std::string_view peer, Outlet& outlet) {
  return std::make_unique<RespSession>(services_, pool_, outlet, peer);
}

RespSession::RespSession(RespServices& services, RespQuestionPool& pool, SessionFactory::Outlet& outlet,
                         std::string_view peer)
    : services_(services), pool_(pool), outlet_(outlet), peer_(peer) {
  connection_.id = services_.randomness.next() >> (64 - kIdBits);
  connection_.peer = peer_;
  connection_.authenticated = services_.password.empty();
}

RespSession::~RespSession() {
  while (first_ != nullptr) {
    RespQuestion* question = std::exchange(first_, first_->next);
    question->session = nullptr;
    if (question->answered) pool_.give_back(question);
  }
}

void RespSession::receive(std::string_view bytes, Instant now) {
  send_answered();
  if (connection_.closing) return;
  if (kept_.empty()) {
    const std::size_t used = consume(bytes, now);
    kept_ = bytes.substr(used);
  } else {
    kept_ += bytes;
    kept_.erase(0, consume(kept_, now));
  }
  if (last_input_ && !held_back_) connection_.closing = true;
  if (connection_.closing) kept_.clear();
  give_back_unused(kept_);
}

void RespSession::end_of_input(Instant now) {
  last_input_ = true;
  receive({}, now);
}

void RespSession::drain(Instant now) {
  end_of_input(now);
}

void RespSession::expire(Instant) {
  // An idle connection gets no text: its owner would take it for the answer to what it asks next.
  if (waiting() == Waiting::kMessage) {
    RespWriter(output_, connection_.version).error("ERR timeout in the middle of a command");
  }
  connection_.closing = true;
}

void RespSession::shed(Instant now) {
  if (connection_.closing) return;
  Batch none;
  answer_now(none, now, [&](std::string& output) {
    RespWriter(output, connection_.version).error("ERR all connections together hold too much");
  });
  connection_.closing = true;
  kept_.clear();
  give_back_unused(kept_);
}

bool RespSession::wants_input() const {
  return !connection_.closing && !held_back_ && !last_input_;
}

bool RespSession::finished() const {
  return connection_.closing && first_ == nullptr;
}

Session::Waiting RespSession::waiting() const {
  if (first_ != nullptr || held_back_) return Waiting::kAnswer;
  if (!greeted_ && (kept_.empty() || !connection_.authenticated)) return Waiting::kGreeting;
  return kept_.empty() ? Waiting::kIdle : Waiting::kMessage;
}

/// Runs what is whole, and returns how many bytes that was.
std::size_t RespSession::consume(std::string_view input, Instant now) {
  Batch batch;
  std::size_t used = 0;
  held_back_ = false;
  while (!connection_.closing) {
    if (unsent() > kRespUnsentBytesMax || awaited_ + batch.size >= kRespAwaitedMax) {
      ask_all(batch, now);
      held_back_ = unsent() > kRespUnsentBytesMax || awaited_ >= kRespAwaitedMax;
      if (held_back_) break;
    }
    const RespParser::Parsed parsed = parser_.parse(input.substr(used));
    used += parsed.consumed;
    if (parsed.outcome == RespParser::Outcome::kPartial) break;
    if (parsed.outcome == RespParser::Outcome::kError) {
      services_.metrics.rejected(Rejected::kProtocol);
      answer_now(batch, now, [&](std::string& output) {
        RespWriter(output, connection_.version).error("ERR " + std::string(parser_.error()));
      });
      connection_.closing = true;
      break;
    }
    run(parser_.arguments(), batch, now);
  }
  ask_all(batch, now);
  return used;
}

void RespSession::run(RespArguments arguments, Batch& batch, Instant now) {
  const RespCommand* command = find_resp_command(arguments[0]);
  greeted_ = greeted_ || connection_.authenticated;
  if (command != nullptr && command->read != nullptr && connection_.authenticated &&
      has_arity(*command, arguments.size())) {
    return prepare(*command, arguments, batch, now);
  }
  answer_now(batch, now, [&](std::string& output) {
    if (command == nullptr) {
      refuse_unknown(arguments, output);
    } else if (!has_arity(*command, arguments.size())) {
      refuse({ErrorCode::kBadArgument, wrong_arity(arguments[0])}, output);
    } else if (!connection_.authenticated && !command->is_open) {
      services_.metrics.rejected(Rejected::kUnauthorized);
      RespWriter(output, connection_.version).error("NOAUTH Authentication required.");
    } else {
      command->run(arguments, services_, connection_, output);
    }
  });
}

void RespSession::prepare(const RespCommand& command, RespArguments arguments, Batch& batch, Instant now) {
  RespQuestion* asked = pool_.take();
  asked->version = connection_.version;
  Status status = command.read(command, arguments, services_, *asked);
  if (status) status = services_.gate.prepare(asked->question);
  if (!status) {
    pool_.give_back(asked);
    answer_now(batch, now, [&](std::string& output) { refuse(status.error(), output); });
    return;
  }
  batch.questions[batch.size++] = asked;
  if (batch.size == kRespBatchMax) ask_all(batch, now);
}

void RespSession::ask_all(Batch& batch, Instant now) {
  for (std::size_t i = 0; i < batch.size; ++i) {
    RespQuestion* asked = batch.questions[i];
    asked->session = this;
    asked->metrics = &services_.metrics;
    asked->asked_us = now.monotonic_us;
    asked->answered = false;
    asked->awaited = false;
    services_.gate.ask(asked->question, now, {&RespSession::on_answer, asked, 0});
    if (asked->answered && first_ == nullptr) {
      settle(asked);
      continue;
    }
    asked->awaited = true;
    asked->next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = asked;
    last_ = asked;
    ++awaited_;
    awaited_bytes_ += text_bytes(*asked);
  }
  batch.size = 0;
}

template <typename Write>
void RespSession::answer_now(Batch& batch, Instant now, Write write) {
  ask_all(batch, now);
  if (first_ == nullptr) return write(output_);
  const std::size_t before = last_->tail.size();
  write(last_->tail);
  awaited_bytes_ += last_->tail.size() - before;
}

void RespSession::refuse(const Error& error, std::string& output) {
  const bool is_unknown = error.code == ErrorCode::kUnknownRule;
  services_.metrics.rejected(is_unknown ? Rejected::kUnknownRule : Rejected::kBadArgument);
  RespWriter(output, connection_.version).error("ERR " + error.message);
}

void RespSession::refuse_unknown(RespArguments arguments, std::string& output) {
  // A web page can make its visitor's browser send this: the rest of it is not to be read as commands.
  if (same_word(arguments[0], "POST") || same_word(arguments[0], "Host:")) {
    services_.metrics.rejected(Rejected::kForbiddenOrigin);
    connection_.closing = true;
    return;
  }
  services_.metrics.rejected(Rejected::kUnknownCommand);
  constexpr std::size_t kShownBytesMax = 128;  // of the name, and of all arguments together, as in Redis
  std::string shown;
  for (std::size_t i = 1; i < arguments.size() && shown.size() < kShownBytesMax; ++i) {
    shown += "'" + std::string(arguments[i].substr(0, kShownBytesMax - shown.size())) + "' ";
  }
  RespWriter(output, connection_.version)
      .error("ERR unknown command '" + std::string(arguments[0].substr(0, kShownBytesMax)) +
             "', with args beginning with: " + shown);
}

void RespSession::on_answer(void* context, std::uint64_t, const Answer& answer) {
  auto* asked = static_cast<RespQuestion*>(context);
  CHECK(!asked->answered);
  asked->answer = answer;
  asked->answered = true;
  count_answer(*asked);
  if (!asked->awaited) return;  // ask_all() goes on with it
  RespSession* session = asked->session;
  if (session == nullptr) {
    asked->pool->give_back(asked);
  } else if (session->first_ == asked) {
    session->send_answered();
    session->outlet_.wake();
  }
}

/// Moves to the output what no longer waits for anything but for room.
void RespSession::send_answered() {
  while (first_ != nullptr && first_->answered) {
    if (output_.size() > kRespUnsentBytesMax) {
      held_back_ = true;  // receive() goes on
      return;
    }
    RespQuestion* asked = std::exchange(first_, first_->next);
    --awaited_;
    awaited_bytes_ -= text_bytes(*asked);
    settle(asked);
  }
}

/// Writes the reply and what came behind it.
void RespSession::settle(RespQuestion* asked) {
  write_answer(*asked, output_);
  output_ += asked->tail;
  pool_.give_back(asked);
}

}  // namespace ratel
