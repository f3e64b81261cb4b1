#pragma once
// A shell without sockets, and what a link said, as commands.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redis/link.h"
#include "wire/resp_command.h"
#include "wire/resp_parser.h"

namespace ratel {

inline Instant at_us(Micros us) {
  return {.monotonic_us = us, .wall_us = us};
}

/// Takes all output of a link; each command as its words, joined by blanks.
inline std::vector<std::string> said(Link& link) {
  std::vector<std::string> commands;
  std::string_view output = link.output();
  const std::size_t all = output.size();
  RespParser parser;
  while (!output.empty()) {
    const RespParser::Parsed parsed = parser.parse(output);
    EXPECT_EQ(parsed.outcome, RespParser::Outcome::kCommand);
    if (parsed.outcome != RespParser::Outcome::kCommand) break;
    std::string& words = commands.emplace_back();
    for (const std::string_view word : parser.arguments()) words += (words.empty() ? "" : " ") + std::string(word);
    output.remove_prefix(parsed.consumed);
  }
  link.wrote(all);
  return commands;
}

/// Notes what links want.
class FakeShell final : public Link::Shell {
 public:
  void dial(Link& link) override { log.push_back("dial " + format_address(link.address())); }
  void hang_up(Link& link) override { log.push_back("hang up " + format_address(link.address())); }
  void wake(Link&) override { ++wakes; }

  std::vector<std::string> log;
  int wakes = 0;
};

class FakeOwner final : public Link::Owner {
 public:
  void ready(Link&, Instant) override { log.push_back("ready"); }
  void closed(Link& link, Link::Closed why, Instant) override {
    constexpr const char* kNames[] = {"unreachable", "lost", "silent", "poisoned", "refused", "replica", "by us"};
    log.push_back(std::string("closed: ") + kNames[static_cast<int>(why)] + ": " + link.last_error());
  }
  void pushed(Link&, RespReply push, Instant) override { log.push_back("pushed " + std::string(push[0].text())); }

  std::vector<std::string> log;
};

/// Notes what became of each request.
class FakeReceiver final : public LinkReceiver {
 public:
  bool replied(std::uint64_t token, Link&, RespReply reply, Instant) override {
    const std::string value =
        reply.kind() == RespReply::Kind::kInteger ? std::to_string(reply.integer()) : std::string(reply.text());
    log.push_back(std::to_string(token) + "=" + value);
    return !refuses;
  }
  void failed(std::uint64_t token, bool perhaps, Instant) override {
    log.push_back(std::to_string(token) + (perhaps ? " perhaps" : " not"));
  }

  std::vector<std::string> log;
  bool refuses = false;
};

inline constexpr std::string_view kHello3 = "%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$4\r\nrole\r\n$6\r\nmaster\r\n";
inline constexpr std::string_view kRoleMaster = "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";
inline constexpr std::string_view kTime = "*2\r\n$10\r\n1700000000\r\n$6\r\n000005\r\n";
inline const std::string kSettled = "+OK\r\n+OK\r\n-ERR unknown subcommand 'CAPA'\r\n" + std::string(kRoleMaster) +
                                    "$3\r\nsha\r\n" + std::string(kTime) + "+PONG\r\n";

/// A link with all that stands around it.
struct LinkRig {
  explicit LinkRig(LinkOptions with = {.scripts = {"return 1"}}) : options(std::move(with)) {}

  void dial() { link.open({.host = "127.0.0.1", .port = 6379}, at_us(now_us)); }
  void receive(std::string_view bytes) { link.receive(bytes, at_us(now_us)); }
  void get_ready() {
    dial();
    link.connected(at_us(now_us));
    said(link);
    receive(kHello3);
    said(link);
    receive(kSettled);
    ASSERT_TRUE(link.is_ready()) << link.last_error();
    owner.log.clear();
  }
  /// Asks PING n, which the server may answer with anything.
  std::optional<RequestQueue::Place> ask(std::uint64_t token, Micros deadline_us = 50'000) {
    std::string bytes;
    append_command({"PING", std::to_string(token)}, bytes);
    return link.send({.bytes = bytes, .deadline_us = deadline_us}, receiver, token, at_us(now_us));
  }

  LinkOptions options;
  FakeShell shell;
  FakeOwner owner;
  FakeReceiver receiver;
  Link link{options, shell, owner};
  Micros now_us = 1'000'000;
};

}  // namespace ratel
