#include "ratel/decision.h"

#include "base/check.h"

namespace ratel {

const char* name_of(Source source) {
  switch (source) {
    case Source::kExact: return "exact";
    case Source::kDenyCache: return "deny_cache";
    case Source::kPrepaid: return "prepaid";
    case Source::kLocal: return "local";
    case Source::kFailedOpen: return "failed_open";
    case Source::kFailedClosed: return "failed_closed";
  }
  CHECK(false);
}

}  // namespace ratel
