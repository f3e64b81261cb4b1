#pragma once
// One connection's protocol, without its socket: bytes in, bytes out. net/ owns the socket and runs a Session; serve/
// implements it. Belongs to one event loop.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace ratel {

class Session {
 public:
  /// What the peer is expected to do next; which of the shell's timeouts runs.
  enum class Waiting : std::uint8_t {
    kGreeting,  // no message has come whole, or no secret where one is asked for: a fixed time from connecting
    kIdle,      // between messages: the idle timeout
    kMessage,   // a message has begun and is not complete: the (shorter) message timeout, from its first byte
    kAnswer,    // an answer of ours is being made: none
  };

  virtual ~Session() = default;

  /// Bytes have arrived; with an empty view, output has been sent and input that was held back may be gone on with.
  /// The view is a loan for the call; what is incomplete is kept by the session, within its bounds.
  virtual void receive(std::string_view bytes, Instant now) = 0;

  /// The peer will send no more (half-closed). Answers under way are still to be sent.
  virtual void end_of_input(Instant now) = 0;

  /// A timeout of kIdle or kMessage has passed: say so where the protocol can, then be finished().
  virtual void expire(Instant now) = 0;

  /// The server is stopping: answer what has arrived whole, then be finished().
  virtual void drain(Instant now) = 0;

  /// All connections together hold too much, and this one asked for more: let go of its input, say so, then be
  /// finished().
  virtual void shed(Instant now) = 0;

  /// How much memory input and output take, used or not, and the texts of questions under way.
  virtual std::size_t held() const = 0;

  /// Answers not yet taken by the shell, which swaps or consumes them. Bounded: a session stops parsing while more than
  /// its limit is unsent (wants_input() is false), and goes on in receive("").
  std::string& output() { return output_; }

  virtual bool wants_input() const = 0;
  /// Close once the output is sent.
  virtual bool finished() const = 0;
  virtual Waiting waiting() const = 0;

 protected:
  std::string output_;
};

/// Makes the sessions of one listener, on one event loop.
class SessionFactory {
 public:
  /// The shell, told by a session that an answer has come outside receive(): send the output.
  class Outlet {
   public:
    virtual ~Outlet() = default;
    virtual void wake() = 0;
  };

  virtual ~SessionFactory() = default;
  /// `peer` is the address as text, empty for a Unix socket. `outlet` outlives the session.
  virtual std::unique_ptr<Session> make(std::string_view peer, Outlet& outlet) = 0;
  /// What a connection above the limit is told before it is closed.
  virtual std::string_view refusal() const = 0;
};

}  // namespace ratel
