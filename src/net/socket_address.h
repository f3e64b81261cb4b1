#pragma once
// Where an address leads, as the system takes it. Any thread.

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/address.h"

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

/// Addresses of one name; connecting tries them in turn, and more than a few are tried in vain.
inline constexpr std::size_t kFoundMax = 32;

struct Found {
  std::vector<SocketAddress> addresses;  // kFoundMax at most
  std::string error;                     // where there are none: why
  bool may_pass = false;                 // the error: nobody knows at the moment, which is not that there are none
};

/// Asks the system, which may take seconds.
Found look_up(const Address& address);

/// What can be told at once: paths and numbers, but no names, which give nothing.
std::vector<SocketAddress> addresses_of_number(const Address& address);

}  // namespace ratel
