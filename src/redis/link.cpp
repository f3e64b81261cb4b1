#include "redis/link.h"

#include <algorithm>

#include "base/check.h"
#include "redis/store_error.h"
#include "wire/resp_command.h"

namespace ratel {

Link::Link(const LinkOptions& options, Shell& shell, Owner& owner)
    : options_(options), shell_(shell), owner_(owner), greeting_(options) {
  CHECK(options.scripts.size() <= kLinkScriptsMax);
}

void Link::open(const Address& address, Instant now) {
  CHECK(state_ == State::kClosed);
  address_ = address;
  was_ready_ = answered_ = false;
  state_ = State::kDialing;
  step_by_us_ = now.monotonic_us + options_.dial_us;
  shell_.dial(*this);
}

void Link::connected(Instant now) {
  CHECK(state_ == State::kDialing);
  state_ = State::kGreeting;
  greeting_ = Greeting(options_);
  reader_.reset();
  clock_ = {};
  dead_at_us_ = greet_again_us_ = kNeverDue_us;
  not_yet_us_ = kNotYetFirst_us;
  loading_scripts_ = false;
  last_read_us_ = now.monotonic_us;
  greet(now);
}

void Link::greet(Instant now) {
  greet_again_us_ = kNeverDue_us;
  step_by_us_ = now.monotonic_us + options_.greeting_us;
  for (const Greeting::Command& command : greeting_.next()) {
    ask_self(static_cast<std::uint8_t>(command.step), command.bytes, now);
  }
}

void Link::close(Closed why, std::string_view what, Instant now) {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  ++connection_;
  last_error_ = what;
  dead_at_us_ = greet_again_us_ = kNeverDue_us;
  shell_.hang_up(*this);
  RequestQueue::Slot slot;
  for (bool sent = false; queue_.abandon(slot, sent);) {
    if (slot.receiver != nullptr) slot.receiver->failed(slot.token, sent, now);
  }
  owner_.closed(*this, why, now);
}

void Link::retire(std::string_view what, Instant now) {
  if (state_ != State::kReady || queue_.size() == 0) {
    if (state_ != State::kRetiring) close(Closed::kByUs, what, now);
    return;
  }
  state_ = State::kRetiring;
  last_error_ = what;
  step_by_us_ = now.monotonic_us + kRetiring_us;
}

void Link::lost(std::string_view what, Instant now) {
  close(state_ == State::kDialing ? Closed::kUnreachable : Closed::kLost, what, now);
}

void Link::receive(std::string_view bytes, Instant now) {
  last_read_us_ = now.monotonic_us;
  dead_at_us_ = kNeverDue_us;
  const std::uint64_t connection = connection_;
  while (connection == connection_ && !bytes.empty()) {
    switch (reader_.read(bytes)) {
      case RespReplyReader::Outcome::kReply:
        take_reply(reader_.reply(), now);
        if (state_ == State::kRetiring && queue_.size() == 0) close(Closed::kByUs, std::string(last_error_), now);
        break;
      case RespReplyReader::Outcome::kMalformed:
        close(Closed::kPoisoned, "what it sends is no RESP", now);
        break;
      case RespReplyReader::Outcome::kPartial:
        break;
    }
  }
}

void Link::take_reply(RespReply reply, Instant now) {
  if (reply.kind() == RespReply::Kind::kPush) return owner_.pushed(*this, reply, now);
  RequestQueue::Slot* oldest = queue_.oldest();
  if (oldest == nullptr) return close(Closed::kPoisoned, "a reply that nothing was asked for", now);
  if (oldest->preludes > 0) {
    --oldest->preludes;  // what it prepared goes wrong in words of its own, if it does
    return;
  }
  const RequestQueue::Slot slot = queue_.pop();
  if (slot.own != 0) return take_own(slot.own, reply, now);
  const bool is_error = reply.kind() == RespReply::Kind::kError;
  if (is_error && read_store_error(reply.text()).kind == StoreError::Kind::kNoScript) load_scripts(now);
  if (slot.receiver == nullptr) return;
  const std::uint64_t connection = connection_;
  const bool good = slot.receiver->replied(slot.token, *this, reply, now);
  if (connection != connection_) return;
  if (!good) return close(Closed::kPoisoned, "a reply of the wrong shape", now);
  if (!is_error) answered_ = true;
}

void Link::take_own(std::uint8_t own, RespReply reply, Instant now) {
  Micros store_us = -1;
  switch (static_cast<Own>(own)) {
    case Own::kHeartbeat:  // whatever it says, it is alive
      if (const Micros told_us = time_in(reply); told_us >= 0) sample_clock(told_us, now);
      return;
    case Own::kScriptLast:
      loading_scripts_ = false;
      return;
    case Own::kScript:
      return;
    default:
      break;
  }
  switch (greeting_.replied(static_cast<Greeting::Step>(own), reply, store_us)) {
    case Greeting::Verdict::kWait:
      break;
    case Greeting::Verdict::kNext:
      return greet(now);
    case Greeting::Verdict::kReady:
      state_ = State::kReady;
      was_ready_ = true;
      not_yet_us_ = kNotYetFirst_us;
      ready_since_us_ = now.monotonic_us;
      return owner_.ready(*this, now);
    case Greeting::Verdict::kNotYet:
      greet_again_us_ = now.monotonic_us + not_yet_us_;
      step_by_us_ = kNeverDue_us;
      not_yet_us_ = std::min(2 * not_yet_us_, kNotYetCeiling_us);
      break;
    case Greeting::Verdict::kReplica:
      return close(Closed::kReplica, "it is a replica", now);
    case Greeting::Verdict::kRefused:
      return close(Closed::kRefused, greeting_.error(), now);
  }
  if (store_us >= 0) sample_clock(store_us, now);
}

void Link::pause(Instant now) {
  if (state_ != State::kReady) return;
  state_ = State::kGreeting;
  greet_again_us_ = now.monotonic_us + not_yet_us_;
  step_by_us_ = kNeverDue_us;
  not_yet_us_ = std::min(2 * not_yet_us_, kNotYetCeiling_us);
}

/// Those that were asked before fail for want of a script, and are asked again by who asked them: behind this one.
void Link::load_scripts(Instant now) {
  if (loading_scripts_ || state_ != State::kReady) return;
  ++script_loads_;
  std::string bytes;
  for (const std::string& script : options_.scripts) {
    bytes.clear();
    append_command({"SCRIPT", "LOAD", script}, bytes);
    const bool last = &script == &options_.scripts.back();
    if (last) loading_scripts_ = true;
    ask_self(static_cast<std::uint8_t>(last ? Own::kScriptLast : Own::kScript), bytes, now);
  }
}

void Link::ask_self(std::uint8_t own, std::string_view bytes, Instant now) {
  const bool was_idle = !queue_.has_unsent();
  const bool asked = queue_.push({.asked_us = now.monotonic_us, .own = own}, bytes).has_value();
  CHECK(asked);  // room is reserved for it
  if (was_idle) shell_.wake(*this);
}

void Link::doubt(Micros asked_us, Micros patience_us) {
  dead_at_us_ = std::min(dead_at_us_, std::max(last_read_us_, asked_us) + patience_us);
}

std::optional<RequestQueue::Place> Link::send(const Request& request, LinkReceiver& receiver, std::uint64_t token,
                                              Instant now) {
  if (state_ != State::kReady) return std::nullopt;
  const RequestQueue::Slot* oldest = queue_.oldest();
  if (oldest != nullptr && oldest->patience_us > 0 && now.monotonic_us - oldest->asked_us > oldest->patience_us / 2) {
    return std::nullopt;
  }
  const bool was_idle = !queue_.has_unsent();
  const std::optional<RequestQueue::Place> place =
      queue_.push({.receiver = &receiver,
                   .token = token,
                   .asked_us = now.monotonic_us,
                   .patience_us = std::max(4 * request.deadline_us, kPatienceMin_us),
                   .preludes = request.preludes},
                  request.bytes);
  if (place && was_idle) shell_.wake(*this);
  return place;
}

bool Link::cancel(RequestQueue::Place place) {
  const RequestQueue::Cancelled cancelled = queue_.cancel(place);
  if (cancelled != RequestQueue::Cancelled::kTombstone) return cancelled == RequestQueue::Cancelled::kTakenBack;
  const RequestQueue::Slot& slot = queue_.at(place);
  doubt(slot.asked_us, slot.patience_us);
  return false;
}

void Link::tick(Instant now) {
  const Micros now_us = now.monotonic_us;
  if (state_ == State::kClosed) return;
  if (state_ == State::kRetiring && now_us >= step_by_us_) {
    return close(Closed::kByUs, std::string(last_error_), now);
  }
  if (state_ != State::kReady && now_us >= step_by_us_) {
    return close(Closed::kUnreachable, state_ == State::kDialing ? "no connection in time" : "no answer in time", now);
  }
  if (now_us >= dead_at_us_) return close(Closed::kSilent, "it owes answers and sends nothing", now);
  if (now_us >= greet_again_us_) return greet(now);
  if (wants_heartbeat() && now_us - last_read_us_ >= kHeartbeat_us) {
    std::string bytes;
    append_command({options_.to == LinkOptions::To::kSentinel ? "PING" : "TIME"}, bytes);
    ask_self(static_cast<std::uint8_t>(Own::kHeartbeat), bytes, now);
    doubt(now_us, kHeartbeatPatience_us);
  }
}

/// Where something is owed already, that will tell whether the server lives.
bool Link::wants_heartbeat() const {
  return state_ == State::kReady && queue_.size() == 0 && dead_at_us_ == kNeverDue_us;
}

Micros Link::next_us() const {
  if (state_ == State::kClosed) return kNeverDue_us;
  Micros due_us = std::min(dead_at_us_, greet_again_us_);
  if (state_ != State::kReady) due_us = std::min(due_us, step_by_us_);
  if (wants_heartbeat()) due_us = std::min(due_us, last_read_us_ + kHeartbeat_us);
  return due_us;
}

}  // namespace ratel
