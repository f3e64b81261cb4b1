#pragma once
// The sockets of one loop's store: connects, reads and writes as its links say, with TLS where that is wanted. Belongs
// to the loop's thread.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/event_loop.h"
#include "net/fd.h"
#include "net/name_resolver.h"
#include "net/tls_client.h"
#include "redis/link.h"

namespace ratel {

class StoreSockets final : public Link::Shell {
 public:
  /// How long the kernel may go without an acknowledgement of what was written until it gives a connection up. Dead
  /// peers cost a failover's time, not a quarter of an hour.
  static constexpr unsigned kUnacknowledged_ms = 2'000;
  static constexpr int kKeepaliveIdle_s = 1, kKeepaliveInterval_s = 1, kKeepaliveProbes = 3;
  /// What is handed to TLS at a time: a record. It cannot be taken back then, though it may not have been sent.
  static constexpr std::size_t kTlsStagedMax = 16 * 1024;

  /// How long a name server may take until the addresses that were known before do as well.
  static constexpr Micros kUseKnown_us = 200 * kMillisecond_us;

  /// `tls` is nullptr for plain connections. All outlive the sockets. REQUIRES: SIGPIPE is ignored, where there is TLS.
  StoreSockets(EventLoop& loop, const Clock& clock, NameResolver& resolver, const TlsClient* tls);
  ~StoreSockets();

  /// Begins to connect what is to be connected, and writes what waits. Last in each turn, after whatever asks.
  void turn_ended();
  /// When a turn is due though nothing happens.
  Micros next_us() const { return next_us_; }

 private:
  class Socket;
  using Sockets = std::vector<std::unique_ptr<Socket>>;
  static constexpr Micros kNever_us = INT64_MAX;

  void dial(Link& link) override;
  void hang_up(Link& link) override;
  void wake(Link& link) override { woken_.push_back(&link); }

  Sockets::iterator find(const Link& link);

  EventLoop& loop_;
  const Clock& clock_;
  NameResolver& resolver_;
  const TlsClient* const tls_;
  Sockets sockets_;
  Sockets ended_;  // events of this turn may still name them
  std::vector<Socket*> to_dial_;
  std::vector<Link*> woken_;
  std::uint64_t dials_ = 0;     // so that each tries another of a name's addresses first
  Micros next_us_ = kNever_us;  // when one of them makes do with what is known of its name
};

}  // namespace ratel
