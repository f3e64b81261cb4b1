#pragma once
// A conversation with one server of a store: any commands, each waited for. For the subcommands and for the start,
// which may block; never on a loop that answers questions.
//
// Greets as every connection does, so password, TLS and Unix sockets work as they do for questions, but loads no
// script. One thread.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/store_access.h"
#include "net/store_sockets.h"
#include "ratel/result.h"
#include "redis/link.h"

namespace ratel {

class StoreTalk final : private Link::Owner, private LinkReceiver {
 public:
  using Command = std::vector<std::string>;
  /// How long an answer may take: a server in service answers in milliseconds, and a person waits for this.
  static constexpr Micros kAnswer_us = 2 * kSecond_us;
  /// Commands in one write; a connection carries some more.
  static constexpr std::size_t kCommandsMax = 512;

  /// Connects and greets, for at most the two times in the options. The error is in the words of the server or the
  /// system. The access outlives the talk. REQUIRES: options.scripts is empty
  static Result<std::unique_ptr<StoreTalk>> open(StoreAccess& access, const Address& address, LinkOptions options);
  ~StoreTalk();

  /// Hands each reply, which may be an error of the server, to `use` in the order of the commands; it is a loan for the
  /// call. The error is that of a connection that has ended, and so will all further ones be.
  /// REQUIRES: 1 <= commands.size() <= kCommandsMax
  Status ask(std::span<const Command> commands, const std::function<void(std::size_t index, RespReply reply)>& use);
  Status ask(const Command& command, const std::function<void(RespReply reply)>& use);

  const Address& address() const { return link_.address(); }

 private:
  StoreTalk(StoreAccess& access, LinkOptions options);

  bool replied(std::uint64_t token, Link& link, RespReply reply, Instant now) override;
  void failed(std::uint64_t, bool, Instant) override {}
  void ready(Link&, Instant) override {}
  void closed(Link&, Link::Closed, Instant) override {}
  void pushed(Link&, RespReply, Instant) override {}

  template <typename Condition>
  Status turn_until(Condition condition, Micros patience_us);

  StoreAccess& access_;
  const LinkOptions options_;
  StoreSockets sockets_;
  Link link_;
  const std::function<void(std::size_t, RespReply)>* use_ = nullptr;  // while ask() waits
  std::size_t owed_ = 0;
};

}  // namespace ratel
