#pragma once
// The rules as they are in force: immutable, swapped whole on reload.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "limit/bound_limit.h"
#include "limit/question.h"
#include "ratel/result.h"

namespace ratel {


enum class HeaderStyle : std::uint8_t { kRateLimit, kXRateLimit, kNone };
enum class KeyKind : std::uint8_t { kText, kIp };

struct Rule {
  std::string name;
  std::vector<BoundLimit> limits;  // at least one; either all are concurrency or none is
  KeyKind key = KeyKind::kText;
  int ipv6_prefix = 64;  // 1 to 128, of KeyKind::kIp
  Micros deadline_us = 50'000;
  FailureMode on_store_failure = FailureMode::kLocal;
  Micros max_wait_us = 0;
  Micros lease_us = 30 * kSecond_us;
  bool shadow = false;
  HeaderStyle headers = HeaderStyle::kRateLimit;

  /// `place` from 1, counted over the book; a dense index for counters.
  std::uint32_t index = 0;
  /// The row of counters for LoopMetrics::decided, given by whoever puts the book in force: one a name, over reloads.
  std::uint32_t series = 0;
};

/// Immutable; any thread may read.
class RuleBook {
 public:
  RuleBook() = default;
  explicit RuleBook(std::vector<Rule> rules);

  /// nullptr when there is none. A pointer lives as long as the book.
  const Rule* find(std::string_view name) const;
  /// The known name nearest to a misspelt one, or empty when none is near.
  std::string_view nearest(std::string_view name) const;
  std::span<const Rule> rules() const { return rules_; }

 private:
  std::vector<Rule> rules_;
  std::vector<std::uint32_t> by_name_;  // indices into rules_, sorted by name
};

using RuleBookPtr = std::shared_ptr<const RuleBook>;  // shared: questions under way keep the book they began with

}  // namespace ratel
