#pragma once
// A server and the links to it, kept open: what is lost is dialled again, its name resolved anew, after a pause that
// grows. Belongs to one event loop; no sockets.

#include <memory>
#include <vector>

#include "base/randomness.h"
#include "redis/backoff.h"
#include "redis/link.h"

namespace ratel {

/// What all links of a store share.
struct LinkContext {
  Link::Shell& shell;
  Randomness& randomness;
  HandshakeBudget& budget;
};

class Endpoint final : public Link::Owner {
 public:
  class Watcher {
   public:
    virtual void endpoint_ready(Endpoint& endpoint, Link& link, Instant now) = 0;
    virtual void endpoint_closed(Endpoint& endpoint, Link::Closed why, Instant now) = 0;
    virtual void endpoint_pushed(Endpoint& endpoint, RespReply push, Instant now) = 0;

   protected:
    ~Watcher() = default;
  };

  /// Holds until it is told where to go. All references outlive it.
  Endpoint(const LinkOptions& options, const LinkContext& context, Watcher& watcher, std::size_t links);

  /// Links to another address are closed, and those to this one dialled in the next tick after the pause. Where it is
  /// the same address, those that are lost wait as long as their failures ask for.
  void go_to(const Address& address, Instant now, Micros pause_us = 0);
  /// Dials no more until go_to(). What is open retires.
  void hold(std::string_view what, Instant now);
  /// Retires what is open, and dials again.
  void reconnect(std::string_view what, Instant now);

  /// A link that is ready, the same for the same affinity as long as it is; nullptr if there is none.
  Link* pick(std::size_t affinity);
  bool has_ready() const;
  bool is_idle() const;  // nothing is open
  bool is_held() const { return held_; }
  const Address& address() const { return address_; }
  /// Of the link that was closed last, why.
  const std::string& last_error() const { return last_error_; }

  void tick(Instant now);
  Micros next_us() const;

 private:
  struct Line {
    Line(const LinkOptions& options, const LinkContext& context, Endpoint& owner)
        : link(options, context.shell, owner) {}
    Link link;
    Backoff backoff;
    Micros dial_at_us = 0;
  };

  void ready(Link& link, Instant now) override;
  void closed(Link& link, Link::Closed why, Instant now) override;
  void pushed(Link& link, RespReply push, Instant now) override;

  LinkContext context_;
  Watcher& watcher_;
  Address address_;
  bool held_ = true;
  std::vector<std::unique_ptr<Line>> lines_;
  std::string last_error_;
};

}  // namespace ratel
