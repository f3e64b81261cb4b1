#pragma once
// One connection to a server, without its socket: told what happened and what time it is, it says what to write and
// when it wants to be woken. Belongs to one event loop.
//
//   kClosed ─open→ kDialing ─connected→ kGreeting ─→ kReady ─retire→ kRetiring        each ─close→ kClosed
//
// Every request ends in exactly one call of its receiver, unless it was cancelled first: with its reply, or with
// whether it was perhaps executed. A reply that fits no request, or has not the shape it should, shows that the two
// sides are out of step, so the connection is closed and nothing in flight is believed.
//
// Opens nothing again by itself and knows nothing of other connections.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/address.h"
#include "base/clock.h"
#include "redis/clock_offset.h"
#include "redis/greeting.h"
#include "redis/request_queue.h"
#include "wire/resp_reply.h"

namespace ratel {

class Link;

/// Who has asked something on a link.
class LinkReceiver {
 public:
  /// False if the reply has not the shape it should have; the link is closed then, and this request counts as answered.
  /// `reply` is a loan for the call, also if the call closes the link.
  virtual bool replied(std::uint64_t token, Link& link, RespReply reply, Instant now) = 0;
  /// The link was closed first. `perhaps`: it may have been executed; otherwise it surely was not.
  virtual void failed(std::uint64_t token, bool perhaps, Instant now) = 0;

 protected:
  ~LinkReceiver() = default;
};

class Link {
 public:
  enum class State : std::uint8_t { kClosed, kDialing, kGreeting, kReady, kRetiring };
  enum class Closed : std::uint8_t {
    kUnreachable,  // it did not come to be, in time
    kLost,         // the other side ended it
    kSilent,       // it owed replies and nothing came
    kPoisoned,     // out of step
    kRefused,      // by an answer to the greeting: password, rights, database, too many clients
    kReplica,      // a primary was wanted
    kByUs,
  };

  /// Holds the sockets. Must not call the link from within these.
  class Shell {
   public:
    /// Begin to connect, resolving the name anew. Then connected(), or lost().
    virtual void dial(Link& link) = 0;
    /// Close the socket, if there is one; no more of it is told.
    virtual void hang_up(Link& link) = 0;
    /// There is something to write, and was not before. At the end of the turn is soon enough, so that what is asked in
    /// one turn goes in one write.
    virtual void wake(Link& link) = 0;

   protected:
    ~Shell() = default;
  };
  /// Told when the link changes. May close it, and ask on it.
  class Owner {
   public:
    virtual void ready(Link& link, Instant now) = 0;
    virtual void closed(Link& link, Closed why, Instant now) = 0;
    virtual void pushed(Link& link, RespReply push, Instant now) = 0;

   protected:
    ~Owner() = default;
  };

  /// How long a link may be quiet until it asks for a sign of life, and for the time; and how long that may take.
  static constexpr Micros kHeartbeat_us = kSecond_us;
  static constexpr Micros kHeartbeatPatience_us = 2 * kSecond_us;
  /// Nothing read for this long while replies are owed, or four times a question's deadline, means a dead server.
  static constexpr Micros kPatienceMin_us = 200 * kMillisecond_us;
  /// How long a link that is no longer wanted waits for what it is owed.
  static constexpr Micros kRetiring_us = 200 * kMillisecond_us;
  /// Between attempts to begin while the server loads its data or runs a long script: this, doubled up to the ceiling.
  static constexpr Micros kNotYetFirst_us = 100 * kMillisecond_us;
  static constexpr Micros kNotYetCeiling_us = 500 * kMillisecond_us;
  /// A link that lasted so long was good, even if nothing was asked on it.
  static constexpr Micros kProved_us = kSecond_us;

  /// All references outlive the link.
  Link(const LinkOptions& options, Shell& shell, Owner& owner);
  Link(const Link&) = delete;

  /// REQUIRES: state() == kClosed
  void open(const Address& address, Instant now);
  void close(Closed why, std::string_view what, Instant now);
  /// Takes no more, and closes when what it is owed has come. What is not ready is closed at once.
  void retire(std::string_view what, Instant now);

  // --- from the shell ---
  void connected(Instant now);
  /// `now` was read after the bytes were.
  void receive(std::string_view bytes, Instant now);
  /// The connection has ended, or did not come to be.
  void lost(std::string_view what, Instant now);
  std::string_view output() { return queue_.unsent(); }
  void wrote(std::size_t bytes) { queue_.wrote(bytes); }
  /// REQUIRES: called at next_us() or soon after; may be called at any time.
  void tick(Instant now);
  /// When tick() is due; kNeverDue_us if at no time.
  Micros next_us() const;
  static constexpr Micros kNeverDue_us = INT64_MAX;

  // --- for who asks ---
  struct Request {
    std::string_view bytes;     // copied
    std::uint8_t preludes = 0;  // commands in `bytes` before the one that is asked
    Micros deadline_us = 0;     // how long its asker will wait
  };
  /// Nothing, and nothing sent, if the link is not ready, or so much is owed on it already that waiting is no use.
  std::optional<RequestQueue::Place> send(const Request& request, LinkReceiver& receiver, std::uint64_t token,
                                          Instant now);
  /// It was waited for in vain; the receiver is told no more. True if it never was on its way.
  bool cancel(RequestQueue::Place place);
  /// The server has said that it cannot work yet: no more questions until it can.
  void pause(Instant now);

  State state() const { return state_; }
  bool is_ready() const { return state_ == State::kReady; }
  const Address& address() const { return address_; }
  const ClockOffset& clock() const { return clock_; }
  void sample_clock(Micros store_us, Instant now) { clock_.sample(store_us, now.monotonic_us); }
  std::size_t owed() const { return queue_.size(); }
  /// For one more request of so many bytes.
  bool has_room(std::size_t bytes) const { return queue_.has_room(bytes); }
  /// Whether it has been ready since it was opened.
  bool was_ready() const { return was_ready_; }
  /// Whether it is good, or was until now: it has answered, or was ready for long.
  bool has_proved(Instant now) const {
    return was_ready_ && (answered_ || now.monotonic_us - ready_since_us_ >= kProved_us);
  }
  bool resp3() const { return greeting_.resp3(); }
  /// Why it was closed last, in words.
  const std::string& last_error() const { return last_error_; }
  std::uint64_t script_loads() const { return script_loads_; }

 private:
  enum class Own : std::uint8_t { kHeartbeat = 32, kScript, kScriptLast };  // below: steps of the greeting

  void greet(Instant now);
  void take_reply(RespReply reply, Instant now);
  void take_own(std::uint8_t own, RespReply reply, Instant now);
  void load_scripts(Instant now);
  void ask_self(std::uint8_t own, std::string_view bytes, Instant now);
  bool wants_heartbeat() const;
  void doubt(Micros asked_us, Micros patience_us);

  const LinkOptions& options_;
  Shell& shell_;
  Owner& owner_;
  State state_ = State::kClosed;
  Address address_;
  Greeting greeting_;
  RequestQueue queue_;
  RespReplyReader reader_;
  ClockOffset clock_;
  std::uint64_t connection_ = 0;  // counts; tells a call that the link was closed meanwhile
  Micros step_by_us_ = 0;         // kDialing, kGreeting: when this takes too long
  Micros not_yet_us_ = 0;         // the pause before the greeting is tried again
  Micros greet_again_us_ = kNeverDue_us;
  Micros last_read_us_ = 0;
  Micros ready_since_us_ = 0;
  bool was_ready_ = false;            // since it was opened
  bool answered_ = false;             // a request, and not with an error, since it was opened
  Micros dead_at_us_ = kNeverDue_us;  // unless something is read before
  bool loading_scripts_ = false;
  std::uint64_t script_loads_ = 0;  // after the greeting: how often the server had lost them
  std::string last_error_;
};

}  // namespace ratel
