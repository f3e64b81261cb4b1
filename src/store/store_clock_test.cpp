#include "store/store_clock.h"

#include <gtest/gtest.h>

namespace ratel {
namespace {

constexpr Micros kWall_us = 1'764'547'200'000'000;

TEST(StoreClock, DecidesByMonotonicTimeAndDatesByTheWall) {
  struct Case {
    const char* what;
    Instant now;
    StoreTime expected;
  };
  // One clock, in this order: started at monotonic 1,000.
  const Case cases[] = {
      {"the start", {1'000, kWall_us}, {kWall_us, kWall_us}},
      {"both go on", {6'000, kWall_us + 5'000}, {kWall_us + 5'000, kWall_us + 5'000}},
      {"readings that were torn apart",
       {7'000, kWall_us + 6'000 + StoreClock::kStep_us},
       {kWall_us + 6'000, kWall_us + 6'000}},
      {"a step forward", {8'000, kWall_us + kDay_us}, {kWall_us + 7'000, kWall_us + kDay_us}},
      {"goes on from there", {9'000, kWall_us + kDay_us + 1'000}, {kWall_us + 8'000, kWall_us + kDay_us + 1'000}},
      {"a turn begun before the step", {7'500, kWall_us + 6'500}, {kWall_us + 6'500, kWall_us + kDay_us - 500}},
      {"a step back", {10'000, kWall_us - kHour_us}, {kWall_us + 9'000, kWall_us - kHour_us}},
      {"a small step back is none", {11'000, kWall_us - kHour_us}, {kWall_us + 10'000, kWall_us - kHour_us + 1'000}},
  };
  StoreClock clock({1'000, kWall_us});
  for (const Case& c : cases) {
    const StoreTime got = clock.at(c.now);
    EXPECT_EQ(got.now_us, c.expected.now_us) << c.what;
    EXPECT_EQ(got.calendar_us, c.expected.calendar_us) << c.what;
  }
}

}  // namespace
}  // namespace ratel
