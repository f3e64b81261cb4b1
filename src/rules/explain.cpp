#include "rules/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/duration.h"

namespace ratel {
namespace {

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
  if (limit.unlimited) return {"everything", "everything", "no bound", "nobody is denied, and nothing is counted"};
  if (limit.count == 0) return {"nothing", "nothing", "0", "never admitted: 0 denies all"};
  if (limit.algorithm == Algorithm::kConcurrency) {
    return {fmt::format("{} at the same time", limit.count), "as many as finish: what counts is how many are under way",
            "no bound",
            fmt::format("admitted when a holder releases, or when the lease of one that died runs out ({})",
                        wait_text(lease_us))};
  }
  const Micros interval_us = ceil_div(limit.period_us, limit.count);
  Lines lines{.at_once = fmt::format("{}", limit.capacity),
              .sustained = fmt::format("{} per {}", limit.count, period_text(limit)),
              .worst_minute = fmt::format("at most {}", *worst_minute(limit)),
              .denied = {}};
  switch (limit.algorithm) {
    case Algorithm::kGcra:
      if (limit.count <= limit.period_us) lines.sustained += fmt::format(", one every {}", wait_text(interval_us));
      lines.denied = fmt::format("admitted within {}", wait_text(interval_us));
      break;
    case Algorithm::kFixedWindow:
      lines.denied =
          limit.calendar == CalendarUnit::kNone
              ? fmt::format("admitted when the window ends, {} after its first hit", wait_text(limit.period_us))
              : fmt::format("admitted when {}", next_boundary_text(limit));
      break;
    case Algorithm::kSlidingWindow:
      lines.denied = fmt::format("admitted within {}", wait_text(limit.period_us + interval_us));
      break;
    case Algorithm::kSlidingLog:
      lines.denied = fmt::format("admitted within {}", wait_text(limit.period_us));
      break;
    case Algorithm::kConcurrency:
      break;
  }
  return lines;
}

/// What several limits let through together, where one of them binds both.
std::string together(const Rule& rule) {
  std::optional<std::int64_t> at_once;
  std::optional<std::int64_t> minute;
  for (const BoundLimit& bound : rule.limits) {
    if (bound.limit.unlimited) continue;
    at_once = std::min(at_once.value_or(bound.limit.capacity), bound.limit.capacity);
    if (const auto worst = worst_minute(bound.limit)) minute = std::min(minute.value_or(*worst), *worst);
  }
  if (!at_once) return {};
  std::string text = "  together (all must agree, or none is charged)\n";
  text += fmt::format("    at once         {}\n", *at_once);
  if (minute) text += fmt::format("    worst minute    at most {}\n", *minute);
  return text;
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

std::string limit_text(const Limit& limit) {
  if (limit.unlimited) return "unlimited";
  if (limit.algorithm == Algorithm::kConcurrency) return fmt::format("{} concurrent", limit.count);
  std::string text = fmt::format("{} per {}", limit.count, period_text(limit));
  if (limit.algorithm == Algorithm::kGcra && limit.capacity != limit.count) {
    text += fmt::format(" burst {}", limit.capacity);
  }
  return text +
         fmt::format(" ({}{})", limit.calendar == CalendarUnit::kNone ? "" : "calendar ", name_of(limit.algorithm));
}

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

std::string explain(const Rule& rule) {
  std::string text = rule.name;
  if (rule.key == KeyKind::kIp) text += fmt::format(", by address (IPv6: by /{})", rule.ipv6_prefix);
  if (rule.shadow) text += ", shadow: it counts and denies nobody; this is what it would do";
  text += "\n";
  for (const BoundLimit& bound : rule.limits) {
    const Lines lines = lines_of(bound.limit, rule.lease_us);
    const std::string label = bound.label == rule.name ? "" : fmt::format("{}: ", bound.label);
    text += fmt::format("  {}{}\n", label, limit_text(bound.limit));
    text += fmt::format("    at once         {}\n", lines.at_once);
    text += fmt::format("    sustained       {}\n", lines.sustained);
    text += fmt::format("    worst minute    {}\n", lines.worst_minute);
    text += fmt::format("    after a denial  {}\n", lines.denied);
  }
  if (rule.limits.size() > 1) text += together(rule);
  if (rule.max_wait_us > 0) text += fmt::format("  RESERVE books up to {} ahead\n", wait_text(rule.max_wait_us));
  return text;
}

}  // namespace ratel
