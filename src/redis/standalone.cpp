#include "redis/standalone.h"

namespace ratel {

Topology::Next Standalone::errored(const StoreError& error, Link& link, std::uint16_t, Instant now) {
  settle(error, link, now);
  if (error.action != StoreError::Action::kRediscover) return {};
  if (error.kind == StoreError::Kind::kRedirect) {
    const std::string host(error.host.empty() ? link.address().host : error.host);
    endpoint_.go_to({.host = host, .port = error.port}, now);
  } else {
    endpoint_.reconnect("the server is a replica now", now);
  }
  return {.kind = Next::Kind::kWait};
}

void Standalone::endpoint_closed(Endpoint& endpoint, Link::Closed why, Instant now) {
  const bool failed = why != Link::Closed::kByUs && !endpoint.has_ready();
  if (failed && endpoint.address() != home_) endpoint.go_to(home_, now);
}

void Standalone::add_primaries(std::vector<Link*>& links) {
  if (Link* link = endpoint_.pick(0)) links.push_back(link);
}

}  // namespace ratel
