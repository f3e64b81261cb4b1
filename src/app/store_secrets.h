#pragma once
// Takes a store's passwords anew from their files when it no longer takes those it was told: somebody may have changed
// them in both places. Belongs to one event loop; reading a small file holds it up for a moment, in an outage.

#include <cstdint>

#include "app/settings.h"
#include "observe/log.h"
#include "redis/redis_store.h"

namespace ratel {

class StoreSecrets {
 public:
  /// The settings outlive it.
  explicit StoreSecrets(const Settings& settings) : settings_(settings) {}

  /// Once a second. What cannot be read changes nothing, and is logged.
  void tick(RedisStore& store, Log& log);

 private:
  const Settings& settings_;
  std::uint64_t refusals_ = 0;  // that have been seen to
};

}  // namespace ratel
