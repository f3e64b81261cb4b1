#pragma once
// A RedisStore on an event loop: its sockets and its timers. Belongs to the loop's thread.

#include <algorithm>

#include "base/randomness.h"
#include "net/store_sockets.h"
#include "redis/redis_store.h"

namespace ratel {

class StoreLoop {
 public:
  /// All but the options outlive it. `tls` is nullptr for plain connections.
  StoreLoop(EventLoop& loop, const Clock& clock, NameResolver& resolver, const TlsClient* tls,
            RedisStore::Options options, Randomness& randomness)
      : loop_(loop), sockets_(loop, clock, resolver, tls), store_(std::move(options), sockets_, randomness) {
    store_.start(loop.now());
    loop_.wake_by(loop.now().monotonic_us);
  }

  RedisStore& store() { return store_; }

  /// In each turn, after whatever asks and before whatever sends answers: what ends here by its deadline is answered
  /// here.
  void turn_ended() {
    const Instant now = loop_.now();
    if (now.monotonic_us >= store_.next_us()) store_.tick(now);
    sockets_.turn_ended();
    loop_.wake_by(std::min(store_.next_us(), sockets_.next_us()));
  }

 private:
  EventLoop& loop_;
  StoreSockets sockets_;
  RedisStore store_;
};

}  // namespace ratel
