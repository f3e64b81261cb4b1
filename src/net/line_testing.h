#pragma once
// For tests: a session that speaks lines, and a client with a real socket.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/check.h"
#include "net/fd.h"
#include "wire/session.h"

namespace ratel {

/// Answers each line with itself, `stranger` without counting it for a greeting; `big N` with N bytes, `quit` with
/// `bye`, `later` when told to.
class LineSession final : public Session {
 public:
  static constexpr std::size_t kUnsentMax = 64 * 1024;

  LineSession(SessionFactory::Outlet& outlet, std::vector<LineSession*>& waiting)
      : outlet_(outlet), waiting_for_answers_(waiting) {}

  void receive(std::string_view bytes, Instant) override {
    input_ += bytes;
    parse();
    if (draining_) finish();
  }
  void end_of_input(Instant) override {}
  void expire(Instant) override {
    output_ += "too slow\n";
    finished_ = true;
  }
  void drain(Instant) override {
    draining_ = true;
    finish();
  }
  void shed(Instant) override {
    output_ += "no room\n";
    input_.clear();
    finished_ = true;
  }
  std::size_t held() const override { return input_.size() + output_.size(); }
  bool wants_input() const override { return !later_ && output_.size() <= kUnsentMax && !finished_; }
  bool finished() const override { return finished_; }
  Waiting waiting() const override {
    if (later_) return Waiting::kAnswer;
    if (!greeted_ && input_.empty()) return Waiting::kGreeting;
    return input_.empty() ? Waiting::kIdle : Waiting::kMessage;
  }

  void answer(std::string_view text) {
    output_ += text;
    later_ = false;
    if (draining_) finish();
    outlet_.wake();
  }

 private:
  /// When every whole line is answered.
  void finish() { finished_ = !later_ && input_.find('\n') == std::string::npos; }
  void parse() {
    std::size_t begin = 0;
    std::size_t end = 0;
    while (wants_input() && (end = input_.find('\n', begin)) != std::string::npos) {
      const std::string line = input_.substr(begin, end + 1 - begin);
      greeted_ = line != "stranger\n" || greeted_;
      begin = end + 1;
      if (line == "quit\n") {
        output_ += "bye\n";
        finished_ = true;
      } else if (line == "later\n") {
        later_ = true;
        waiting_for_answers_.push_back(this);
      } else if (line.starts_with("big ")) {
        output_ += std::string(static_cast<std::size_t>(std::atoi(line.c_str() + 4)), 'x');
      } else {
        output_ += line;
      }
    }
    input_.erase(0, begin);
  }

  SessionFactory::Outlet& outlet_;
  std::vector<LineSession*>& waiting_for_answers_;
  std::string input_;
  bool draining_ = false;
  bool finished_ = false;
  bool later_ = false;
  bool greeted_ = false;
};

class LineFactory final : public SessionFactory {
 public:
  std::unique_ptr<Session> make(std::string_view peer, Outlet& outlet) override {
    peers.emplace_back(peer);
    auto session = std::make_unique<LineSession>(outlet, waiting);
    last = session.get();
    return session;
  }
  std::string_view refusal() const override { return "full\n"; }

  std::vector<std::string> peers;
  LineSession* last = nullptr;          // made
  std::vector<LineSession*> waiting;  // with a `later` to answer
};

/// A socket whose every wait runs the server in between.
class Peer {
 public:
  /// `address` as Listening gives it.
  explicit Peer(std::string_view address) {
    if (address.starts_with("unix:")) {
      sockaddr_un name{};
      name.sun_family = AF_UNIX;
      address.substr(5).copy(name.sun_path, sizeof name.sun_path - 1);
      fd_ = Fd(socket(AF_UNIX, SOCK_STREAM, 0));
      connected_ = connect(fd_.get(), reinterpret_cast<sockaddr*>(&name), sizeof name) == 0;
      return;
    }
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(static_cast<std::uint16_t>(std::atoi(address.data() + address.rfind(':') + 1)));
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fd_ = Fd(socket(AF_INET, SOCK_STREAM, 0));
    connected_ = connect(fd_.get(), reinterpret_cast<sockaddr*>(&name), sizeof name) == 0;
  }

  bool connected() const { return connected_; }
  int fd() const { return fd_.get(); }

  /// What fits now; the number of bytes taken.
  std::size_t send(std::string_view bytes) {
    const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return n < 0 ? 0 : static_cast<std::size_t>(n);
  }
  void end_of_input() { shutdown(fd_.get(), SHUT_WR); }
  /// Ends with a reset.
  void reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    fd_.close();
  }
  void close() { fd_.close(); }

  /// What is there now, up to `most` bytes.
  std::string receive(std::size_t most = 1 << 16) {
    std::string bytes(most, '\0');
    const ssize_t n = recv(fd_.get(), bytes.data(), most, MSG_DONTWAIT);
    if (n == 0) ended_ = true;
    if (n < 0 && errno != EAGAIN) reset_ = ended_ = true;
    bytes.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
    return bytes;
  }
  bool ended() const { return ended_; }       // the server will send no more
  bool was_reset() const { return reset_; }

 private:
  Fd fd_;
  bool connected_ = false;
  bool ended_ = false;
  bool reset_ = false;
};

}  // namespace ratel
