#include "rules/reload.h"

namespace ratel {

Result<RuleBookPtr> Reloader::offer(std::vector<RuleFile> files) {
  if (seen_ == files) return RuleBookPtr();
  seen_ = std::move(files);
  Result<std::vector<Rule>> rules = load_rules(*seen_);
  if (!rules.ok()) return rules.error();
  for (Rule& rule : *rules) rule.series = series_of_(rule.name);
  book_ = std::make_shared<const RuleBook>(*std::move(rules));
  return book_;
}

}  // namespace ratel
