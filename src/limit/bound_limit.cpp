#include "limit/bound_limit.h"

#include <initializer_list>

namespace ratel {
namespace {

/// Fields as `length:bytes`, after a letter for the space, which no other space begins with.
std::string fields(char space, std::initializer_list<std::string_view> values) {
  std::string identity(1, space);
  for (const std::string_view value : values) {
    identity.append(std::to_string(value.size())).append(1, ':').append(value);
  }
  return identity;
}

/// A count over one period says nothing about another, so a window's length is part of which window it is.
std::string window_of(const Limit& limit) {
  switch (limit.algorithm) {
    case Algorithm::kGcra:
    case Algorithm::kConcurrency:
      return {};
    case Algorithm::kFixedWindow:
    case Algorithm::kSlidingWindow:
    case Algorithm::kSlidingLog:
      break;
  }
  std::string window = std::to_string(limit.period_us);
  if (limit.calendar != CalendarUnit::kNone) window.append(" ").append(limit.zone_name);
  return window;
}

}  // namespace

std::string rule_identity(std::string_view rule, std::string_view which, const Limit& limit) {
  return fields('R', {rule, which, name_of(limit.algorithm), window_of(limit)});
}

std::string adhoc_identity(std::string_view canonical_text, const Limit& limit) {
  return fields('L', {canonical_text, name_of(limit.algorithm), window_of(limit)});
}

std::string_view throttle_identity() {
  return "T";
}

BoundLimit probe_limit() {
  return {.limit = *make_limit({.count = 1'000'000, .period_us = kSecond_us}), .identity = "P", .label = "probe"};
}

BoundLimit heartbeat_limit() {
  return {.limit = *make_limit({.algorithm = Algorithm::kConcurrency, .count = 1'000'000}),
          .identity = "H",
          .label = "heartbeat"};
}

}  // namespace ratel
