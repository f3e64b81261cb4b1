#pragma once
// Whether the servers evict keys: each that they evict may have been a counter, and whoever it counted begins anew.
// Asks all primaries from time to time what INFO says. Belongs to one event loop; no sockets.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "redis/topology.h"

namespace ratel {

class EvictionWatch final : private LinkReceiver {
 public:
  static constexpr Micros kApart_us = 10 * kSecond_us;
  /// Where there is nobody to ask.
  static constexpr Micros kAgain_us = 100 * kMillisecond_us;
  /// How long a server may take to answer. It keeps nobody waiting.
  static constexpr Micros kAnswer_us = kSecond_us;

  /// `topology` outlives it.
  explicit EvictionWatch(Topology& topology) : topology_(topology) {}

  /// Begins to ask. Once.
  void start(Instant now) { due_us_ = now.monotonic_us; }
  /// REQUIRES: called at next_us() or soon after; may be called at any time.
  void tick(Instant now);
  Micros next_us() const { return due_us_; }

  /// Keys that were evicted while it watched. What a server evicted before is not counted.
  std::uint64_t seen() const { return seen_; }

 private:
  bool replied(std::uint64_t token, Link& link, RespReply reply, Instant now) override;
  void failed(std::uint64_t, bool, Instant) override {}

  Topology& topology_;
  Micros due_us_ = Link::kNeverDue_us;
  std::vector<Link*> links_;
  std::map<std::string, std::uint64_t> told_;  // by address: its last word
  std::uint64_t seen_ = 0;
};

}  // namespace ratel
