#include "limit/calendar.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace ratel {
namespace {

Limit on_calendar(CalendarUnit unit, const std::string& zone) {
  return *make_limit({.algorithm = Algorithm::kFixedWindow,
                      .count = 5,
                      .period_us = nominal_length_us(unit),
                      .calendar = unit,
                      .zone = zone});
}

constexpr Micros at(std::int64_t seconds) {
  return seconds * kSecond_us;
}

struct Case {
  const char* name;
  CalendarUnit unit;
  const char* zone;
  std::int64_t now_s;
  std::int64_t start_s;
  std::int64_t end_s;
};

// Seconds of the Unix epoch as `date -d` gives them.
TEST(Calendar, KnowsTheWindowsOfClocksThatJump) {
  const std::vector<Case> cases{
      {"a minute of UTC", CalendarUnit::kMinute, "America/New_York", 1'764'547'259, 1'764'547'200, 1'764'547'260},
      {"an hour of UTC, in a zone of half hours", CalendarUnit::kHour, "Asia/Kolkata", 1'764'547'259, 1'764'547'200,
       1'764'550'800},
      {"a day of 23 hours", CalendarUnit::kDay, "America/New_York", 1'772'960'000, 1'772'946'000, 1'773'028'800},
      {"a day of 25 hours", CalendarUnit::kDay, "America/New_York", 1'793'520'000, 1'793'505'600, 1'793'595'600},
      {"a week from Monday", CalendarUnit::kWeek, "Europe/Berlin", 1'774'800'000, 1'774'220'400, 1'774'821'600},
      {"a month that summer time begins in", CalendarUnit::kMonth, "Europe/Berlin", 1'774'800'000, 1'772'319'600,
       1'774'994'400},
      {"a leap February", CalendarUnit::kMonth, "", 1'835'308'800, 1'832'976'000, 1'835'481'600},
      {"a year", CalendarUnit::kYear, "Asia/Tokyo", 1'764'547'200, 1'735'657'200, 1'767'193'200},
      // Chile springs forward at midnight: 2025-09-07 begins at 01:00, which is 04:00 UTC.
      {"a day whose midnight does not exist", CalendarUnit::kDay, "America/Santiago", 1'757'220'000, 1'757'217'600,
       1'757'300'400},
      {"the day before it", CalendarUnit::kDay, "America/Santiago", 1'757'217'599, 1'757'131'200, 1'757'217'600},
      // Azores fall back at 01:00 to 00:00: 2025-10-26 has two midnights, the first at 00:00 UTC.
      {"a day whose midnight comes twice", CalendarUnit::kDay, "Atlantic/Azores", 1'761'440'400, 1'761'436'800,
       1'761'526'800},
      {"between its midnights", CalendarUnit::kDay, "Atlantic/Azores", 1'761'438'000, 1'761'436'800, 1'761'526'800},
      // Newfoundland fell back at 00:01 to 23:01 of the day before, which was over by then.
      {"a day that is left once more", CalendarUnit::kDay, "America/St_Johns", 1'289'097'900, 1'289'097'000,
       1'289'187'000},
      {"and its month", CalendarUnit::kMonth, "America/St_Johns", 1'289'097'900, 1'288'578'600, 1'291'174'200},
      // In Havana 2025-11-02 01:00 becomes 00:00.
      {"Havana's first midnight", CalendarUnit::kDay, "America/Havana", 1'762'056'000, 1'762'056'000, 1'762'146'000},
      // Samoa had no 30 December 2011.
      {"the day before a missing day", CalendarUnit::kDay, "Pacific/Apia", 1'325'239'199, 1'325'152'800, 1'325'239'200},
      {"the day after it", CalendarUnit::kDay, "Pacific/Apia", 1'325'239'200, 1'325'239'200, 1'325'325'600},
  };
  for (const Case& c : cases) {
    const CalendarWindow window = calendar_window(on_calendar(c.unit, c.zone), at(c.now_s) + 999'999);
    EXPECT_EQ(window.start_us, at(c.start_s)) << c.name;
    EXPECT_EQ(window.end_us, at(c.end_s)) << c.name;
    EXPECT_EQ(calendar_window(on_calendar(c.unit, c.zone), at(c.start_s)), window) << c.name;
  }
}

// 46
RC_GTEST_PROP(Calendar, WindowsTileTime, ()) {
  const std::vector<std::string> zones{"",
                                       "America/New_York",
                                       "Europe/Berlin",
                                       "America/Santiago",
                                       "Atlantic/Azores",
                                       "America/Havana",
                                       "Asia/Kolkata",
                                       "Australia/Lord_Howe",
                                       "Pacific/Apia",
                                       "Africa/Casablanca",
                                       "Asia/Tehran",
                                       "America/St_Johns"};
  const std::vector<CalendarUnit> units{CalendarUnit::kMinute, CalendarUnit::kHour,  CalendarUnit::kDay,
                                        CalendarUnit::kWeek,   CalendarUnit::kMonth, CalendarUnit::kYear};
  const CalendarUnit unit = *rc::gen::elementOf(units);
  const Limit limit = on_calendar(unit, *rc::gen::elementOf(zones));
  const Micros now_us = *rc::gen::inRange<Micros>(0, at(3'000'000'000));
  CalendarWindow window = calendar_window(limit, now_us);
  RC_ASSERT(window.start_us <= now_us && now_us < window.end_us);
  const int many = unit == CalendarUnit::kDay ? 800 : 20;
  for (int i = 0; i < many; ++i) {
    RC_ASSERT(calendar_window(limit, window.end_us - 1) == window);
    const CalendarWindow next = calendar_window(limit, window.end_us);
    RC_ASSERT(next.start_us == window.end_us);
    RC_ASSERT(next.end_us > next.start_us);
    const Micros inside_us = std::min(next.end_us - 1, next.start_us + kHour_us / 2);  // where clocks fall back
    RC_ASSERT(calendar_window(limit, inside_us) == next);
    window = next;
  }
}

TEST(Calendar, KnowsZonesByNameOnly) {
  EXPECT_NE(find_zone("UTC"), nullptr);
  EXPECT_NE(find_zone("Europe/Berlin"), nullptr);
  EXPECT_EQ(find_zone("Europe/Nowhere"), nullptr);
  EXPECT_EQ(find_zone(""), nullptr);
  EXPECT_EQ(find_zone("../../etc/passwd"), nullptr);
}

}  // namespace
}  // namespace ratel
