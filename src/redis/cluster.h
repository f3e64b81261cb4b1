#pragma once
// The primaries of a Redis cluster. Belongs to one event loop; no sockets.
//
// A slot's owner is asked, and no replica ever. MOVED corrects the slot at once; the whole map is asked for then, and
// after whatever else hints that it is old: by one question at a time, not often, of a node that lately answered.

#include <memory>
#include <optional>
#include <vector>

#include "redis/endpoint.h"
#include "redis/slot_map.h"
#include "redis/topology.h"

namespace ratel {

/// Redis recommends no more nodes than that.
inline constexpr std::size_t kClusterNodesMax = 1000;

class Cluster final : public Topology, private Endpoint::Watcher, private LinkReceiver {
 public:
  static constexpr Micros kRetry_us = 10 * kMillisecond_us;      // until a link to where a slot moves can be ready
  static constexpr Micros kTryAgain_us = 2 * kMillisecond_us;    // and up to four times as much
  static constexpr Micros kMapApart_us = 250 * kMillisecond_us;  // and up to as much again
  static constexpr Micros kMapAnswer_us = kSecond_us;
  static constexpr Micros kPoll_us = 15 * kSecond_us;  // and up to as much again

  /// `options` with LinkOptions::To::kAnyNode. `seeds` are any nodes, asked while no other is known.
  Cluster(std::vector<Address> seeds, const LinkOptions& options, const LinkContext& context);

  void start(Instant now) override;
  Link* route(std::uint16_t slot) override;
  void add_primaries(std::vector<Link*>& links) override;
  bool hopes(std::uint16_t slot, Instant now) const override;
  Next errored(const StoreError& error, Link& link, std::uint16_t slot, Instant now) override;
  void tick(Instant now) override;
  Micros next_us() const override;
  bool is_whole() const override;
  std::string last_error() const override { return complaint_; }

 private:
  struct Node {
    Node(const LinkOptions& options, const LinkContext& context, Cluster& cluster)
        : endpoint(options, context, cluster, 1) {}
    Endpoint endpoint;
    bool owns = false;  // slots in the map
  };

  void endpoint_ready(Endpoint& endpoint, Link& link, Instant now) override;
  void endpoint_closed(Endpoint& endpoint, Link::Closed why, Instant now) override;
  void endpoint_pushed(Endpoint&, RespReply, Instant) override {}
  bool replied(std::uint64_t token, Link& link, RespReply reply, Instant now) override;
  void failed(std::uint64_t token, bool perhaps, Instant now) override;

  std::uint16_t node_at(const Address& address, Instant now);
  Next follow(const Address& address, bool asking, std::uint16_t slot, Link& from, Instant now);
  void want_map(Instant now);
  Link* whom_to_ask();
  void ask_map(Link& link, Instant now);
  void apply(const std::vector<SlotRange>& ranges, Instant now);
  void seek_seed(Instant now);

  const LinkOptions& options_;
  const LinkContext context_;
  const std::vector<Address> seeds_;
  std::size_t seed_ = 0;
  Endpoint seeker_;  // to a seed, while no node is ready
  Backoff rounds_;
  std::vector<std::unique_ptr<Node>> nodes_;  // those that are idle and own nothing are used again
  SlotMap map_;
  std::uint16_t prefer_ = SlotMap::kNobody;  // the node that spoke of a change
  Link* asked_of_ = nullptr;
  RequestQueue::Place asked_ = 0;
  Micros asked_us_ = 0;
  Micros map_at_us_ = 0;       // when the map is asked for next
  std::size_t shrunk_to_ = 0;  // slots that a smaller map had, which is believed when it is told twice
  std::vector<SlotRange> ranges_;
  std::string complaint_;
};

}  // namespace ratel
