#pragma once
// What a rule does, in plain words, for `ratel check` and `ratel show`. Pure; any thread.

#include <cstdint>
#include <optional>
#include <string>

#include "rules/rule_book.h"

namespace ratel {

/// The most units that any 60 seconds can see, by the algorithm's own bound; nothing where no such bound exists
/// (unlimited, concurrency). Both ends of the minute count, but for sliding_log, whose window leaves one out.
std::optional<std::int64_t> worst_minute(const Limit& limit);

/// `5 per minute burst 10 (gcra)`.
std::string limit_text(const Limit& limit);

/// A wait for people: in its largest unit, two decimals, rounded up. REQUIRES: us >= 0
std::string wait_text(Micros us);

/// Several lines, the first one naming the rule: at once, sustained, worst minute, when a denied client may return.
std::string explain(const Rule& rule);

}  // namespace ratel
