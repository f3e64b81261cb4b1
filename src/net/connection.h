#pragma once
// A session on a socket: bytes in, bytes out, and an end to peers that are slow, silent or too many.
// Belongs to one event loop.

#include <memory>
#include <string_view>
#include <vector>

#include "net/deadlines.h"
#include "net/event_loop.h"
#include "net/fd.h"
#include "net/limits.h"
#include "wire/session.h"

namespace ratel {

class Connections;

class Connection final : public EventLoop::Source, public SessionFactory::Outlet, public Deadlines::Entry {
 public:
  Connection(Connections& owner, std::size_t place, Fd fd, ListenerCounts& counts);
  ~Connection() override;

  // Each of these may destroy the connection.
  void start(std::unique_ptr<Session> session);
  void refuse(std::string_view text);
  void ready(std::uint32_t events) override;
  void answered();  // an answer has come outside of a read
  void drain();
  void visit();  // its deadline may have passed

  void wake() override;

 private:
  friend class Connections;

  std::size_t receive();
  void feed(std::string_view bytes);
  void settle();
  void exchange();
  void read_the_rest();
  void send();
  void finish();
  void linger();
  void discard();
  void close();
  void time_out();
  bool charge(std::size_t bytes);
  void shed();
  void set_interest();
  void set_deadline();
  Instant now() const;

  Connections& owner_;
  std::size_t place_;  // in the owner's list
  Fd fd_;
  ListenerCounts& counts_;
  std::unique_ptr<Session> session_;  // none while lingering
  std::uint32_t interest_ = 0;
  bool watched_ = false;
  bool draining_ = false;
  bool in_message_ = false;
  bool end_of_input_ = false;
  bool held_back_ = false;  // the session may have input that it did not want to go on with
  bool blocked_ = false;  // the socket takes no more output for now
  bool broken_ = false;
  bool sent_ = false;  // something, since the last settle()
  bool woken_ = false;
  bool refused_ = false;
  Micros active_us_ = 0;         // when the last byte came or went
  Micros began_us_ = 0;
  Micros taken_us_ = 0;    // while output waits: when the peer last took kTakenBytesMin of it
  std::size_t taken_ = 0;  // of output, since then
  bool unsent_ = false;    // output waits
  Micros message_began_us_ = 0;  // while in_message_
  Micros due_us_ = Deadlines::kNone_us;
  std::size_t charged_ = 0;  // of the bytes that all may hold
};

/// The connections of one event loop.
class Connections {
 public:
  /// `totals` counts for all loops against the limits.
  Connections(EventLoop& loop, const ConnectionLimits& limits, Totals& totals);

  /// Serves the peer, or refuses it.
  void add(Fd fd, std::string_view peer, SessionFactory& factory, ListenerCounts& counts);

  /// Once a second: ends what is too slow.
  void tick();
  /// After the events of a turn: sends answers that came outside of a read.
  void turn_ended();

  /// Answers what has arrived, then closes everything.
  void drain();
  /// Closes everything now.
  void close_all();
  bool empty() const { return all_.empty(); }

 private:
  friend class Connection;

  void remove(Connection& connection);

  EventLoop& loop_;
  const ConnectionLimits limits_;
  Totals& totals_;
  Deadlines deadlines_;
  std::vector<std::unique_ptr<Connection>> all_;
  std::vector<Connection*> woken_;
  std::size_t refusals_ = 0;
};

}  // namespace ratel
