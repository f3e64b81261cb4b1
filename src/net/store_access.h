#pragma once
// What it takes to connect to a store from a thread that may block: a loop for it to turn while it waits, names, TLS.

#include <memory>
#include <optional>

#include "net/event_loop.h"
#include "net/name_resolver.h"
#include "net/tls_client.h"

namespace ratel {

/// Belongs to one thread.
class StoreAccess {
 public:
  /// The error is of a file for TLS. `tls` is nullptr where the store wants none. The clock outlives this.
  static Result<std::unique_ptr<StoreAccess>> make(const Clock& clock, const TlsClientOptions* tls) {
    std::optional<TlsClient> client;
    if (tls != nullptr) {
      Result<TlsClient> made = TlsClient::make(*tls);
      if (!made.ok()) return made.error();
      client = *std::move(made);
    }
    return std::unique_ptr<StoreAccess>(new StoreAccess(clock, std::move(client)));
  }

  const Clock& clock() const { return clock_; }
  EventLoop& loop() { return loop_; }
  NameResolver& resolver() { return resolver_; }
  const TlsClient* tls() const { return tls_ ? &*tls_ : nullptr; }

 private:
  StoreAccess(const Clock& clock, std::optional<TlsClient> tls)
      : clock_(clock), tls_(std::move(tls)), loop_(clock, {.tick = [] {}, .turn_ended = [] {}}) {}

  const Clock& clock_;
  const std::optional<TlsClient> tls_;
  EventLoop loop_;
  NameResolver resolver_;  // gone before the loop, to which it may still post
};

}  // namespace ratel
