#include "redis/sentinel.h"

#include <algorithm>
#include <charconv>

#include "wire/resp_command.h"

namespace ratel {
namespace {

enum Token : std::uint64_t { kAddress, kSubscribed };

}  // namespace

Sentinel::Sentinel(std::vector<Address> sentinels, std::string service, const LinkOptions& sentinel_options,
                   const LinkOptions& options, const LinkContext& context)
    : context_(context),
      sentinels_(std::move(sentinels)),
      service_(std::move(service)),
      asker_(sentinel_options, context, *this, 1),
      primary_(options, context, *this, kLinks) {}

void Sentinel::start(Instant now) {
  asker_.go_to(sentinels_[current_], now);
}

Topology::Next Sentinel::errored(const StoreError& error, Link& link, std::uint16_t, Instant now) {
  settle(error, link, now);
  if (error.action == StoreError::Action::kDistrust) ask_soon(now);
  if (error.action != StoreError::Action::kRediscover) return {};
  primary_.hold("the server is a replica now", now);
  ask_soon(now);
  return {.kind = Next::Kind::kWait};
}

void Sentinel::ask_soon(Instant now) {
  ask_at_us_ = std::min(ask_at_us_, std::max(now.monotonic_us, asked_us_ + kAskApart_us));
}

void Sentinel::ask(Link& link, Instant now) {
  std::string bytes;
  append_command({"SENTINEL", "get-master-addr-by-name", service_}, bytes);
  asked_ = link.send({.bytes = bytes, .deadline_us = kAnswer_us}, *this, kAddress, now);
  asked_us_ = now.monotonic_us;
  const Micros jitter_us = static_cast<Micros>(context_.randomness.next() % static_cast<std::uint64_t>(kPoll_us));
  ask_at_us_ = now.monotonic_us + kPoll_us + jitter_us;
}

void Sentinel::subscribe(Link& link, Instant now) {
  if (!link.resp3() || !subscribes_) return;
  // In RESP3 a subscription is confirmed by a push, so the reply that is waited for is that of the PING.
  std::string bytes;
  append_command({"SUBSCRIBE", "+switch-master"}, bytes);
  append_command({"PING"}, bytes);
  link.send({.bytes = bytes, .deadline_us = kAnswer_us}, *this, kSubscribed, now);
}

void Sentinel::endpoint_ready(Endpoint& endpoint, Link& link, Instant now) {
  if (&endpoint == &primary_) return;
  ask(link, now);
  subscribe(link, now);
}

void Sentinel::endpoint_closed(Endpoint& endpoint, Link::Closed why, Instant now) {
  if (&endpoint == &primary_) {
    // Held until a sentinel has said where it is now. The links that are still open may be good.
    if (!primary_.has_ready()) primary_.hold("the primary may be elsewhere", now);
    return ask_soon(now);
  }
  asked_.reset();
  complaint_ = "sentinel " + format_address(endpoint.address()) + ": " + endpoint.last_error();
  if (why == Link::Closed::kPoisoned) subscribes_ = false;  // perhaps it confirms that in a way of its own
  current_ = (current_ + 1) % sentinels_.size();
  const bool round_is_over = ++tried_ % sentinels_.size() == 0;
  asker_.go_to(sentinels_[current_], now, round_is_over ? rounds_.next_us(context_.randomness) : 0);
}

void Sentinel::endpoint_pushed(Endpoint& endpoint, RespReply push, Instant now) {
  if (&endpoint != &asker_ || push.size() < 3) return;
  // What is announced may be old by now; the sentinel is asked.
  if (push[0].text() == "message" && push[2].text().starts_with(service_ + " ")) ask_soon(now);
}

bool Sentinel::replied(std::uint64_t token, Link& link, RespReply reply, Instant now) {
  if (token == kSubscribed) return true;
  asked_.reset();
  if (reply.kind() == RespReply::Kind::kNothing || reply.kind() == RespReply::Kind::kError) {
    const bool is_error = reply.kind() == RespReply::Kind::kError;
    link.close(Link::Closed::kByUs, is_error ? std::string(reply.text()) : "it knows no primary `" + service_ + "`",
               now);
    return true;
  }
  if (reply.kind() != RespReply::Kind::kList || reply.size() != 2) return false;
  const std::string_view port_text = reply[1].text();
  Address address{.host = std::string(reply[0].text()), .port = 0, .path = {}};
  const auto [rest, error] = std::from_chars(port_text.data(), port_text.data() + port_text.size(), address.port);
  if (error != std::errc{} || rest != port_text.data() + port_text.size() || address.host.empty()) return false;
  tried_ = 0;
  rounds_ = {};
  primary_.go_to(address, now);
  return true;
}

void Sentinel::failed(std::uint64_t token, bool, Instant) {
  if (token == kAddress) asked_.reset();
}

void Sentinel::tick(Instant now) {
  if (asked_ && now.monotonic_us >= asked_us_ + kAnswer_us) {
    if (Link* link = asker_.pick(0)) {
      link->cancel(*std::exchange(asked_, std::nullopt));
      link->close(Link::Closed::kSilent, "no answer in time", now);
    }
  }
  asker_.tick(now);
  if (Link* link = asker_.pick(0); link != nullptr && !asked_ && now.monotonic_us >= ask_at_us_) ask(*link, now);
  primary_.tick(now);
}

Micros Sentinel::next_us() const {
  Micros due_us = std::min(asker_.next_us(), primary_.next_us());
  if (asked_) return std::min(due_us, asked_us_ + kAnswer_us);
  const bool can_ask = asker_.has_ready();
  return can_ask ? std::min(due_us, ask_at_us_) : due_us;
}

std::string Sentinel::last_error() const {
  return is_whole() || primary_.last_error().empty() ? complaint_ : primary_.last_error();
}

void Sentinel::add_primaries(std::vector<Link*>& links) {
  if (Link* link = primary_.pick(0)) links.push_back(link);
}

}  // namespace ratel
