#pragma once
// A server and the links to it, kept open: what is lost is dialled again, its name resolved anew. Belongs to one event
// loop; no sockets.
//
// A link that was good and whose server ended it is dialled again at once, and until that has failed there is hope that
// waiting is worth while. All other attempts come after a pause that grows. A server that refuses us is asked by one
// link, not by all.

#include <memory>
#include <vector>

#include "base/randomness.h"
#include "redis/backoff.h"
#include "redis/link.h"
#include "store/handshake_budget.h"

namespace ratel {

/// What happened to the links of a store; counts up.
struct LinkNews {
  std::uint64_t ready = 0;  // links that can be asked
  std::uint64_t wrong_password = 0;
  std::uint64_t given_up = 0;  // hopes for one
};

/// What all links of a store share.
struct LinkContext {
  Link::Shell& shell;
  Randomness& randomness;
  HandshakeBudget& budget;
  LinkNews& news;
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

  /// How long after a loss, or a hint where to go, a link is hoped for.
  static constexpr Micros kHope_us = kSecond_us;

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
  /// None is ready, but one may be any moment: the first attempt has not failed.
  bool hopes(Instant now) const { return now.monotonic_us < hope_until_us_ && !has_ready(); }
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
    bool hoped_for = false;  // the attempt that hope stands on; of one line at most
  };

  void hope(Instant now) { hope_until_us_ = now.monotonic_us + kHope_us; }
  void give_up_hope();
  bool may_dial(const Line& line) const;
  void ready(Link& link, Instant now) override;
  void closed(Link& link, Link::Closed why, Instant now) override;
  void pushed(Link& link, RespReply push, Instant now) override;

  LinkContext context_;
  Watcher& watcher_;
  Address address_;
  bool held_ = true;
  bool refused_ = false;  // by the last answer: password, rights, too many clients
  Micros hope_until_us_ = 0;
  std::vector<std::unique_ptr<Line>> lines_;
  std::string last_error_;
};

}  // namespace ratel
