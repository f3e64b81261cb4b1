#pragma once
// Counters and histograms, and their Prometheus text.
//
// Each event loop writes a LoopMetrics of its own, without locks; a scrape on any thread sums them.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/micros.h"
#include "ratel/decision.h"

namespace ratel {

/// Why an input was not even a question.
enum class Rejected : std::uint8_t { kProtocol, kUnknownCommand, kBadArgument, kUnknownRule, kUnauthorized, kForbiddenOrigin, kTooLarge };

class LoopMetrics {
 public:
  virtual ~LoopMetrics() = default;
  /// `series` from Metrics::series.
  virtual void decided(std::uint32_t series, bool allowed, bool would_deny, Source source) = 0;
  virtual void rejected(Rejected reason) = 0;
  /// `questions` were answered in a turn that took this long from the first byte read to the last answer made.
  virtual void answered(std::uint32_t questions, std::int64_t took_ns) = 0;
};

}  // namespace ratel
