#include "net/blocking_client.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/listen.h"

namespace ratel {
namespace {

Listening listen_at(const Address& address) {
  auto listening = listen_on(address, {});
  EXPECT_TRUE(listening.ok());
  return std::move(listening->at(0));
}

/// The server's side of the one connection that was made.
Fd accept_from(const Listening& listening) {
  return Fd(::accept(listening.sockets[0].get(), nullptr, nullptr));
}

TEST(BlockingClient, SendsAndReceivesOverTcpAndUnixSockets) {
  const std::string path = testing::TempDir() + "blocking_client_test." + std::to_string(::getpid());
  for (const Address& wanted : {Address{.host = "127.0.0.1"}, Address{.path = path}}) {
    const Listening listening = listen_at(wanted);
    auto client = BlockingClient::connect(*parse_address(listening.address), 30 * kSecond_us);
    ASSERT_TRUE(client.ok()) << client.error().message;
    const Fd peer = accept_from(listening);
    ASSERT_TRUE(client->send("ping").ok());
    char bytes[4];
    ASSERT_EQ(::recv(peer.get(), bytes, sizeof bytes, MSG_WAITALL), 4);
    ASSERT_EQ(::send(peer.get(), "pong", 4, 0), 4);
    std::string input = "> ";
    while (input.size() < 6) ASSERT_TRUE(client->receive(input).ok());
    EXPECT_EQ(input, "> pong");

    ::shutdown(peer.get(), SHUT_RDWR);
    EXPECT_EQ(client->receive(input).error().message, listening.address + ": closed before it answered");
  }
  ::unlink(path.c_str());
}

TEST(BlockingClient, SaysWhenNobodyListensAndWhenTimeIsUp) {
  const std::string path = testing::TempDir() + "blocking_client_test.late." + std::to_string(::getpid());
  EXPECT_EQ(BlockingClient::connect({.path = path}, kSecond_us).error().message,
            "unix:" + path + ": cannot connect: No such file or directory");
  const Listening listening = listen_at({.path = path});
  auto client = BlockingClient::connect({.path = path}, 0);  // a Unix socket connects at once
  ASSERT_TRUE(client.ok());
  std::string input;
  EXPECT_EQ(client->receive(input).error().message, "unix:" + path + ": no answer in time");
  EXPECT_EQ(client->receive(input).error().code, ErrorCode::kUnavailable);
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace ratel
