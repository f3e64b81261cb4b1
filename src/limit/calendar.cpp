#include "limit/calendar.h"

#include <date/tz.h>

#include <exception>

#include "base/check.h"

namespace ratel {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;
using SysMicros = date::sys_time<microseconds>;

/// No zone's clock was ever moved by more than a day at once.
constexpr date::days kLargestStep{2};

/// The local day with which the unit around `day` begins.
date::local_days first_day(CalendarUnit unit, date::local_days day) {
  const date::year_month_day ymd{day};
  switch (unit) {
    case CalendarUnit::kWeek:
      return day - (date::weekday{day} - date::Monday);
    case CalendarUnit::kMonth:
      return date::local_days{ymd.year() / ymd.month() / 1};
    case CalendarUnit::kYear:
      return date::local_days{ymd.year() / 1 / 1};
    default:
      return day;
  }
}

/// The first day of the unit after the one that begins with `first`.
date::local_days next_first_day(CalendarUnit unit, date::local_days first) {
  const date::year_month_day ymd{first};
  switch (unit) {
    case CalendarUnit::kWeek:
      return first + date::weeks{1};
    case CalendarUnit::kMonth:
      return date::local_days{ymd + date::months{1}};
    case CalendarUnit::kYear:
      return date::local_days{ymd + date::years{1}};
    default:
      return first + date::days{1};
  }
}

/// When `day` begins. `near` is the zone's offset around some instant; mostly it holds at that midnight too, which
/// saves a second search through the transitions.
date::sys_seconds midnight(const date::time_zone& zone, date::local_days day, const date::sys_info& near) {
  const date::sys_seconds guess = date::sys_seconds{seconds{day.time_since_epoch()} - near.offset};
  if (guess - kLargestStep >= near.begin && guess + kLargestStep < near.end) return guess;
  const date::local_info info = zone.get_info(date::local_seconds{day});
  if (info.result == date::local_info::nonexistent) return info.first.end;
  return date::sys_seconds{seconds{day.time_since_epoch()} - info.first.offset};
}

Micros micros(date::sys_seconds time) {
  return microseconds{time.time_since_epoch()}.count();
}

}  // namespace

Micros nominal_length_us(CalendarUnit unit) {
  switch (unit) {
    case CalendarUnit::kNone:
      return 0;
    case CalendarUnit::kMinute:
      return kMinute_us;
    case CalendarUnit::kHour:
      return kHour_us;
    case CalendarUnit::kDay:
      return kDay_us;
    case CalendarUnit::kWeek:
      return 7 * kDay_us;
    case CalendarUnit::kMonth:
      return 30 * kDay_us;
    case CalendarUnit::kYear:
      return 365 * kDay_us;
  }
  return 0;
}

const void* find_zone(const std::string& name) {
  try {
    const date::time_zone* zone = date::locate_zone(name);
    // Loads the zone's file now, so that a broken one is an error of the configuration and not of a question.
    static_cast<void>(zone->get_info(date::sys_seconds{}));
    return zone;
  } catch (const std::exception&) {
    return nullptr;
  }
}

CalendarWindow calendar_window(const Limit& limit, Micros wall_us) {
  CHECK(limit.calendar != CalendarUnit::kNone && limit.zone != nullptr);
  if (limit.calendar == CalendarUnit::kMinute || limit.calendar == CalendarUnit::kHour) {
    const Micros start_us = wall_us - wall_us % limit.period_us;
    return {start_us, start_us + limit.period_us};
  }
  const auto& zone = *static_cast<const date::time_zone*>(limit.zone);
  const auto now = date::floor<seconds>(SysMicros{microseconds{wall_us}});
  const date::sys_info info = zone.get_info(now);
  const date::local_seconds local{now.time_since_epoch() + info.offset};
  date::local_days first = first_day(limit.calendar, date::floor<date::days>(local));
  date::local_days next = next_first_day(limit.calendar, first);
  date::sys_seconds start = midnight(zone, first, info);
  date::sys_seconds end = midnight(zone, next, info);
  // After a midnight that comes twice the clock shows the day before once more; the new day has begun all the same.
  while (end <= now) {
    start = end;
    first = next;
    next = next_first_day(limit.calendar, first);
    end = midnight(zone, next, info);
  }
  return {micros(start), micros(end)};
}

}  // namespace ratel
