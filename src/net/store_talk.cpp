#include "net/store_talk.h"

#include "base/check.h"
#include "wire/resp_command.h"

namespace ratel {

Result<std::unique_ptr<StoreTalk>> StoreTalk::open(StoreAccess& access, const Address& address, LinkOptions options) {
  CHECK(options.scripts.empty());
  const Micros patience_us = options.dial_us + options.greeting_us;
  std::unique_ptr<StoreTalk> talk(new StoreTalk(access, std::move(options)));
  Link& link = talk->link_;
  link.open(address, access.clock().now());
  const Status opened = talk->turn_until([&] { return link.is_ready(); }, patience_us);
  if (!opened.ok()) return opened.error();
  return talk;
}

StoreTalk::StoreTalk(StoreAccess& access, LinkOptions options)
    : access_(access),
      options_(std::move(options)),
      sockets_(access.loop(), access.clock(), access.resolver(), access.tls()),
      link_(options_, sockets_, *this) {}

StoreTalk::~StoreTalk() {
  link_.close(Link::Closed::kByUs, "", access_.clock().now());
}

template <typename Condition>
Status StoreTalk::turn_until(Condition condition, Micros patience_us) {
  EventLoop& loop = access_.loop();
  loop.turn(false);  // what time it is may be long ago by the loop
  const Micros until_us = access_.clock().now().monotonic_us + patience_us;
  while (!condition()) {
    const Instant now = access_.clock().now();
    if (now.monotonic_us >= until_us) link_.close(Link::Closed::kSilent, "no answer in time", now);
    if (now.monotonic_us >= link_.next_us()) link_.tick(now);
    sockets_.turn_ended();
    if (link_.state() == Link::State::kClosed) return Error{ErrorCode::kUnavailable, link_.last_error()};
    loop.wake_by(std::min(until_us, link_.next_us()));
    loop.turn();
  }
  return Done{};
}

Status StoreTalk::ask(std::span<const Command> commands,
                      const std::function<void(std::size_t index, RespReply reply)>& use) {
  CHECK(!commands.empty() && commands.size() <= kCommandsMax);
  const Instant now = access_.clock().now();
  std::string bytes;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    bytes.clear();
    append_command(commands[i], bytes);
    if (!link_.send({.bytes = bytes, .deadline_us = kAnswer_us}, *this, i, now)) {
      return Error{ErrorCode::kUnavailable, link_.last_error()};
    }
  }
  use_ = &use;
  owed_ = commands.size();
  Status answered = turn_until([this] { return owed_ == 0; }, kAnswer_us);
  use_ = nullptr;
  return answered;
}

Status StoreTalk::ask(const Command& command, const std::function<void(RespReply reply)>& use) {
  return ask(std::span(&command, 1), [&](std::size_t, RespReply reply) { use(reply); });
}

bool StoreTalk::replied(std::uint64_t token, Link&, RespReply reply, Instant) {
  CHECK(use_ != nullptr);
  (*use_)(token, reply);
  --owed_;
  return true;
}

}  // namespace ratel
