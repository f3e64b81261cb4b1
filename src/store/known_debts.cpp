#include "store/known_debts.h"

#include "base/check.h"

namespace ratel {

KnownDebts::KnownDebts(std::size_t entries) : buckets_((entries + 7) / 8) {
  CHECK(entries >= 1);
}

void KnownDebts::told(const Hash& hash, std::int64_t used, Micros until_us, Micros decided_us, Micros now_us) {
  Bucket& bucket = bucket_of(hash);
  const MutexLock lock(bucket.mutex);
  Entry* place = &bucket.entries.front();
  for (Entry& entry : bucket.entries) {
    if (entry.hash == hash) {
      place = &entry;
      break;
    }
    if (entry.debt.until_us < place->debt.until_us) place = &entry;
  }
  const bool is_over = used <= 0 || until_us <= now_us;
  if (place->hash == hash) {
    if (decided_us < place->decided_us && now_us - place->debt.told_us < kDisorder_us) return;
  } else if (is_over || (place->debt.until_us > now_us && place->debt.until_us >= until_us)) {
    return;
  }
  // What is over keeps its place until that is wanted, so that nothing older takes it.
  *place = {hash, {.used = used, .told_us = now_us, .until_us = is_over ? now_us : until_us}, decided_us};
}

KnownDebts::Debt KnownDebts::find(const Hash& hash, Micros now_us) const {
  Bucket& bucket = bucket_of(hash);
  const MutexLock lock(bucket.mutex);
  for (const Entry& entry : bucket.entries) {
    if (entry.hash == hash) return entry.debt.until_us > now_us ? entry.debt : Debt{};
  }
  return {};
}

}  // namespace ratel
