#include "rules/rule_book.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "base/nearest.h"

namespace ratel {
namespace {

/// A request with an unknown rule costs no more than looking at this many names.
constexpr std::size_t kConsideredMax = 1'000;

}  // namespace

RuleBook::RuleBook(std::vector<Rule> rules) : rules_(std::move(rules)), by_name_(rules_.size()) {
  std::iota(by_name_.begin(), by_name_.end(), 0U);
  std::sort(by_name_.begin(), by_name_.end(),
            [this](std::uint32_t a, std::uint32_t b) { return rules_[a].name < rules_[b].name; });
  for (std::size_t i = 1; i < by_name_.size(); ++i) CHECK(rules_[by_name_[i - 1]].name != rules_[by_name_[i]].name);
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    CHECK(!rules_[i].limits.empty());
    rules_[i].index = static_cast<std::uint32_t>(i + 1);
  }
}

const Rule* RuleBook::find(std::string_view name) const {
  const auto found =
      std::lower_bound(by_name_.begin(), by_name_.end(), name,
                       [this](std::uint32_t i, std::string_view sought) { return rules_[i].name < sought; });
  if (found == by_name_.end() || rules_[*found].name != name) return nullptr;
  return &rules_[*found];
}

std::string_view RuleBook::nearest(std::string_view name) const {
  Nearest nearest(name);
  for (std::size_t i = 0; i < std::min(rules_.size(), kConsideredMax); ++i) nearest.consider(rules_[i].name);
  return nearest.name();
}

}  // namespace ratel
