#include "redis/eviction_watch.h"

#include <utility>

#include "redis/cluster.h"
#include "redis/store_facts.h"
#include "wire/resp_command.h"

namespace ratel {

void EvictionWatch::tick(Instant now) {
  if (now.monotonic_us < due_us_) return;
  links_.clear();
  topology_.add_primaries(links_);
  due_us_ = now.monotonic_us + (links_.empty() ? kAgain_us : kApart_us);
  if (links_.empty()) return;
  if (told_.size() > kClusterNodesMax) told_.clear();  // most are of servers that are long gone
  std::string bytes;
  append_command({"INFO", "stats"}, bytes);
  for (Link* link : links_) link->send({.bytes = bytes, .deadline_us = kAnswer_us}, *this, 0, now);
}

bool EvictionWatch::replied(std::uint64_t, Link& link, RespReply reply, Instant) {
  if (reply.kind() == RespReply::Kind::kError) return true;  // we may have no right to ask
  if (reply.kind() != RespReply::Kind::kText) return false;
  StoreFacts facts;
  read_info(reply.text(), facts);
  if (!facts.evicted_keys) return true;
  const auto [told, is_new] = told_.try_emplace(format_address(link.address()), *facts.evicted_keys);
  const std::uint64_t before = std::exchange(told->second, *facts.evicted_keys);
  // One that says less than before has begun anew.
  if (!is_new && told->second > before) seen_ += told->second - before;
  return true;
}

}  // namespace ratel
