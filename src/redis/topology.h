#pragma once
// Which link leads to the server that decides, for one server, for sentinels and for a cluster. Belongs to one event
// loop; no sockets.

#include <cstdint>
#include <string>
#include <vector>

#include "redis/link.h"
#include "redis/store_error.h"

namespace ratel {

class Topology {
 public:
  /// What becomes of a question that a server answered with an error.
  struct Next {
    enum class Kind : std::uint8_t {
      kFail,
      kSend,   // on `link`, after ASKING if so
      kLater,  // route again after the pause
      kWait,   // route again when there is a link, if one is hoped for
    };
    Kind kind = Kind::kFail;
    Link* link = nullptr;
    bool asking = false;
    Micros pause_us = 0;
  };

  virtual ~Topology() = default;

  /// Once, before anything else.
  virtual void start(Instant now) = 0;
  /// The link to whoever decides about this slot; nullptr if there is none that is ready.
  virtual Link* route(std::uint16_t slot) = 0;
  /// A link to each server that decides about something, of those that have one that is ready.
  virtual void add_primaries(std::vector<Link*>& links) = 0;
  /// There is none, but any moment there may be: one that was good has ended, and the attempt to replace it has not
  /// failed.
  virtual bool hopes(std::uint16_t slot, Instant now) const = 0;
  /// An error reply to a question on `link`. Learns from it; may close links. Not for kNoScript.
  virtual Next errored(const StoreError& error, Link& link, std::uint16_t slot, Instant now) = 0;
  /// REQUIRES: called at next_us() or soon after; may be called at any time.
  virtual void tick(Instant now) = 0;
  virtual Micros next_us() const = 0;
  /// Whether every slot has a link that is ready.
  virtual bool is_whole() const = 0;
  /// What went wrong last, in words; empty if nothing has.
  virtual std::string last_error() const = 0;

 protected:
  /// What is the same everywhere: the connection cannot be trusted, has no rights, or its server cannot work yet.
  static void settle(const StoreError& error, Link& link, Instant now) {
    if (error.action == StoreError::Action::kClose) link.close(Link::Closed::kPoisoned, "an error out of place", now);
    if (error.action == StoreError::Action::kReconnect) link.close(Link::Closed::kRefused, error.text, now);
    if (error.kind == StoreError::Kind::kLoading) link.pause(now);
  }
};

}  // namespace ratel
