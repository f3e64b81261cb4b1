#include "redis/key_name.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "limit/question.h"

namespace ratel {
namespace {

std::string name(std::string_view prefix, std::string_view identity, std::string_view subject) {
  std::string out;
  append_key_name(prefix, identity, subject, out);
  return out;
}

/// What Redis Cluster hashes of a key, by its documentation: what the first braces hold, if they hold anything.
std::string tag_of(const std::string& key) {
  const auto open = key.find('{');
  if (open == std::string::npos) return key;
  const auto close = key.find('}', open);
  if (close == std::string::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

const std::string kLong(kPlainNameBytesMax + 1, 'a');

TEST(KeyName, IsReadableWhereTheSubjectIsPlainAndHashedOtherwise) {
  struct Case {
    std::string subject;
    std::string tag;
  };
  const Case cases[] = {
      {"alice", "alice"},
      {"2001:db8:0:1::/64", "2001:db8:0:1::/64"},
      {"alice@example.com", "alice@example.com"},
      {kLong.substr(1), kLong.substr(1)},
      {kLong, "#635361c48bb9eab14198e76ea8ab7f1a"},
      {"", "#e3b0c44298fc1c149afbf4c8996fb924"},
      {"}", "#d10b36aa74a59bcf4a88185837f658af"},
      {"#e3b0c44298fc1c149afbf4c8996fb924", "#ed6acccd29b054a249542d9c7334bcd7"},
      {"a b", "#c8687a08aa5d6ed2044328fa6a697ab8"},
      {std::string("\0", 1), "#6e340b9cffb37a989ca544e6bb780a2c"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(name("ratel", "R3:api1:14:gcra0:", c.subject), "ratel:1:{" + c.tag + "}:R3:api1:14:gcra0:");
  }
}

TEST(KeyName, IsBoundedWhateverItIsMadeOf) {
  const std::string prefix(kKeyPrefixBytesMax, 'p');
  const std::string plain(kPlainNameBytesMax, 'a');
  EXPECT_EQ(name(prefix, plain, plain).size(), kKeyNameBytesMax);
  EXPECT_LT(name(prefix, std::string(kKeyBytesMax, 'i'), std::string(kKeyBytesMax, 's')).size(), kKeyNameBytesMax);
}

TEST(KeyName, PrefixesHoldNothingThatPartsAName) {
  for (const char* good : {"ratel", "a", "fleet-2.blue_x"}) EXPECT_TRUE(is_key_prefix(good)) << good;
  for (const char* bad : {"", "a:b", "{a}", "a b", "\xc3\xa4", "abcdefghijklmnopqrstuvwxyz0123456"}) {
    EXPECT_FALSE(is_key_prefix(bad)) << bad;
  }
}

// 26
RC_GTEST_PROP(KeyName, NeverRunsTogetherAndOneSubjectIsOneSlot, ()) {
  const auto prefix = rc::gen::element<std::string>("a", "a1", "ratel", "1");
  // Few letters, so that different fields often look alike at their ends.
  const auto field = rc::gen::oneOf(
      rc::gen::container<std::string>(rc::gen::element('a', '1', ':', '{', '}', '#', '\0')),
      rc::gen::element(kLong, kLong.substr(1), kLong + "b", name("a", "b", kLong)), rc::gen::arbitrary<std::string>());
  struct Counter {
    std::string prefix, identity, subject;
    bool operator==(const Counter&) const = default;
  };
  const Counter one{*prefix, *field, *field};
  Counter other = one;
  if (*rc::gen::inRange(0, 2) == 0) other.prefix = *prefix;
  if (*rc::gen::inRange(0, 2) == 0) other.identity = *field;
  if (*rc::gen::inRange(0, 2) == 0) other.subject = *field;
  const std::string one_name = name(one.prefix, one.identity, one.subject);
  const std::string other_name = name(other.prefix, other.identity, other.subject);
  RC_ASSERT((one_name == other_name) == (one == other));
  RC_ASSERT((tag_of(one_name) == tag_of(other_name)) == (one.subject == other.subject));
  RC_ASSERT(one_name.size() <= kKeyNameBytesMax);
}

}  // namespace
}  // namespace ratel
