// A server that says anything, at any time, to a link that asks, gives up waiting and lets time pass: no crash, and
// each request ends exactly once, or was given up. The input is a program of bytes: below 128 a length of what the
// server says next, otherwise what the asker does.

#include <cstdint>
#include <set>

#include "base/check.h"
#include "redis/link.h"

namespace ratel {
namespace {

class Fuzzed final : Link::Shell, Link::Owner, LinkReceiver {
 public:
  void run(std::string_view program) {
    while (!program.empty()) {
      const auto what = static_cast<unsigned char>(program.front());
      program.remove_prefix(1);
      if (link_.state() == Link::State::kClosed) link_.open({.host = "h", .port = 1, .path = {}}, now());
      if (link_.state() == Link::State::kDialing) link_.connected(now());
      if (what < 128) {
        const std::string_view said = program.substr(0, what);
        program.remove_prefix(said.size());
        link_.receive(said, now());
      } else {
        act(what % 8);
      }
      CHECK(link_.owed() <= kLinkSlotsMax);
    }
    link_.close(Link::Closed::kByUs, "", now());
    CHECK(waiting_.empty() && link_.owed() == 0);
  }

 private:
  void act(int what) {
    switch (what) {
      case 0:
      case 1:
        if (const auto place = link_.send({.bytes = "PING\r\n", .preludes = static_cast<std::uint8_t>(what)}, *this,
                                          ++token_, now())) {
          waiting_.insert(token_);
          last_ = *place;
          last_token_ = token_;
        }
        return;
      case 2:
        if (waiting_.erase(last_token_) > 0) link_.cancel(last_);
        return;
      case 3:
        return link_.wrote(link_.output().size());
      case 4:
        return link_.wrote(link_.output().size() / 2);
      case 5:
        now_us_ += 60'000;
        return link_.tick(now());
      case 6:
        now_us_ += kSecond_us;
        return link_.tick(now());
      case 7:
        return link_.retire("", now());
    }
  }

  Instant now() const { return {.monotonic_us = now_us_, .wall_us = now_us_}; }

  void dial(Link&) override {}
  void hang_up(Link&) override {}
  void wake(Link&) override {}
  void ready(Link&, Instant) override {}
  void closed(Link&, Link::Closed, Instant) override {}
  void pushed(Link&, RespReply, Instant) override {}
  bool replied(std::uint64_t token, Link&, RespReply reply, Instant) override {
    CHECK(waiting_.erase(token) == 1);
    return reply.kind() != RespReply::Kind::kDouble;
  }
  void failed(std::uint64_t token, bool, Instant) override { CHECK(waiting_.erase(token) == 1); }

  const LinkOptions options_{.password = "pw", .scripts = {"s"}};
  Link link_{options_, *this, *this};
  Micros now_us_ = 1;
  std::uint64_t token_ = 0;
  std::set<std::uint64_t> waiting_;
  RequestQueue::Place last_ = 0;
  std::uint64_t last_token_ = 0;
};

}  // namespace
}  // namespace ratel

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ratel::Fuzzed fuzzed;
  fuzzed.run({reinterpret_cast<const char*>(data), size});
  return 0;
}
