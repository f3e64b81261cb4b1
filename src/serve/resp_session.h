#pragma once
// One RESP connection, without its socket, and what makes them for a listener. Belongs to one event loop.
//
// All commands of a read are parsed first and their questions prepared, then asked in order, and answered in one piece.
// A reply never overtakes one before it: while an answer is owed, what follows waits behind it. When the store answers
// at once, which the memory store always does, nothing waits and replies go straight to the output.

#include <array>
#include <cstddef>

#include "serve/resp_commands.h"
#include "wire/resp_parser.h"
#include "wire/session.h"

namespace ratel {

/// Questions prepared before the first of them is asked: enough for their memory to arrive, few enough to stay in
/// cache.
inline constexpr std::size_t kRespBatchMax = 64;
/// Questions of one connection under way in a store that answers later.
inline constexpr std::size_t kRespAwaitedMax = 1024;
/// Reply bytes that the peer has not taken, and texts of questions under way, above which no more of its commands are
/// read.
inline constexpr std::size_t kRespUnsentBytesMax = 256 * 1024;

class RespSession final : public Session {
 public:
  RespSession(RespServices& services, RespQuestionPool& pool, SessionFactory::Outlet& outlet, std::string_view peer);
  ~RespSession() override;
  RespSession(const RespSession&) = delete;
  RespSession& operator=(const RespSession&) = delete;

  void receive(std::string_view bytes, Instant now) override;
  void end_of_input(Instant now) override;
  void expire(Instant now) override;
  void drain(Instant now) override;
  void shed(Instant now) override;
  std::size_t held() const override {
    return kept_.capacity() + parser_.memory() + output_.capacity() + awaited_bytes_;
  }
  bool wants_input() const override;
  bool finished() const override;
  Waiting waiting() const override;

 private:
  /// Prepared and not yet asked. On the stack of receive(), because another session may run while one asks.
  struct Batch {
    std::array<RespQuestion*, kRespBatchMax> questions;
    std::size_t size = 0;
  };

  std::size_t consume(std::string_view input, Instant now);
  void run(RespArguments arguments, Batch& batch, Instant now);
  void prepare(const RespCommand& command, RespArguments arguments, Batch& batch, Instant now);
  void ask_all(Batch& batch, Instant now);
  /// Has `write` append a reply that needs no store, behind the answers to all that was asked before.
  template <typename Write>
  void answer_now(Batch& batch, Instant now, Write write);
  void refuse(const Error& error, std::string& output);
  void refuse_unknown(RespArguments arguments, std::string& output);

  static void on_answer(void* context, std::uint64_t ticket, const Answer& answer);
  void send_answered();
  void settle(RespQuestion* asked);
  std::size_t unsent() const { return output_.size() + awaited_bytes_; }

  RespServices& services_;
  RespQuestionPool& pool_;
  SessionFactory::Outlet& outlet_;
  std::string peer_;
  RespConnection connection_;
  RespParser parser_;
  std::string kept_;         // input that is incomplete, or held back by a bound
  bool held_back_ = false;   // kept_ may hold whole commands
  bool last_input_ = false;  // no more will be received
  bool greeted_ = false;     // has run a command of a peer that may ask
  // Questions under way, oldest first. Replies that need no store stand in the tail of the question before them.
  RespQuestion* first_ = nullptr;
  RespQuestion* last_ = nullptr;
  std::size_t awaited_ = 0;
  std::size_t awaited_bytes_ = 0;  // in their texts and tails
};

/// REQUIRES: outlives its sessions and every question they asked.
class RespSessionFactory final : public SessionFactory {
 public:
  explicit RespSessionFactory(RespServices services) : services_(std::move(services)) {}

  std::unique_ptr<Session> make(std::string_view peer, Outlet& outlet) override;
  std::string_view refusal() const override { return "-ERR max number of clients reached\r\n"; }

  /// The resolver has been given other rules.
  void rules_changed() { pool_.use(services_.resolver.book()); }

 private:
  RespServices services_;
  RespQuestionPool pool_;
};

}  // namespace ratel
