#include "net/listen.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "net/limits.h"

namespace ratel {
namespace {

constexpr mode_t kSocketFileMode = 0660;

Error cannot_listen(const Address& address, std::string_view why) {
  return {ErrorCode::kConfiguration, "cannot listen on " + format_address(address) + ": " + std::string(why)};
}

Error cannot_listen(const Address& address, int error) {
  return cannot_listen(address, std::system_category().message(error));
}

Fd open_socket(int family) { return Fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

void set(const Fd& fd, int level, int option, int value = 1) {
  CHECK(setsockopt(fd.get(), level, option, &value, sizeof value) == 0);
}

/// Sockets of one loop each, all on the same port.
Result<Listening> listen_on_tcp(const Address& address, const addrinfo& resolved, int sockets) {
  sockaddr_storage bound{};
  std::memcpy(&bound, resolved.ai_addr, resolved.ai_addrlen);
  auto* name = reinterpret_cast<sockaddr*>(&bound);

  Listening result;
  for (int i = 0; i < sockets; ++i) {
    Fd fd = open_socket(resolved.ai_family);
    if (!fd) return cannot_listen(address, errno);
    set(fd, SOL_SOCKET, SO_REUSEADDR);
    // Accepted sockets inherit these: answers do not wait for more to send, and peers whose machine died are found out.
    set(fd, IPPROTO_TCP, TCP_NODELAY);
    set(fd, SOL_SOCKET, SO_KEEPALIVE);
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, kKeepAlive_s);
    // The first asks for the port alone, so that it fails if anybody has it; only then is the port shared.
    if (i > 0) set(fd, SOL_SOCKET, SO_REUSEPORT);
    if (bind(fd.get(), name, resolved.ai_addrlen) != 0) return cannot_listen(address, errno);
    if (listen(fd.get(), kBacklog) != 0) return cannot_listen(address, errno);
    if (i == 0) {
      if (sockets > 1) set(fd, SOL_SOCKET, SO_REUSEPORT);
      socklen_t length = sizeof bound;
      CHECK(getsockname(fd.get(), name, &length) == 0);
    }
    result.sockets.push_back(std::move(fd));
  }

  Address real;
  char text[INET6_ADDRSTRLEN] = "";
  if (bound.ss_family == AF_INET6) {
    const auto& in6 = reinterpret_cast<const sockaddr_in6&>(bound);
    inet_ntop(AF_INET6, &in6.sin6_addr, text, sizeof text);
    real.port = ntohs(in6.sin6_port);
  } else {
    const auto& in4 = reinterpret_cast<const sockaddr_in&>(bound);
    inet_ntop(AF_INET, &in4.sin_addr, text, sizeof text);
    real.port = ntohs(in4.sin_port);
  }
  real.host = text;
  result.address = format_address(real);
  return result;
}

bool is_loopback(const addrinfo& resolved) {
  if (resolved.ai_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(resolved.ai_addr)->sin6_addr);
  }
  const std::uint32_t host = ntohl(reinterpret_cast<const sockaddr_in*>(resolved.ai_addr)->sin_addr.s_addr);
  return host >> 24 == 127;
}

Result<std::vector<Listening>> listen_on_host(const Address& address, const ListenOptions& options) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (error == EAI_SYSTEM) return cannot_listen(address, errno);
  if (error != 0) return cannot_listen(address, gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);

  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    if (options.beyond_loopback || is_loopback(*one)) continue;
    return cannot_listen(address,
                         "other machines reach it, which needs --password-file (RESP) or --token-file (HTTP), or "
                         "--insecure-listen");
  }
  std::vector<Listening> result;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    auto listening = listen_on_tcp(address, *one, options.sockets);
    if (!listening.ok()) return listening.error();
    result.push_back(std::move(*listening));
    if (address.port == 0) break;  // which port is free on one address says nothing about the other
  }
  return result;
}

/// Whether somebody accepts connections there.
bool is_alive(const sockaddr_un& name) {
  const Fd fd = open_socket(AF_UNIX);
  return connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 || errno != ECONNREFUSED;
}

Result<std::vector<Listening>> listen_on_path(const Address& address, const ListenOptions& options) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (address.path.size() >= sizeof name.sun_path) return cannot_listen(address, ENAMETOOLONG);
  address.path.copy(name.sun_path, address.path.size());

  Fd fd = open_socket(AF_UNIX);
  if (!fd) return cannot_listen(address, errno);
  const auto* generic = reinterpret_cast<const sockaddr*>(&name);
  if (bind(fd.get(), generic, sizeof name) != 0) {
    const int error = errno;
    struct stat file {};
    const bool is_socket = error == EADDRINUSE && lstat(name.sun_path, &file) == 0 && S_ISSOCK(file.st_mode);
    if (!is_socket || is_alive(name)) return cannot_listen(address, error);
    unlink(name.sun_path);
    if (bind(fd.get(), generic, sizeof name) != 0) return cannot_listen(address, errno);
  }
  // Whatever umask the caller has. Nobody can connect before listen(), so nobody gets in while it is another.
  if (chmod(name.sun_path, kSocketFileMode) != 0) return cannot_listen(address, errno);
  if (listen(fd.get(), kBacklog) != 0) return cannot_listen(address, errno);

  Listening result{.address = format_address(address), .sockets = {}};
  for (int i = 1; i < options.sockets; ++i) {
    Fd copy(fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
    if (!copy) return cannot_listen(address, errno);
    result.sockets.push_back(std::move(copy));
  }
  result.sockets.push_back(std::move(fd));
  std::vector<Listening> all;
  all.push_back(std::move(result));
  return all;
}

}  // namespace

Result<std::vector<Listening>> listen_on(const Address& address, const ListenOptions& options) {
  CHECK(options.sockets >= 1);
  return address.is_unix() ? listen_on_path(address, options) : listen_on_host(address, options);
}

}  // namespace ratel
