#include "net/name_resolver.h"

#include <netdb.h>

#include <cstring>
#include <memory>

namespace ratel {
namespace {

std::vector<SocketAddress> ask_system(const Address& address, int flags, std::string& error) {
  std::vector<SocketAddress> found;
  if (address.is_unix()) {
    SocketAddress& local = found.emplace_back();
    local.local = {.sun_family = AF_UNIX, .sun_path = {}};
    address.path.copy(local.local.sun_path, sizeof local.local.sun_path - 1);
    local.length = sizeof local.local;
    return found;
  }
  const addrinfo hints{
      .ai_flags = AI_NUMERICSERV | flags, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_protocol = 0};
  addrinfo* first = nullptr;
  if (const int code = ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &first)) {
    error = std::string("cannot resolve `") + address.host + "`: " + ::gai_strerror(code);
    return found;
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(first, &::freeaddrinfo);
  for (const addrinfo* each = first; each != nullptr; each = each->ai_next) {
    SocketAddress& one = found.emplace_back();
    std::memcpy(&one.storage, each->ai_addr, each->ai_addrlen);
    one.length = each->ai_addrlen;
  }
  return found;
}

}  // namespace

std::vector<SocketAddress> addresses_of_number(const Address& address) {
  std::string ignored;
  return ask_system(address, AI_NUMERICHOST, ignored);
}

NameResolver::NameResolver()
    : NameResolver([](const Address& address, std::string& error) { return ask_system(address, 0, error); }) {}

NameResolver::NameResolver(LookUp look_up) : look_up_(std::move(look_up)), thread_([this] { run(); }) {}

NameResolver::~NameResolver() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void NameResolver::resolve(const Address& address, EventLoop& loop, Done done) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < kWaitingMax) {
      waiting_.push_back({address, &loop, std::move(done)});
      changed_.notify_one();
      return;
    }
  }
  loop.post([done = std::move(done)] { done({}, "too many names wait to be resolved"); });
}

void NameResolver::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    std::string error;
    std::vector<SocketAddress> found = look_up_(next.address, error);
    next.loop->post(
        [done = std::move(next.done), found = std::move(found), error = std::move(error)] { done(found, error); });
    lock.lock();
  }
}

}  // namespace ratel
