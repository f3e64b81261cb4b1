// Any bytes as a file of rules, and as one of settings: no crash, no exception, no unbounded work; and what loads is
// good enough to explain. People write these files, and so do their templates.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "rules/explain.h"
#include "rules/load_rule.h"
#include "rules/load_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ratel;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const bool has_settings = size % 2 == 1;
  const RuleFile file{.name = "fuzz.yaml", .text = text, .has_settings = has_settings};
  const Result<std::vector<Rule>> rules = load_rules(std::span(&file, 1));
  if (!rules.ok()) {
    CHECK(!rules.error().message.empty());
    return 0;
  }
  for (const Rule& rule : *rules) {
    CHECK(check_rule_name(rule.name).ok());
    CHECK(!rule.limits.empty());
    for (const BoundLimit& bound : rule.limits) CHECK(!bound.identity.empty() && bound.label.starts_with(rule.name));
    CHECK(!explain(rule).empty());
  }
  const RuleBook book(*rules);
  for (const Rule& rule : *rules) CHECK(book.find(rule.name) != nullptr);
  return 0;
}
