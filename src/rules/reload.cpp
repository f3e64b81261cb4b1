#include "rules/reload.h"

namespace ratel {

Result<RuleBookPtr> Reloader::offer(std::vector<RuleFile> files) {
  if (in_force_ == files) return RuleBookPtr();
  Result<std::vector<Rule>> rules = load_rules(files);
  if (!rules.ok()) return rules.error();
  for (Rule& rule : *rules) rule.series = series_of_(rule.name);
  book_ = std::make_shared<const RuleBook>(*std::move(rules));
  in_force_ = std::move(files);
  return book_;
}

}  // namespace ratel
