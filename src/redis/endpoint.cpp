#include "redis/endpoint.h"

#include <algorithm>

namespace ratel {

Endpoint::Endpoint(const LinkOptions& options, const LinkContext& context, Watcher& watcher, std::size_t links)
    : context_(context), watcher_(watcher) {
  for (std::size_t i = 0; i < links; ++i) lines_.push_back(std::make_unique<Line>(options, context, *this));
}

void Endpoint::go_to(const Address& address, Instant now, Micros pause_us) {
  if (address != address_) {
    address_ = address;
    for (const auto& line : lines_) {
      line->link.close(Link::Closed::kByUs, "the server to ask is another one now", now);
      line->backoff = {};
      line->dial_at_us = now.monotonic_us + pause_us;
    }
  }
  held_ = false;  // after the links are closed, which may have led to a hold()
}

void Endpoint::hold(std::string_view what, Instant now) {
  held_ = true;
  for (const auto& line : lines_) line->link.retire(what, now);
}

void Endpoint::reconnect(std::string_view what, Instant now) {
  for (const auto& line : lines_) {
    if (line->link.is_ready()) line->link.retire(what, now);
  }
}

Link* Endpoint::pick(std::size_t affinity) {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    Link& link = lines_[(affinity + i) % lines_.size()]->link;
    if (link.is_ready()) return &link;
  }
  return nullptr;
}

bool Endpoint::has_ready() const {
  return std::any_of(lines_.begin(), lines_.end(), [](const auto& line) { return line->link.is_ready(); });
}

bool Endpoint::is_idle() const {
  return std::all_of(lines_.begin(), lines_.end(),
                     [](const auto& line) { return line->link.state() == Link::State::kClosed; });
}

void Endpoint::ready(Link& link, Instant now) {
  watcher_.endpoint_ready(*this, link, now);
}

void Endpoint::closed(Link& link, Link::Closed why, Instant now) {
  for (const auto& line : lines_) {
    if (&line->link != &link) continue;
    if (why == Link::Closed::kRefused) line->backoff.refused();
    line->backoff.ended(link.healthy_us(now));
    // What we left by our own choice after a while needs no pause; only what fails again and again does.
    const bool at_once = why == Link::Closed::kByUs && link.healthy_us(now) >= kSecond_us;
    line->dial_at_us = now.monotonic_us + (at_once ? 0 : line->backoff.next_us(context_.randomness));
  }
  last_error_ = link.last_error();
  watcher_.endpoint_closed(*this, why, now);
}

void Endpoint::pushed(Link&, RespReply push, Instant now) {
  watcher_.endpoint_pushed(*this, push, now);
}

void Endpoint::tick(Instant now) {
  for (const auto& line : lines_) {
    line->link.tick(now);
    if (held_ || line->link.state() != Link::State::kClosed || now.monotonic_us < line->dial_at_us) continue;
    if (context_.budget.take(now.monotonic_us)) {
      line->link.open(address_, now);
    } else {
      line->dial_at_us = context_.budget.next_us();
    }
  }
}

Micros Endpoint::next_us() const {
  Micros due_us = Link::kNeverDue_us;
  for (const auto& line : lines_) {
    const bool dials = line->link.state() == Link::State::kClosed && !held_;
    due_us = std::min(due_us, dials ? line->dial_at_us : line->link.next_us());
  }
  return due_us;
}

}  // namespace ratel
