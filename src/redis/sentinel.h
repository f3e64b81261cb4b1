#pragma once
// The primary that sentinels name. Belongs to one event loop; no sockets.
//
// Sentinels are tried in turn, the one that answered last first. The primary is asked for before every connection to
// it: one that was lost, or says that it is a replica, may have been replaced. It is asked for now and then as well,
// since a replaced primary may not know of it; the announcement of a switch only makes that quicker.

#include <optional>
#include <vector>

#include "redis/endpoint.h"
#include "redis/topology.h"

namespace ratel {

class Sentinel final : public Topology, private Endpoint::Watcher, private LinkReceiver {
 public:
  static constexpr std::size_t kLinks = 2;                     // to the primary, as in Standalone
  static constexpr Micros kAnswer_us = 300 * kMillisecond_us;  // how long a sentinel may take
  static constexpr Micros kPoll_us = kSecond_us;               // and up to as much again
  static constexpr Micros kAskApart_us = 100 * kMillisecond_us;

  /// `sentinel_options` with LinkOptions::To::kSentinel.
  Sentinel(std::vector<Address> sentinels, std::string service, const LinkOptions& sentinel_options,
           const LinkOptions& options, const LinkContext& context);

  void start(Instant now) override;
  Link* route(std::uint16_t slot) override { return primary_.pick(slot); }
  void add_primaries(std::vector<Link*>& links) override;
  bool hopes(std::uint16_t, Instant now) const override { return primary_.hopes(now); }
  Next errored(const StoreError& error, Link& link, std::uint16_t slot, Instant now) override;
  void tick(Instant now) override;
  Micros next_us() const override;
  bool is_whole() const override { return primary_.has_ready(); }
  std::string last_error() const override;

 private:
  void endpoint_ready(Endpoint& endpoint, Link& link, Instant now) override;
  void endpoint_closed(Endpoint& endpoint, Link::Closed why, Instant now) override;
  void endpoint_pushed(Endpoint& endpoint, RespReply push, Instant now) override;
  bool replied(std::uint64_t token, Link& link, RespReply reply, Instant now) override;
  void failed(std::uint64_t token, bool perhaps, Instant now) override;

  void ask_soon(Instant now);
  void ask(Link& link, Instant now);
  void subscribe(Link& link, Instant now);

  const LinkContext context_;
  const std::vector<Address> sentinels_;
  std::size_t current_ = 0;  // the one that is asked; while it answers, no other is
  const std::string service_;
  Endpoint asker_;
  Endpoint primary_;
  std::optional<RequestQueue::Place> asked_;
  Micros ask_at_us_ = 0;
  Micros asked_us_ = 0;    // last
  std::size_t tried_ = 0;  // sentinels since one answered
  Backoff rounds_;         // pauses after each round of all
  bool subscribes_ = true;
  std::string complaint_;
};

}  // namespace ratel
