// Tested by name_resolver_test.cpp and blocking_client_test.cpp

#include "net/socket_address.h"

#include <netdb.h>

#include <cstring>
#include <memory>

namespace ratel {
namespace {

Found ask_system(const Address& address, int flags) {
  Found found;
  if (address.is_unix()) {
    SocketAddress& local = found.addresses.emplace_back();
    local.local = {.sun_family = AF_UNIX, .sun_path = {}};
    address.path.copy(local.local.sun_path, sizeof local.local.sun_path - 1);
    local.length = sizeof local.local;
    return found;
  }
  const addrinfo hints{
      .ai_flags = AI_NUMERICSERV | flags, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_protocol = 0};
  addrinfo* first = nullptr;
  if (const int code = ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &first)) {
    found.error = "cannot resolve `" + address.host + "`: " + ::gai_strerror(code);
    found.may_pass = code == EAI_AGAIN || code == EAI_MEMORY || code == EAI_SYSTEM;
    return found;
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(first, &::freeaddrinfo);
  for (const addrinfo* each = first; each != nullptr && found.addresses.size() < kFoundMax; each = each->ai_next) {
    SocketAddress& one = found.addresses.emplace_back();
    std::memcpy(&one.storage, each->ai_addr, each->ai_addrlen);
    one.length = each->ai_addrlen;
  }
  return found;
}

}  // namespace

Found look_up(const Address& address) {
  return ask_system(address, 0);
}

std::vector<SocketAddress> addresses_of_number(const Address& address) {
  return ask_system(address, AI_NUMERICHOST).addresses;
}

}  // namespace ratel
