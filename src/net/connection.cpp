#include "net/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "wire/buffer.h"

namespace ratel {

Connection::Connection(Connections& owner, std::size_t place, Fd fd, ListenerCounts& counts)
    : owner_(owner), place_(place), fd_(std::move(fd)), counts_(counts), active_us_(now().monotonic_us) {
  began_us_ = active_us_;
  counts_.open.fetch_add(1, std::memory_order_relaxed);
}

Connection::~Connection() {
  charge(0);
  counts_.open.fetch_sub(1, std::memory_order_relaxed);
}

Instant Connection::now() const { return owner_.loop_.now(); }

void Connection::start(std::unique_ptr<Session> session) {
  session_ = std::move(session);
  interest_ = EPOLLIN;
  watched_ = owner_.loop_.watch(fd_.get(), interest_, *this);
  if (!watched_) return close();
  settle();
}

void Connection::refuse(std::string_view text) {
  refused_ = true;
  ++owner_.refusals_;
  interest_ = EPOLLIN;
  watched_ = owner_.loop_.watch(fd_.get(), interest_, *this);
  if (!watched_) return close();
  // A new socket has room for one line; if it has not, the peer learns it from the close.
  [[maybe_unused]] const auto sent = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  linger();
}

void Connection::ready(std::uint32_t events) {
  if (!session_) return discard();
  if ((events & EPOLLOUT) != 0) blocked_ = false;
  if ((events & ~std::uint32_t{EPOLLOUT}) != 0) {
    // An error or hang-up is told even to those who do not read; whoever hung up will not read either.
    if ((interest_ & EPOLLIN) == 0) return close();
    receive();
  }
  settle();
}

/// Returns how many bytes came.
std::size_t Connection::receive() {
  const std::span<char> scratch = owner_.loop_.scratch();
  const ssize_t n = recv(fd_.get(), scratch.data(), scratch.size(), MSG_DONTWAIT);
  if (n > 0) {
    active_us_ = now().monotonic_us;
    feed({scratch.data(), static_cast<std::size_t>(n)});
    return static_cast<std::size_t>(n);
  }
  if (n == 0) {
    end_of_input_ = true;
    session_->end_of_input(now());
  } else if (errno != EAGAIN && errno != EINTR) {
    broken_ = true;
  }
  return 0;
}

void Connection::feed(std::string_view bytes) {
  held_back_ = false;
  const std::size_t unsent = session_->output().size();
  session_->receive(bytes, now());
  const bool in_message = session_->waiting() == Session::Waiting::kMessage;
  // An answer means that the message whose time ran is complete, and this is another's beginning.
  if (in_message && (!in_message_ || session_->output().size() > unsent)) message_began_us_ = now().monotonic_us;
  in_message_ = in_message;
}

/// After anything has happened: sends what there is, then closes or waits for the right thing.
void Connection::settle() {
  sent_ = false;
  exchange();
  if (std::exchange(draining_, false) && !broken_) {
    session_->drain(now());
    exchange();
  }
  if (broken_) return close();
  const bool over = session_->finished() || (end_of_input_ && session_->waiting() != Session::Waiting::kAnswer);
  if (over && session_->output().empty()) return finish();
  if (!charge(session_->held())) return shed();
  if (session_->output().empty()) {
    unsent_ = false;
  } else if (!std::exchange(unsent_, true)) {
    taken_us_ = now().monotonic_us;
    taken_ = 0;
  }
  set_interest();
  set_deadline();
}

/// Sends, and lets the session go on with what it held back for want of room, while there is room. After a few rounds
/// others have their turn: what the last round made stays in the output, and the socket that would take it is ready for
/// that in the next turn.
void Connection::exchange() {
  for (int round = 0; !session_->output().empty() && !blocked_ && !broken_; ++round) {
    if (!session_->wants_input()) held_back_ = true;
    send();
    if (blocked_ || broken_ || !held_back_ || session_->finished()) break;
    feed({});
    if (round == kRoundsPerTurn) break;
  }
}

void Connection::send() {
  std::string& output = session_->output();
  const ssize_t n = ::send(fd_.get(), output.data(), output.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n < 0) {
    blocked_ = errno == EAGAIN || errno == EINTR;
    broken_ = !blocked_;
    return;
  }
  sent_ = true;
  active_us_ = now().monotonic_us;
  taken_ += static_cast<std::size_t>(n);
  if (taken_ >= kTakenBytesMin) {
    taken_us_ = active_us_;
    taken_ = 0;
  }
  output.erase(0, static_cast<std::size_t>(n));
  give_back_unused(output);
  blocked_ = !output.empty();
  // The time in which nothing was read does not count against a message.
  if (!blocked_ && (interest_ & EPOLLIN) == 0) message_began_us_ = active_us_;
}

void Connection::set_interest() {
  const std::uint32_t wanted = (session_->wants_input() && !end_of_input_ ? std::uint32_t{EPOLLIN} : 0U) |
                               (session_->output().empty() ? 0U : std::uint32_t{EPOLLOUT});
  if (wanted == interest_) return;
  interest_ = wanted;
  owner_.loop_.change(fd_.get(), interest_, *this);
}

void Connection::set_deadline() {
  const ConnectionLimits& limits = owner_.limits_;
  due_us_ = Deadlines::kNone_us;
  switch (session_->waiting()) {
    case Session::Waiting::kGreeting: due_us_ = began_us_ + limits.greeting_us; break;
    case Session::Waiting::kIdle:
      if (limits.idle_us != 0) due_us_ = active_us_ + limits.idle_us;
      break;
    case Session::Waiting::kMessage: due_us_ = message_began_us_ + limits.message_us; break;
    case Session::Waiting::kAnswer: break;
  }
  if (unsent_) due_us_ = std::min(due_us_, taken_us_ + limits.stalled_us);
  owner_.deadlines_.schedule(*this, due_us_);
}

void Connection::visit() {
  if (now().monotonic_us < due_us_) return owner_.deadlines_.schedule(*this, due_us_);
  if (!session_) return close();
  time_out();
}

void Connection::time_out() {
  counts_.timed_out.fetch_add(1, std::memory_order_relaxed);
  if (!session_->output().empty()) return close();
  session_->expire(now());
  settle();
}

/// Counts what is held. False when that is more than before, and too much.
bool Connection::charge(std::size_t bytes) {
  bytes -= bytes % kHeldStepBytes;
  if (bytes == charged_) return true;
  const std::size_t added = bytes - charged_;  // may be below zero, and then wraps as the sum does
  const std::size_t sum = owner_.totals_.held_bytes.fetch_add(added, std::memory_order_relaxed) + added;
  const bool grew = bytes > charged_;
  charged_ = bytes;
  return !grew || sum <= owner_.limits_.held_bytes_max;
}

/// Who does not take what it is owed cannot be told either.
void Connection::shed() {
  counts_.shed.fetch_add(1, std::memory_order_relaxed);
  if (!session_->output().empty()) return close();
  session_->shed(now());
  settle();
}

void Connection::wake() {
  if (std::exchange(woken_, true)) return;
  owner_.woken_.push_back(this);
}

void Connection::answered() {
  woken_ = false;
  if (!session_) return;
  held_back_ = true;
  settle();
}

void Connection::drain() {
  if (!session_) return;
  draining_ = true;
  if ((interest_ & EPOLLIN) != 0) read_the_rest();
  settle();
}

/// What the peer has sent by now is answered, as far as it takes answers.
void Connection::read_the_rest() {
  std::size_t left = kDrainBytesMax;
  while (left > 0 && session_->wants_input() && !end_of_input_ && !broken_ && !blocked_) {
    const std::size_t came = receive();
    if (came == 0) return;
    left -= std::min(left, came);
    exchange();
  }
}

void Connection::finish() {
  if (end_of_input_ || !sent_) return close();
  linger();
}

/// Says that no more will come, and lets the peer read in peace.
void Connection::linger() {
  session_.reset();
  charge(0);
  shutdown(fd_.get(), SHUT_WR);
  if (interest_ != EPOLLIN) owner_.loop_.change(fd_.get(), EPOLLIN, *this);
  due_us_ = now().monotonic_us + kLinger_us;
  owner_.deadlines_.schedule(*this, due_us_);
}

void Connection::discard() {
  const std::span<char> scratch = owner_.loop_.scratch();
  const ssize_t n = recv(fd_.get(), scratch.data(), scratch.size(), MSG_DONTWAIT);
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) close();
}

void Connection::close() { owner_.remove(*this); }

Connections::Connections(EventLoop& loop, const ConnectionLimits& limits, Totals& totals)
    : loop_(loop), limits_(limits), totals_(totals), deadlines_(loop.now().monotonic_us) {}

void Connections::add(Fd fd, std::string_view peer, SessionFactory& factory, ListenerCounts& counts) {
  const bool refused = totals_.open.fetch_add(1, std::memory_order_relaxed) >= limits_.connections_max;
  counts.accepted.fetch_add(1, std::memory_order_relaxed);
  if (refused) counts.refused.fetch_add(1, std::memory_order_relaxed);
  if (refused && refusals_ == kRefusalsMax) {
    totals_.open.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  // Those that are only being told hold no place, or a storm of them would keep everybody out.
  if (refused) totals_.open.fetch_sub(1, std::memory_order_relaxed);
  all_.push_back(std::make_unique<Connection>(*this, all_.size(), std::move(fd), counts));
  Connection& connection = *all_.back();
  if (refused) {
    connection.refuse(factory.refusal());
  } else {
    connection.start(factory.make(peer, connection));
  }
}

void Connections::remove(Connection& connection) {
  if (connection.watched_) loop_.forget(connection.fd_.get());
  if (connection.woken_) woken_.erase(std::find(woken_.begin(), woken_.end(), &connection));
  if (connection.refused_) {
    --refusals_;
  } else {
    totals_.open.fetch_sub(1, std::memory_order_relaxed);
  }
  const std::size_t place = connection.place_;
  std::swap(all_[place], all_.back());
  all_[place]->place_ = place;
  all_.pop_back();
}

void Connections::tick() {
  deadlines_.advance(loop_.now().monotonic_us,
                     [](Deadlines::Entry& entry) { static_cast<Connection&>(entry).visit(); });
}

void Connections::turn_ended() {
  while (!woken_.empty()) {
    Connection& connection = *woken_.back();
    woken_.pop_back();
    connection.answered();
  }
}

void Connections::drain() {
  // From the back: whoever closes gives its place to one that has been seen.
  for (std::size_t i = all_.size(); i-- > 0;) all_[i]->drain();
}

void Connections::close_all() {
  while (!all_.empty()) all_.back()->close();
}

}  // namespace ratel
