#pragma once
// Names to addresses, on a thread of its own, since the system's resolver blocks. Any thread may ask.

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/address.h"
#include "net/event_loop.h"

namespace ratel {

struct SocketAddress {
  union {
    sockaddr generic;
    sockaddr_in6 ipv6;
    sockaddr_un local;
    sockaddr_storage storage;
  };
  socklen_t length = 0;
};

/// What an address leads to, as far as that can be told at once: paths and numbers, but no names, which give nothing.
std::vector<SocketAddress> addresses_of_number(const Address& address);

class NameResolver {
 public:
  /// Names that wait. Each belongs to a connection that is being made, and of those there are fewer.
  static constexpr std::size_t kWaitingMax = 256;

  /// Nothing: the name leads nowhere; `error` says why.
  using Done = std::function<void(std::vector<SocketAddress> found, const std::string& error)>;

  /// Blocks as long as it takes; on the resolver's thread.
  using LookUp = std::function<std::vector<SocketAddress>(const Address& address, std::string& error)>;

  NameResolver();  // asks the system
  explicit NameResolver(LookUp look_up);
  ~NameResolver();

  /// Calls `done` on the loop's thread, in a later turn. REQUIRES: the loop outlives the resolver.
  void resolve(const Address& address, EventLoop& loop, Done done);

 private:
  struct Waiting {
    Address address;
    EventLoop* loop;
    Done done;
  };

  void run();

  const LookUp look_up_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace ratel
