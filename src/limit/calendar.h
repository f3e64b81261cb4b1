#pragma once
// Calendar windows: which minute, hour, day, week, month or year of a time zone an instant lies in.
//
// Windows tile time: each ends where the next begins, whatever the zone's clocks do. Minutes and hours are those of
// UTC. Day, week (from Monday), month and year begin at local midnight; where midnight does not exist, at the jump;
// where it comes twice, at the first. Zones are the system's (tzdata), which lists transitions up to the end of 2037;
// from then on a zone keeps its last standard time. Pure but for the zone database's lazy loading, which is
// thread-safe.

#include <string>

#include "base/micros.h"
#include "limit/limit.h"

namespace ratel {

/// Half open: start_us <= t < end_us, in microseconds since the Unix epoch.
struct CalendarWindow {
  Micros start_us = 0;
  Micros end_us = 0;

  friend bool operator==(const CalendarWindow&, const CalendarWindow&) = default;
};

/// A month is 30 days and a year 365, as in the text of a limit.
Micros nominal_length_us(CalendarUnit unit);

/// nullptr when there is no such zone. What it points to lives for ever.
const void* find_zone(const std::string& name);

/// REQUIRES: `limit` has a calendar unit; 0 <= wall_us, before the year 9999.
CalendarWindow calendar_window(const Limit& limit, Micros wall_us);

}  // namespace ratel
