#include <gtest/gtest.h>
#include "base/check.h"
TEST(Check, AbortsAndNamesTheCondition) { EXPECT_DEATH(CHECK(1 == 2), "CHECK failed: 1 == 2"); }
