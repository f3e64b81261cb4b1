#include "redis/endpoint.h"

#include <algorithm>
#include <utility>

#include "redis/store_error.h"

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
    refused_ = false;
    lines_.front()->hoped_for = true;
    hope(now);
  }
  held_ = false;  // after the links are closed, which may have led to a hold()
}

void Endpoint::hold(std::string_view what, Instant now) {
  held_ = true;
  if (has_ready()) hope(now);
  for (const auto& line : lines_) line->link.retire(what, now);
}

void Endpoint::reconnect(std::string_view what, Instant now) {
  if (has_ready()) hope(now);
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
  refused_ = false;
  hope_until_us_ = 0;
  for (const auto& line : lines_) line->hoped_for = false;
  ++context_.news.ready;
  watcher_.endpoint_ready(*this, link, now);
}

void Endpoint::closed(Link& link, Link::Closed why, Instant now) {
  const auto at = std::find_if(lines_.begin(), lines_.end(), [&](const auto& each) { return &each->link == &link; });
  Line& line = **at;
  if (link.has_proved(now)) line.backoff = {};
  // One that was ready without proving good is trusted once, until another has proved good.
  const bool was_good = link.was_ready() && line.backoff.is_fresh();
  const Micros pause_us = line.backoff.next_us(context_.randomness);
  if (was_good && (why == Link::Closed::kLost || why == Link::Closed::kByUs)) {
    hope(now);
  } else if (line.hoped_for) {
    give_up_hope();
  }
  line.hoped_for = false;
  const bool another = std::any_of(lines_.begin(), lines_.end(), [](const auto& each) { return each->hoped_for; });
  line.hoped_for = hopes(now) && !another;
  refused_ = why == Link::Closed::kRefused;
  last_error_ = link.last_error();
  const StoreError::Kind kind = read_store_error(last_error_).kind;
  if (kind == StoreError::Kind::kTooManyClients) line.backoff.crowded();
  const bool wrong = kind == StoreError::Kind::kWrongPassword || kind == StoreError::Kind::kNotAuthenticated;
  context_.news.wrong_password += wrong ? 1 : 0;
  line.dial_at_us = now.monotonic_us + (line.hoped_for ? 0 : pause_us);
  watcher_.endpoint_closed(*this, why, now);
}

void Endpoint::pushed(Link&, RespReply push, Instant now) {
  watcher_.endpoint_pushed(*this, push, now);
}

bool Endpoint::may_dial(const Line& line) const {
  if (held_ || line.link.state() != Link::State::kClosed) return false;
  if (!refused_) return true;
  const auto first =
      std::find_if(lines_.begin(), lines_.end(), [](const auto& each) { return !each->link.is_ready(); });
  return first->get() == &line;
}

void Endpoint::give_up_hope() {
  if (std::exchange(hope_until_us_, 0) > 0) ++context_.news.given_up;
}

void Endpoint::tick(Instant now) {
  if (now.monotonic_us >= hope_until_us_) give_up_hope();
  for (const auto& line : lines_) {
    line->link.tick(now);
    if (!may_dial(*line) || now.monotonic_us < line->dial_at_us) continue;
    if (context_.budget.take(now.monotonic_us)) {
      line->link.open(address_, now);
    } else {
      line->dial_at_us = context_.budget.next_us();
    }
  }
}

Micros Endpoint::next_us() const {
  Micros due_us = hope_until_us_ > 0 ? hope_until_us_ : Link::kNeverDue_us;
  for (const auto& line : lines_) {
    due_us = std::min(due_us, may_dial(*line) ? line->dial_at_us : line->link.next_us());
  }
  return due_us;
}

}  // namespace ratel
