#include "net/name_resolver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "net/system_clock.h"

namespace ratel {
namespace {

TEST(NameResolver, TellsNumbersAndPathsAtOnce) {
  struct Case {
    Address address;
    int family;  // 0: it is a name
  };
  const Case cases[] = {
      {{.host = "127.0.0.1", .port = 1, .path = {}}, AF_INET},
      {{.host = "::1", .port = 1, .path = {}}, AF_INET6},
      {{.host = {}, .port = 0, .path = "/run/x"}, AF_UNIX},
      {{.host = "localhost", .port = 1, .path = {}}, 0},
  };
  for (const Case& c : cases) {
    const std::vector<SocketAddress> found = addresses_of_number(c.address);
    ASSERT_EQ(found.size(), c.family == 0 ? 0U : 1U);
    if (c.family != 0) {
      EXPECT_EQ(found.front().generic.sa_family, c.family);
    }
  }
}

TEST(NameResolver, RefusesMoreThanItsBoundAndAnswersTheRestInTheirTurn) {
  SystemClock clock;
  EventLoop loop(clock, {.tick = [] {}, .turn_ended = [] {}});
  std::promise<void> begun, released;
  std::atomic<bool> first = true;
  NameResolver resolver([&](const Address& address, std::string& error) {
    if (first.exchange(false)) {
      begun.set_value();
      released.get_future().wait();
    }
    error = "no " + address.host;
    return std::vector<SocketAddress>();
  });
  std::vector<std::string> errors;
  const auto resolve = [&](const std::string& host) {
    resolver.resolve({.host = host, .port = 1, .path = {}}, loop,
                     [&](const std::vector<SocketAddress>&, const std::string& error) { errors.push_back(error); });
  };
  resolve("first");
  begun.get_future().wait();
  for (std::size_t i = 0; i <= NameResolver::kWaitingMax; ++i) resolve("other");
  while (errors.empty()) loop.turn();
  EXPECT_EQ(errors, std::vector<std::string>{"too many names wait to be resolved"});
  released.set_value();
  while (errors.size() < 2 + NameResolver::kWaitingMax) loop.turn();
  EXPECT_EQ(errors[1], "no first");
  EXPECT_EQ(errors.back(), "no other");
}

TEST(NameResolver, ResolvesANameOnItsThread) {
  SystemClock clock;
  EventLoop loop(clock, {.tick = [] {}, .turn_ended = [] {}});
  NameResolver resolver;
  std::vector<SocketAddress> found;
  resolver.resolve({.host = "localhost", .port = 80, .path = {}}, loop,
                   [&](std::vector<SocketAddress> addresses, const std::string&) { found = std::move(addresses); });
  EXPECT_TRUE(found.empty());
  while (found.empty()) loop.turn();
  EXPECT_TRUE(found.front().generic.sa_family == AF_INET || found.front().generic.sa_family == AF_INET6);
}

}  // namespace
}  // namespace ratel
