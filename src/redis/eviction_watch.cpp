#include "redis/eviction_watch.h"

#include "redis/store_facts.h"
#include "wire/resp_command.h"

namespace ratel {

void EvictionWatch::tick(Instant now) {
  if (now.monotonic_us < due_us_) return;
  links_.clear();
  topology_.add_primaries(links_);
  due_us_ = now.monotonic_us + (links_.empty() ? kAgain_us : kApart_us);
  if (links_.empty()) return;
  before_ = std::exchange(told_, {});  // those that are primaries no longer are forgotten
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
  const std::string server = format_address(link.address());
  const auto before = before_.find(server);
  // One that says less than before has begun anew.
  if (before != before_.end() && *facts.evicted_keys > before->second) seen_ += *facts.evicted_keys - before->second;
  told_[server] = *facts.evicted_keys;
  return true;
}

}  // namespace ratel
