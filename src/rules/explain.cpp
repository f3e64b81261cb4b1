#include "rules/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/duration.h"

namespace ratel {
namespace {

/// A wait for people: in its largest unit, two decimals, rounded up.
std::string wait_text(Micros us) {
  struct Unit {
    std::string_view name;
    Micros us;
  };
  constexpr std::array kUnits{Unit{"d", kDay_us}, Unit{"h", kHour_us}, Unit{"m", kMinute_us}, Unit{"s", kSecond_us},
                              Unit{"ms", 1'000}};
  for (const Unit& unit : kUnits) {
    if (us < unit.us) continue;
    if (us % unit.us == 0) return fmt::format("{}{}", us / unit.us, unit.name);
    const std::int64_t hundredths = ceil_div(us * 100, unit.us);
    std::string text = fmt::format("{}.{:02}", hundredths / 100, hundredths % 100);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text.append(unit.name);
  }
  return fmt::format("{}us", us);
}

std::string period_text(const Limit& limit) {
  struct Name {
    Micros us;
    std::string_view of_clock;
    std::string_view of_calendar;
  };
  constexpr std::array kNames{Name{kSecond_us, "second", "second"},   Name{kMinute_us, "minute", "minute"},
                              Name{kHour_us, "hour", "hour"},         Name{kDay_us, "24 hours", "day"},
                              Name{7 * kDay_us, "7 days", "week"},    Name{30 * kDay_us, "30 days", "month"},
                              Name{365 * kDay_us, "365 days", "year"}};
  for (const Name& name : kNames) {
    if (name.us != limit.period_us) continue;
    return std::string(limit.calendar == CalendarUnit::kNone ? name.of_clock : name.of_calendar);
  }
  return format_duration(limit.period_us);
}

std::string next_boundary_text(const Limit& limit) {
  const bool local = limit.calendar >= CalendarUnit::kDay;  // minutes and hours go by UTC
  return fmt::format("the next {} begins{}", period_text(limit),
                     local ? fmt::format(" ({})", limit.zone_name.empty() ? "UTC" : limit.zone_name) : "");
}

struct Lines {
  std::string at_once;
  std::string sustained;
  std::string worst_minute;
  std::string denied;
};

Lines lines_of(const Limit& limit, Micros lease_us) {
  if (limit.unlimited) return {"everything", "everything", "not limited", "never denied, never counted"};
  if (limit.count == 0) return {"nothing", "nothing", "0", "never: it denies all"};
  if (limit.algorithm == Algorithm::kConcurrency) {
    return {fmt::format("{} under way at the same time", limit.count),
            "as many as finish: what counts is how many run, not how often", "not limited",
            fmt::format("when a holder releases, at the latest when a lease runs out ({} after its last renewal)",
                        wait_text(lease_us))};
  }
  const std::string rate = fmt::format("{} per {}", limit.count, period_text(limit));
  const Micros interval_us = ceil_div(limit.period_us, limit.count);
  Lines lines{fmt::format("{}", limit.capacity), rate, fmt::format("at most {}", *worst_minute(limit)), ""};
  switch (limit.algorithm) {
    case Algorithm::kGcra:
      lines.sustained += fmt::format(", one every {}", wait_text(interval_us));
      lines.denied = fmt::format("within {} (cost 1), as Retry-After says", wait_text(interval_us));
      break;
    case Algorithm::kFixedWindow:
      lines.denied = limit.calendar == CalendarUnit::kNone
                         ? fmt::format("when the window ends, within {} of its first hit", wait_text(limit.period_us))
                         : fmt::format("when {}", next_boundary_text(limit));
      break;
    case Algorithm::kSlidingWindow:
      lines.denied = fmt::format("within {} (cost 1), as Retry-After says", wait_text(limit.period_us + interval_us));
      break;
    case Algorithm::kSlidingLog:
      lines.denied = fmt::format("within {}, as Retry-After says", wait_text(limit.period_us));
      break;
    case Algorithm::kConcurrency:
      break;
  }
  return lines;
}

std::string limit_text(const Limit& limit) {
  if (limit.unlimited) return "unlimited";
  if (limit.algorithm == Algorithm::kConcurrency) return fmt::format("{} concurrent", limit.count);
  std::string text = fmt::format("{} per {}", limit.count, period_text(limit));
  if (limit.algorithm == Algorithm::kGcra && limit.capacity != limit.count)
    text += fmt::format(" burst {}", limit.capacity);
  text += fmt::format(", {}", name_of(limit.algorithm));
  if (limit.calendar != CalendarUnit::kNone) text += fmt::format(" on the calendar");
  return text;
}

/// What several limits let through together, where one of them binds both.
std::string together(const Rule& rule) {
  std::optional<std::int64_t> at_once;
  std::optional<std::int64_t> minute;
  const auto least = [](std::optional<std::int64_t> a, std::int64_t b) { return a ? std::min(*a, b) : b; };
  for (const BoundLimit& bound : rule.limits) {
    if (bound.limit.unlimited) continue;
    at_once = least(at_once, bound.limit.capacity);
    if (const auto worst = worst_minute(bound.limit)) minute = least(minute, *worst);
  }
  if (!at_once) return {};
  std::string text = fmt::format("  all of them must agree, and only then are charged: at once {}", *at_once);
  if (minute) text += fmt::format(", worst minute at most {}", *minute);
  return text + "\n";
}

}  // namespace

std::optional<std::int64_t> worst_minute(const Limit& limit) {
  if (limit.unlimited || limit.algorithm == Algorithm::kConcurrency) return std::nullopt;
  if (limit.count == 0) return 0;
  // Products stay below 6e7 * 2^32 < 2^63.
  const std::int64_t count = limit.count;
  const Micros period_us = limit.period_us;
  const std::int64_t whole_periods = kMinute_us / period_us;
  switch (limit.algorithm) {
    case Algorithm::kGcra:
      return limit.capacity + kMinute_us * count / period_us;
    case Algorithm::kFixedWindow:
      // Calendar windows are a minute or longer: a full one ends where the next begins.
      if (limit.calendar != CalendarUnit::kNone) return 2 * count;
      if (kMinute_us % period_us == 0) return count * (whole_periods + 1);
      return count * (whole_periods + 2) - 1;  // the first hit of the first window came before the minute
    case Algorithm::kSlidingWindow:
      return count + count * (kMinute_us - 1) / period_us;
    case Algorithm::kSlidingLog:
      return count * ceil_div(kMinute_us, period_us);
    case Algorithm::kConcurrency:
      break;
  }
  return std::nullopt;
}

std::string explain(const Rule& rule) {
  std::string text = rule.name;
  if (rule.key == KeyKind::kIp) text += fmt::format(" (by address, IPv6 by /{})", rule.ipv6_prefix);
  if (rule.shadow) text += " (shadow: counts, denies nobody; what follows is what it would do)";
  text += "\n";
  for (const BoundLimit& bound : rule.limits) {
    const Lines lines = lines_of(bound.limit, rule.lease_us);
    const std::string label = bound.label == rule.name ? "" : fmt::format("{}: ", bound.label);
    text += fmt::format(
        "  {}{}\n    at once       {}\n    sustained     {}\n    worst minute  {}\n    denied may return  {}\n", label,
        limit_text(bound.limit), lines.at_once, lines.sustained, lines.worst_minute, lines.denied);
  }
  if (rule.limits.size() > 1) text += together(rule);
  if (rule.max_wait_us > 0) text += fmt::format("  reservations book up to {} ahead\n", wait_text(rule.max_wait_us));
  return text;
}

}  // namespace ratel
