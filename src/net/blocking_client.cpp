#include "net/blocking_client.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>

namespace ratel {
namespace {

constexpr Micros kPollMax_ms = 3'600'000;  // poll() takes an int; longer waits take turns

Micros monotonic_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

Error BlockingClient::failed(std::string_view what, int error) const {
  return {ErrorCode::kUnavailable,
          address_ + ": " + std::string(what) + ": " + std::error_code(error, std::generic_category()).message()};
}

Result<BlockingClient> BlockingClient::connect(const Address& address, Micros timeout_us) {
  BlockingClient client(format_address(address), monotonic_us() + timeout_us);
  const Found found = look_up(address);
  if (found.addresses.empty()) return Error{ErrorCode::kUnavailable, client.address_ + ": " + found.error};
  Status status = Error{};
  for (const SocketAddress& each : found.addresses) {
    status = client.connect_to(each);
    if (status.ok()) return client;
  }
  return status.error();
}

Status BlockingClient::connect_to(const SocketAddress& to) {
  socket_ = Fd(::socket(to.generic.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket_) return failed("cannot connect", errno);
  if (::connect(socket_.get(), &to.generic, to.length) == 0) return Done{};
  if (errno != EINPROGRESS) return failed("cannot connect", errno);
  if (const Status ready = wait(POLLOUT); !ready.ok()) return ready;
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) return failed("cannot connect", error);
  return Done{};
}

Status BlockingClient::wait(short events) const {
  while (true) {
    const Micros left_us = deadline_us_ - monotonic_us();
    pollfd polled{.fd = socket_.get(), .events = events, .revents = 0};
    const auto left_ms = static_cast<int>(std::min(ceil_div(std::max<Micros>(left_us, 0), 1'000), kPollMax_ms));
    const int ready = left_us <= 0 ? 0 : ::poll(&polled, 1, left_ms);
    if (ready > 0) return Done{};
    if (ready == 0 && left_us <= kPollMax_ms * 1'000) {
      return Error{ErrorCode::kUnavailable, address_ + ": no answer in time"};
    }
    if (ready < 0 && errno != EINTR) return failed("cannot wait", errno);
  }
}

Status BlockingClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (const Status ready = wait(POLLOUT); !ready.ok()) return ready;
    } else if (errno != EINTR) {
      return failed("cannot send", errno);
    }
  }
  return Done{};
}

Status BlockingClient::receive(std::string& input) {
  std::array<char, 16 * 1024> chunk;
  while (true) {
    if (const Status ready = wait(POLLIN); !ready.ok()) return ready;
    const ssize_t received = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
    if (received > 0) {
      input.append(chunk.data(), static_cast<std::size_t>(received));
      return Done{};
    }
    if (received == 0) return Error{ErrorCode::kUnavailable, address_ + ": closed before it answered"};
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) return failed("cannot receive", errno);
  }
}

}  // namespace ratel
