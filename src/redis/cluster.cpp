#include "redis/cluster.h"

#include <algorithm>

#include "wire/resp_command.h"

namespace ratel {

using Kind = StoreError::Kind;

Cluster::Cluster(std::vector<Address> seeds, const LinkOptions& options, const LinkContext& context)
    : options_(options), context_(context), seeds_(std::move(seeds)), seeker_(options, context, *this, 1) {}

void Cluster::start(Instant now) {
  map_at_us_ = now.monotonic_us;
  seeker_.go_to(seeds_.front(), now);
}

Link* Cluster::route(std::uint16_t slot) {
  const std::uint16_t owner = map_.owner(slot);
  return owner == SlotMap::kNobody ? nullptr : nodes_[owner]->endpoint.pick(0);
}

void Cluster::add_primaries(std::vector<Link*>& links) {
  for (const auto& node : nodes_) {
    Link* link = node->owns ? node->endpoint.pick(0) : nullptr;
    if (link != nullptr) links.push_back(link);
  }
}

bool Cluster::hopes(std::uint16_t slot, Instant now) const {
  const std::uint16_t owner = map_.owner(slot);
  return owner != SlotMap::kNobody && nodes_[owner]->endpoint.hopes(now);
}

bool Cluster::is_whole() const {
  for (std::size_t slot = 0; slot < kClusterSlots; ++slot) {
    const std::uint16_t owner = map_.owner(static_cast<std::uint16_t>(slot));
    if (owner == SlotMap::kNobody || !nodes_[owner]->endpoint.has_ready()) return false;
  }
  return true;
}

Topology::Next Cluster::errored(const StoreError& error, Link& link, std::uint16_t slot, Instant now) {
  const Address target{
      .host = error.host.empty() ? link.address().host : std::string(error.host), .port = error.port, .path = {}};
  settle(error, link, now);
  switch (error.action) {
    case StoreError::Action::kFollow:
      want_map(now);
      return follow(target, false, error.slot, link, now);
    case StoreError::Action::kFollowOnce:
      return follow(target, true, slot, link, now);
    case StoreError::Action::kSendLater:
      return {.kind = Next::Kind::kLater,
              .pause_us = kTryAgain_us + static_cast<Micros>(context_.randomness.next() % (3 * kTryAgain_us))};
    case StoreError::Action::kRediscover:
      want_map(now);
      link.retire("it is a replica now", now);
      return {.kind = Next::Kind::kWait};
    case StoreError::Action::kRefresh:
    case StoreError::Action::kDistrust:
      want_map(now);
      return {};
    default:
      return {};
  }
}

Topology::Next Cluster::follow(const Address& address, bool asking, std::uint16_t slot, Link& from, Instant now) {
  const std::uint16_t node = node_at(address, now);
  if (node == SlotMap::kNobody) return {};
  if (!asking) {
    map_.set(slot, node);
    nodes_[node]->owns = true;
    prefer_ = node;
  }
  // What sends us to itself is behind a name that leads elsewhere now.
  if (nodes_[node]->endpoint.address() == from.address()) from.retire("it sends us to itself", now);
  Link* link = nodes_[node]->endpoint.pick(0);
  if (link == nullptr && !asking) return {.kind = Next::Kind::kWait};
  if (link == nullptr) return {.kind = Next::Kind::kLater, .pause_us = kRetry_us};
  return {.kind = Next::Kind::kSend, .link = link, .asking = asking};
}

/// The node at an address, which is connected to if it is new. kNobody where there are too many.
std::uint16_t Cluster::node_at(const Address& address, Instant now) {
  const auto at = std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& node) {
    return !node->endpoint.is_held() && node->endpoint.address() == address;
  });
  if (at != nodes_.end()) return static_cast<std::uint16_t>(at - nodes_.begin());
  auto free = std::find_if(nodes_.begin(), nodes_.end(),
                           [](const auto& node) { return node->endpoint.is_held() && node->endpoint.is_idle(); });
  if (free == nodes_.end()) {
    if (nodes_.size() == kClusterNodesMax) return SlotMap::kNobody;
    nodes_.push_back(std::make_unique<Node>(options_, context_, *this));
    free = nodes_.end() - 1;
  }
  (*free)->owns = false;
  (*free)->endpoint.go_to(address, now);
  return static_cast<std::uint16_t>(free - nodes_.begin());
}

void Cluster::want_map(Instant now) {
  const Micros jitter_us = static_cast<Micros>(context_.randomness.next() % kMapApart_us);
  map_at_us_ = std::min(map_at_us_, std::max(now.monotonic_us, asked_us_ + kMapApart_us + jitter_us));
}

Link* Cluster::whom_to_ask() {
  if (prefer_ != SlotMap::kNobody) {
    Link* link = nodes_[prefer_]->endpoint.pick(0);
    prefer_ = SlotMap::kNobody;
    if (link != nullptr) return link;
  }
  const std::size_t start = nodes_.empty() ? 0 : context_.randomness.next() % nodes_.size();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (Link* link = nodes_[(start + i) % nodes_.size()]->endpoint.pick(0)) return link;
  }
  return seeker_.pick(0);
}

void Cluster::ask_map(Link& link, Instant now) {
  std::string bytes;
  append_command({"CLUSTER", "SLOTS"}, bytes);
  const auto place = link.send({.bytes = bytes, .deadline_us = kMapAnswer_us}, *this, 0, now);
  const Micros jitter_us = static_cast<Micros>(context_.randomness.next() % kPoll_us);
  map_at_us_ = now.monotonic_us + (place ? kPoll_us + jitter_us : kMapApart_us);
  asked_us_ = now.monotonic_us;
  if (!place) return;
  asked_of_ = &link;
  asked_ = *place;
}

bool Cluster::replied(std::uint64_t, Link& link, RespReply reply, Instant now) {
  asked_of_ = nullptr;
  if (reply.kind() == RespReply::Kind::kError) {
    complaint_ = format_address(link.address()) + ": " + std::string(reply.text());
    want_map(now);
    if (&link == seeker_.pick(0)) link.close(Link::Closed::kByUs, reply.text(), now);
    return true;
  }
  if (!read_slot_ranges(reply, link.address(), ranges_)) return false;
  apply(ranges_, now);
  return true;
}

void Cluster::failed(std::uint64_t, bool, Instant now) {
  asked_of_ = nullptr;
  want_map(now);
}

void Cluster::apply(const std::vector<SlotRange>& ranges, Instant now) {
  std::size_t told = 0;
  for (const SlotRange& range : ranges) told += std::size_t{range.last} - range.first + 1;
  // A node that was cut off tells less than it used to; that is believed when it, or another, says it again.
  if (told < map_.covered() && told != shrunk_to_) {
    shrunk_to_ = told;
    return want_map(now);
  }
  shrunk_to_ = 0;
  SlotMap map;
  for (const auto& node : nodes_) node->owns = false;
  for (const SlotRange& range : ranges) {
    const std::uint16_t node = node_at(range.primary, now);
    if (node == SlotMap::kNobody) {
      complaint_ = "the cluster has more than " + std::to_string(kClusterNodesMax) + " primaries";
      continue;
    }
    nodes_[node]->owns = true;
    for (std::size_t slot = range.first; slot <= range.last; ++slot) map.set(static_cast<std::uint16_t>(slot), node);
  }
  map_ = map;
  for (const auto& node : nodes_) {
    if (!node->owns && !node->endpoint.is_held()) node->endpoint.hold("it owns no slots any longer", now);
  }
}

void Cluster::endpoint_ready(Endpoint& endpoint, Link&, Instant now) {
  rounds_ = {};
  if (&endpoint != &seeker_) {
    if (!seeker_.is_held() && asked_of_ == nullptr) seeker_.hold("nodes are known", now);
    return;
  }
  map_at_us_ = now.monotonic_us;
}

void Cluster::endpoint_closed(Endpoint& endpoint, Link::Closed why, Instant now) {
  if (why != Link::Closed::kByUs) complaint_ = format_address(endpoint.address()) + ": " + endpoint.last_error();
  if (&endpoint == &seeker_) {
    if (!seeker_.is_held()) seek_seed(now);
    return;
  }
  if (endpoint.is_held()) return;
  want_map(now);
  const bool none =
      std::none_of(nodes_.begin(), nodes_.end(), [](const auto& node) { return node->endpoint.has_ready(); });
  if (none && seeker_.is_held()) seek_seed(now);
}

/// The next seed, after a pause when all have been tried.
void Cluster::seek_seed(Instant now) {
  seed_ = (seed_ + 1) % seeds_.size();
  seeker_.go_to(seeds_[seed_], now, seed_ == 0 ? rounds_.next_us(context_.randomness) : 0);
}

void Cluster::tick(Instant now) {
  if (asked_of_ != nullptr && now.monotonic_us >= asked_us_ + kMapAnswer_us) {
    asked_of_->cancel(asked_);
    asked_of_ = nullptr;
    want_map(now);
  }
  seeker_.tick(now);
  // From another one each time, so that those that cannot be reached leave connecting to the others.
  const std::size_t start = nodes_.empty() ? 0 : context_.randomness.next() % nodes_.size();
  for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[(start + i) % nodes_.size()]->endpoint.tick(now);
  if (asked_of_ != nullptr || now.monotonic_us < map_at_us_) return;
  if (Link* link = whom_to_ask()) {
    ask_map(*link, now);
  } else if (seeker_.is_held()) {
    seek_seed(now);
  }
}

Micros Cluster::next_us() const {
  Micros due_us = seeker_.next_us();
  bool can_ask = seeker_.has_ready();
  for (const auto& node : nodes_) {
    due_us = std::min(due_us, node->endpoint.next_us());
    can_ask = can_ask || node->endpoint.has_ready();
  }
  if (asked_of_ != nullptr) return std::min(due_us, asked_us_ + kMapAnswer_us);
  return can_ask ? std::min(due_us, map_at_us_) : due_us;
}

}  // namespace ratel
