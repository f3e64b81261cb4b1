#include "net/store_sockets.h"

#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace ratel {
namespace {

std::string words_of(int error) {
  return std::error_code(error, std::generic_category()).message();
}

void set(int fd, int level, int option, int value) {
  // What a kind of socket does not know it does without.
  static_cast<void>(::setsockopt(fd, level, option, &value, sizeof value));
}

}  // namespace

/// One connection of a link, from its dialling until the link hangs up.
class StoreSockets::Socket final : public EventLoop::Source {
 public:
  Socket(StoreSockets& owner, Link& link) : owner_(owner), link_(link) {}
  ~Socket() { end(); }

  Link& link() { return link_; }

  void dial() {
    found_ = addresses_of_number(link_.address());
    if (!found_.empty()) return connect_to_next();
    use_known_us_ = owner_.loop_.now().monotonic_us + kUseKnown_us;
    asked_ = owner_.resolver_.resolve(link_.address(), owner_.loop_, [this](Found found) {
      if (stage_ != Stage::kResolving) return;
      if (found.addresses.empty()) return link_.lost(found.error, now());
      connect_to(std::move(found.addresses));
    });
  }

  /// When to make do with what is known of the name; kNever_us for no time.
  Micros use_known_us() const { return stage_ == Stage::kResolving ? use_known_us_ : kNever_us; }
  void use_known() {
    use_known_us_ = kNever_us;
    std::vector<SocketAddress> known = owner_.resolver_.known(link_.address());
    if (!known.empty()) connect_to(std::move(known));
  }

  void flush() {
    if (stage_ != Stage::kOpen) return;
    if (tls_) return flush_tls();
    while (true) {
      const std::string_view output = link_.output();
      if (output.empty()) return want(EPOLLIN);
      const ssize_t size = ::send(fd_.get(), output.data(), output.size(), MSG_NOSIGNAL);
      if (size > 0) {
        link_.wrote(static_cast<std::size_t>(size));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return want(EPOLLIN | EPOLLOUT);
      } else if (errno != EINTR) {
        return link_.lost("cannot send: " + words_of(errno), now());
      }
    }
  }

  /// The link is told no more.
  void end() {
    stage_ = Stage::kEnded;
    asked_ = {};
    tls_.reset();
    if (fd_) owner_.loop_.forget(fd_.get());
    fd_.close();
  }

 private:
  enum class Stage : std::uint8_t { kResolving, kConnecting, kHandshake, kOpen, kEnded };

  Instant now() const { return owner_.clock_.now(); }

  void ready(std::uint32_t events) override {
    switch (stage_) {
      case Stage::kResolving:
      case Stage::kEnded:
        return;
      case Stage::kConnecting:
        return connected();
      case Stage::kHandshake:
        return shake_hands();
      case Stage::kOpen:
        if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0 || tls_) receive();
        if (stage_ == Stage::kOpen && (events & EPOLLOUT) != 0) flush();
    }
  }

  void connect_to(std::vector<SocketAddress> addresses) {
    found_ = std::move(addresses);
    const std::size_t first = owner_.dials_++ % found_.size();
    std::rotate(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(first), found_.end());
    connect_to_next();
  }

  void connect_to_next() {
    stage_ = Stage::kConnecting;
    while (next_ < found_.size()) {
      const SocketAddress& to = found_[next_++];
      const int family = to.generic.sa_family;
      if (fd_) owner_.loop_.forget(fd_.get());
      fd_ = Fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      if (!fd_) return link_.lost("no socket: " + words_of(errno), now());
      if (family != AF_UNIX) {
        set(fd_.get(), IPPROTO_TCP, TCP_NODELAY, 1);
        set(fd_.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(kUnacknowledged_ms));
        set(fd_.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
        set(fd_.get(), IPPROTO_TCP, TCP_KEEPIDLE, kKeepaliveIdle_s);
        set(fd_.get(), IPPROTO_TCP, TCP_KEEPINTVL, kKeepaliveInterval_s);
        set(fd_.get(), IPPROTO_TCP, TCP_KEEPCNT, kKeepaliveProbes);
      }
      const int result = ::connect(fd_.get(), &to.generic, to.length);
      if (result != 0 && errno != EINPROGRESS) {
        failure_ = words_of(errno);
        fd_.close();
        continue;
      }
      wanted_ = EPOLLOUT;
      if (!owner_.loop_.watch(fd_.get(), wanted_, *this)) {
        fd_.close();
        return link_.lost("too many descriptors are watched", now());
      }
      return;  // it is writable when it is connected
    }
    link_.lost("cannot connect: " + failure_, now());
  }

  void connected() {
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    if (error != 0) {
      failure_ = words_of(error);
      return connect_to_next();
    }
    if (owner_.tls_ == nullptr) return open();
    tls_ = owner_.tls_->begin(fd_.get(), link_.address().host);
    stage_ = Stage::kHandshake;
    shake_hands();
  }

  void open() {
    stage_ = Stage::kOpen;
    want(EPOLLIN);
    link_.connected(now());
  }

  void shake_hands() {
    ::ERR_clear_error();
    const int result = ::SSL_do_handshake(tls_.get());
    if (result == 1) return open();
    switch (::SSL_get_error(tls_.get(), result)) {
      case SSL_ERROR_WANT_READ:
        return want(EPOLLIN);
      case SSL_ERROR_WANT_WRITE:
        return want(EPOLLOUT);
      default:
        break;
    }
    const long verdict = ::SSL_get_verify_result(tls_.get());
    const std::string why = verdict != X509_V_OK ? ::X509_verify_cert_error_string(verdict)
                                                 : tls_error("the other side does not speak it, or hung up");
    link_.lost("TLS: " + why, now());
  }

  void receive() {
    if (tls_) return receive_tls();
    const std::span<char> room = owner_.loop_.scratch();
    const ssize_t size = ::recv(fd_.get(), room.data(), room.size(), 0);
    if (size > 0) return link_.receive({room.data(), static_cast<std::size_t>(size)}, now());
    if (size == 0) return link_.lost("the server hung up", now());
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) link_.lost(words_of(errno), now());
  }

  void receive_tls() {
    // To the last byte that TLS has taken from the socket: nothing would announce what it keeps.
    while (stage_ == Stage::kOpen) {
      const std::span<char> room = owner_.loop_.scratch();
      ::ERR_clear_error();
      const int size = ::SSL_read(tls_.get(), room.data(), static_cast<int>(room.size()));
      if (size > 0) {
        link_.receive({room.data(), static_cast<std::size_t>(size)}, now());
        continue;
      }
      switch (::SSL_get_error(tls_.get(), size)) {
        case SSL_ERROR_WANT_READ:
          return flush_tls();  // a write may have waited for what was just read
        case SSL_ERROR_WANT_WRITE:
          return want(EPOLLIN | EPOLLOUT);
        default:
          return link_.lost("TLS: " + tls_error("the server hung up"), now());
      }
    }
  }

  /// TLS wants the same bytes again when it could not send them, and the link may take back what it has not written. So
  /// what TLS is given counts as written.
  void flush_tls() {
    while (stage_ == Stage::kOpen) {
      if (staged_.empty()) {
        staged_ = link_.output().substr(0, kTlsStagedMax);
        link_.wrote(staged_.size());
        if (staged_.empty()) return want(EPOLLIN);
      }
      ::ERR_clear_error();
      const int size = ::SSL_write(tls_.get(), staged_.data(), static_cast<int>(staged_.size()));
      if (size > 0) {
        staged_.erase(0, static_cast<std::size_t>(size));
        continue;
      }
      switch (::SSL_get_error(tls_.get(), size)) {
        case SSL_ERROR_WANT_READ:
          return want(EPOLLIN);
        case SSL_ERROR_WANT_WRITE:
          return want(EPOLLIN | EPOLLOUT);
        default:
          return lost_in_writing();
      }
    }
  }

  /// Why, the server may have said before it hung up: that is still to be read.
  void lost_in_writing() {
    char ignored = 0;
    ::ERR_clear_error();
    static_cast<void>(::SSL_read(tls_.get(), &ignored, 1));
    link_.lost("TLS: " + tls_error("the server hung up"), now());
  }

  void want(std::uint32_t events) {
    if (events == wanted_) return;
    wanted_ = events;
    owner_.loop_.change(fd_.get(), events, *this);
  }

  StoreSockets& owner_;
  Link& link_;
  Stage stage_ = Stage::kResolving;
  NameResolver::Asked asked_;  // kept when it is not waited for, so that the name is looked up nonetheless
  Micros use_known_us_ = kNever_us;
  std::vector<SocketAddress> found_;
  std::size_t next_ = 0;
  std::string failure_ = "the name has no address";
  Fd fd_;
  std::uint32_t wanted_ = 0;
  TlsClient::Connection tls_{nullptr, &::SSL_free};
  std::string staged_;
};

StoreSockets::StoreSockets(EventLoop& loop, const Clock& clock, NameResolver& resolver, const TlsClient* tls)
    : loop_(loop), clock_(clock), resolver_(resolver), tls_(tls) {}

StoreSockets::~StoreSockets() = default;

StoreSockets::Sockets::iterator StoreSockets::find(const Link& link) {
  return std::find_if(sockets_.begin(), sockets_.end(), [&](const auto& each) { return &each->link() == &link; });
}

void StoreSockets::dial(Link& link) {
  to_dial_.push_back(sockets_.emplace_back(std::make_unique<Socket>(*this, link)).get());
}

void StoreSockets::hang_up(Link& link) {
  const auto at = find(link);
  if (at == sockets_.end()) return;
  std::erase(to_dial_, at->get());
  (*at)->end();
  ended_.push_back(std::move(*at));
  sockets_.erase(at);
}

void StoreSockets::turn_ended() {
  // One that fails at once may make room for another.
  while (!to_dial_.empty()) {
    Socket* socket = to_dial_.back();
    to_dial_.pop_back();
    socket->dial();
    next_us_ = std::min(next_us_, socket->use_known_us());
  }
  if (const Micros now_us = loop_.now().monotonic_us; now_us >= next_us_) {
    next_us_ = kNever_us;
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
      if (now_us >= sockets_[i]->use_known_us()) sockets_[i]->use_known();
    }
    for (const auto& socket : sockets_) next_us_ = std::min(next_us_, socket->use_known_us());
  }
  for (std::size_t i = 0; i < woken_.size(); ++i) {
    if (const auto at = find(*woken_[i]); at != sockets_.end()) (*at)->flush();
  }
  woken_.clear();
  ended_.clear();
}

}  // namespace ratel
