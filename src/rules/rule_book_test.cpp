#include "rules/rule_book.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rules/load_rules.h"

namespace ratel {
namespace {

RuleBook book_of(const std::vector<std::string_view>& names) {
  std::vector<Rule> rules;
  for (const std::string_view name : names) {
    Rule rule;
    rule.name = name;
    rule.limits.resize(1);
    rules.push_back(std::move(rule));
  }
  return RuleBook(std::move(rules));
}

TEST(RuleBook, FindsByNameAndKeepsTheOrderOfTheFile) {
  const RuleBook book = book_of({"login", "api", "a", "checkout"});
  ASSERT_EQ(book.rules().size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const Rule& rule = book.rules()[i];
    EXPECT_EQ(rule.index, i + 1);
    EXPECT_EQ(book.find(rule.name), &rule);
  }
  for (const std::string_view name : {"", "b", "logi", "login2", "zzz", "Login"})
    EXPECT_EQ(book.find(name), nullptr) << name;
  EXPECT_EQ(RuleBook().find("login"), nullptr);
}

TEST(RuleBook, KnowsTheNearestName) {
  const RuleBook book = book_of({"login", "api", "checkout"});
  EXPECT_EQ(book.nearest("lgoin"), "login");
  EXPECT_EQ(book.nearest("chekout"), "checkout");
  EXPECT_EQ(book.nearest("payments"), "");
  EXPECT_EQ(RuleBook().nearest("login"), "");
}

TEST(RuleBook, LooksForTheNearestAmongTheFirstThousand) {
  std::vector<std::string> names;
  for (int i = 0; i < 999; ++i) names.push_back("number" + std::to_string(i));
  names.insert(names.end(), {"login", "checkout"});
  const RuleBook book = book_of({names.begin(), names.end()});
  EXPECT_EQ(book.nearest("lgoin"), "login");
  EXPECT_EQ(book.nearest("chekout"), "");
}

TEST(RuleBook, ABookWithANameTwiceIsAProgrammersError) {
  EXPECT_DEATH(book_of({"a", "b", "a"}), "CHECK failed");
}

}  // namespace
}  // namespace ratel
