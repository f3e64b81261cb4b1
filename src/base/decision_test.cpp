#include "ratel/decision.h"

#include <gtest/gtest.h>

namespace ratel {
namespace {

TEST(Source, HasItsNameOnTheWire) {
  struct Case {
    Source source;
    const char* name;
  };
  const Case cases[] = {
      {Source::kExact, "exact"}, {Source::kDenyCache, "deny_cache"},    {Source::kPrepaid, "prepaid"},
      {Source::kLocal, "local"}, {Source::kFailedOpen, "failed_open"}, {Source::kFailedClosed, "failed_closed"},
  };
  for (const Case& c : cases) EXPECT_STREQ(name_of(c.source), c.name);
}

}  // namespace
}  // namespace ratel
