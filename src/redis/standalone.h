#pragma once
// One server, or whichever stands behind one name. Belongs to one event loop; no sockets.
//
// A server that says it is a replica is left; its name is resolved anew. One that names its primary (REDIRECT) is
// followed there, and left for the configured name again when that fails.

#include "redis/endpoint.h"
#include "redis/topology.h"

namespace ratel {

class Standalone final : public Topology, private Endpoint::Watcher {
 public:
  /// Two, so that the loss of one is not the loss of the store, and a long reply delays half of the rest.
  static constexpr std::size_t kLinks = 2;

  Standalone(const Address& home, const LinkOptions& options, const LinkContext& context)
      : home_(home), endpoint_(options, context, *this, kLinks) {}

  void start(Instant now) override { endpoint_.go_to(home_, now); }
  Link* route(std::uint16_t slot) override { return endpoint_.pick(slot); }
  void add_primaries(std::vector<Link*>& links) override;
  bool hopes(std::uint16_t, Instant now) const override { return endpoint_.hopes(now); }
  Next errored(const StoreError& error, Link& link, std::uint16_t slot, Instant now) override;
  void tick(Instant now) override { endpoint_.tick(now); }
  Micros next_us() const override { return endpoint_.next_us(); }
  bool is_whole() const override { return endpoint_.has_ready(); }
  std::string last_error() const override { return endpoint_.last_error(); }

 private:
  void endpoint_ready(Endpoint&, Link&, Instant) override {}
  void endpoint_closed(Endpoint& endpoint, Link::Closed why, Instant now) override;
  void endpoint_pushed(Endpoint&, RespReply, Instant) override {}

  const Address home_;
  Endpoint endpoint_;
};

}  // namespace ratel
