#include "net/listen.h"

#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/stat.h>

#include <fstream>

#include "net/limits.h"
#include "net/line_testing.h"

namespace ratel {
namespace {

class ListenTest : public testing::Test {
 protected:
  ~ListenTest() override { unlink(path_.c_str()); }

  const std::string path_ = testing::TempDir() + "listen_test." + std::to_string(getpid());
};

std::uint16_t port_of(const Listening& listening) { return parse_address(listening.address)->port; }

TEST_F(ListenTest, PicksAFreePortForAllSockets) {
  auto listening = listen_on({.host = "127.0.0.1"}, {.sockets = 3});
  ASSERT_TRUE(listening.ok()) << listening.error().message;
  ASSERT_EQ(listening->size(), 1U);
  const Listening& only = listening->front();
  EXPECT_TRUE(only.address.starts_with("127.0.0.1:"));
  EXPECT_NE(port_of(only), 0);
  ASSERT_EQ(only.sockets.size(), 3U);

  // Each socket gets its share of a hundred connections.
  std::vector<Peer> peers;
  for (int i = 0; i < 100; ++i) peers.emplace_back(only.address);
  int accepted = 0;
  for (const Fd& socket : only.sockets) {
    int own = 0;
    while (Fd(accept(socket.get(), nullptr, nullptr))) ++own;
    EXPECT_GT(own, 0);
    accepted += own;
  }
  EXPECT_EQ(accepted, 100);
}

TEST_F(ListenTest, APortInUseIsOneClearLineEvenWhereItCouldBeShared) {
  for (const int sockets : {1, 2}) {
    auto first = listen_on({.host = "127.0.0.1"}, {.sockets = sockets});
    ASSERT_TRUE(first.ok());
    const std::uint16_t port = port_of(first->front());
    for (const int others : {1, 2}) {
      auto second = listen_on({.host = "127.0.0.1", .port = port}, {.sockets = others});
      ASSERT_FALSE(second.ok());
      EXPECT_EQ(second.error().message,
                "cannot listen on 127.0.0.1:" + std::to_string(port) + ": Address already in use");
    }
  }
}

TEST_F(ListenTest, APortIsFreeAgainAtOnce) {
  auto first = listen_on({.host = "127.0.0.1"}, {});
  const std::uint16_t port = port_of(first->front());
  Peer peer(first->front().address);
  Fd accepted(accept(first->front().sockets[0].get(), nullptr, nullptr));
  accepted.close();  // our side closes first, so that the port is in TIME_WAIT
  first->clear();
  peer.close();
  EXPECT_TRUE(listen_on({.host = "127.0.0.1", .port = port}, {}).ok());
}

TEST_F(ListenTest, AcceptedSocketsSendAtOnceAndNoticeDeadPeers) {
  auto listening = listen_on({.host = "127.0.0.1"}, {});
  const Peer peer(listening->front().address);
  const Fd accepted(accept(listening->front().sockets[0].get(), nullptr, nullptr));
  struct Case {
    int level, option, value;
  };
  for (const auto [level, option, value] : {Case{IPPROTO_TCP, TCP_NODELAY, 1}, Case{SOL_SOCKET, SO_KEEPALIVE, 1},
                                            Case{IPPROTO_TCP, TCP_KEEPIDLE, kKeepAlive_s}}) {
    int found = 0;
    socklen_t length = sizeof found;
    ASSERT_EQ(getsockopt(accepted.get(), level, option, &found, &length), 0);
    EXPECT_EQ(found, value) << option;
  }
}

TEST_F(ListenTest, ErrorsNameTheAddress) {
  struct Case {
    Address address;
    std::string message;
  };
  const Case cases[] = {
      {{.host = "192.0.2.1", .port = 6390}, "cannot listen on 192.0.2.1:6390: Cannot assign requested address"},
      {{.host = "no such host", .port = 6390}, "cannot listen on no such host:6390: "},
      {{.path = "/no/such/folder/x"}, "cannot listen on unix:/no/such/folder/x: No such file or directory"},
      {{.path = std::string(200, 'x')}, "cannot listen on unix:" + std::string(200, 'x') + ": File name too long"},
  };
  for (const Case& c : cases) {
    auto listening = listen_on(c.address, {.beyond_loopback = true});
    ASSERT_FALSE(listening.ok());
    EXPECT_TRUE(listening.error().message.starts_with(c.message)) << listening.error().message;
    EXPECT_EQ(listening.error().message.find('\n'), std::string::npos);
  }
}

TEST_F(ListenTest, BeyondLoopbackOnlyWhenAllowed) {
  for (const char* host : {"0.0.0.0", "0", "::"}) {
    auto refused = listen_on({.host = host}, {});
    ASSERT_FALSE(refused.ok()) << host;
    EXPECT_NE(refused.error().message.find("--insecure-listen"), std::string::npos);
  }
  // What counts is the address that was resolved, not how it was spelt: the last is 127.0.0.1 as one number.
  for (const char* host : {"127.0.0.1", "127.9.8.7", "localhost", "2130706433"}) {
    EXPECT_TRUE(listen_on({.host = host}, {}).ok()) << host;
  }
}

TEST_F(ListenTest, AUnixSocketIsSharedByAllLoops) {
  auto listening = listen_on({.path = path_}, {.sockets = 3});
  ASSERT_TRUE(listening.ok()) << listening.error().message;
  EXPECT_EQ(listening->front().address, "unix:" + path_);
  Peer peer("unix:" + path_);
  EXPECT_TRUE(peer.connected());
  EXPECT_TRUE(Fd(accept(listening->front().sockets[2].get(), nullptr, nullptr)));
}

TEST_F(ListenTest, AUnixSocketIsOpenToOwnerAndGroupWhateverTheUmask) {
  for (const mode_t mask : {0000, 0022, 0077}) {
    const mode_t before = umask(mask);
    auto listening = listen_on({.path = path_}, {});
    umask(before);
    ASSERT_TRUE(listening.ok()) << listening.error().message;
    struct stat file {};
    ASSERT_EQ(lstat(path_.c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 07777U, 0660U) << mask;
  }
}

TEST_F(ListenTest, ADeadUnixSocketIsReplacedAndNothingElse) {
  {
    auto first = listen_on({.path = path_}, {});
    ASSERT_TRUE(first.ok());
    auto second = listen_on({.path = path_}, {});
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().message, "cannot listen on unix:" + path_ + ": Address already in use");
  }
  EXPECT_TRUE(listen_on({.path = path_}, {}).ok());  // its owner is gone, its file was not
  unlink(path_.c_str());
  std::ofstream(path_) << "precious";
  EXPECT_FALSE(listen_on({.path = path_}, {}).ok());
  std::string text;
  std::ifstream(path_) >> text;
  EXPECT_EQ(text, "precious");
}

}  // namespace
}  // namespace ratel
