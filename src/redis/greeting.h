#pragma once
// What is said on a new connection before it may carry questions: who we are, which database, the scripts; and who
// answers. No sockets and no time; belongs to one connection.
//
// AUTH and HELLO go alone and their answer is awaited: the error of an AUTH that other commands follow can get lost.
// What a server does not know is a feature it does not have.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/micros.h"
#include "redis/store_facts.h"
#include "wire/resp_reply.h"

namespace ratel {

/// Scripts on one connection: each takes a place among what a connection asks for itself.
inline constexpr std::size_t kLinkScriptsMax = 8;

struct LinkOptions {
  enum class To : std::uint8_t {
    kPrimary,   // what a replica answers ends the connection, and what a node of a cluster does
    kAnyNode,   // of a cluster: what it is, its slot map says
    kSentinel,  // no database and no scripts there
  };

  To to = To::kPrimary;
  std::string user;      // empty: the default user
  std::string password;  // empty: none
  int database = 0;
  std::vector<std::string> scripts;  // texts; loaded on each new connection, and when the server has lost them
  Micros dial_us = kSecond_us;       // how long connecting may take, with TLS
  Micros greeting_us = kSecond_us;   // and each round of the greeting
};

class Greeting {
 public:
  enum class Step : std::uint8_t { kNone, kHello, kAuth, kOptional, kSelect, kRole, kScript, kTime, kPing };
  struct Command {
    Step step = Step::kNone;
    std::string bytes;
  };
  enum class Verdict : std::uint8_t {
    kWait,  // other replies are still to come
    kNext,  // send next()
    kReady,
    kNotYet,   // it answers, but cannot work yet: try next() again after a pause
    kReplica,  // a primary was wanted
    kRefused,  // error() says why
  };

  /// REQUIRES: the options outlive it.
  explicit Greeting(const LinkOptions& options) : options_(&options) {}

  /// The first commands, or those after kNext and kNotYet.
  std::vector<Command> next();
  /// Sets `store_us` where the reply tells the store's time.
  Verdict replied(Step step, RespReply reply, Micros& store_us);

  /// Of kRefused, in the server's words; never holds a password.
  const std::string& error() const { return error_; }
  bool resp3() const { return resp3_; }

 private:
  enum class Stage : std::uint8_t { kHello, kAuth, kSettle };

  Verdict helloed(RespReply reply);
  Verdict moded(RespReply hello);
  Verdict settled();
  std::string without_password(std::string_view text) const;
  void note_role(std::string_view role);
  void note_error(Step step, std::string_view text);

  const LinkOptions* options_;
  Stage stage_ = Stage::kHello;
  bool resp3_ = false;
  bool replica_ = false;
  bool not_yet_ = false;
  ServerProduct product_;  // as HELLO tells
  std::string error_;
};

/// The store's time from a reply to TIME; -1 if it is none.
Micros time_in(RespReply reply);

}  // namespace ratel
