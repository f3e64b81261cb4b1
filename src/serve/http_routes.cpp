#include "serve/http_routes.h"

#include "base/nearest.h"
#include "serve/resolver.h"

namespace ratel {
namespace {

constexpr JsonField kRuleField = {.name = "rule", .slot = kRule, .kind = JsonKind::kTexts};
constexpr JsonField kLimitField = {.name = "limit", .slot = kLimit, .min = 1, .max = kLimitTextBytesMax};
constexpr JsonField kKeyField = {.name = "key", .slot = kKey, .max = kKeyBytesMax};
constexpr JsonField kCostField = {.name = "cost", .slot = kCost, .kind = JsonKind::kInteger, .max = kCostMax};
constexpr JsonField kAtMostField = {.name = "atmost", .slot = kAtMost, .kind = JsonKind::kBool};
constexpr JsonField kMaxWaitField = {
    .name = "max_wait_ms", .slot = kMaxWait, .kind = JsonKind::kInteger, .max = kMaxWaitMax_us / 1000};
constexpr JsonField kLeaseIdField = {.name = "lease_id", .slot = kLeaseId, .min = 1, .max = kLeaseIdBytesMax};
constexpr JsonField kTtlField = {
    .name = "ttl_ms", .slot = kTtl, .kind = JsonKind::kInteger, .min = 1, .max = kLeaseMax_us / 1000};

constexpr JsonField kAllowFields[] = {kRuleField, kLimitField, kKeyField, kCostField, kAtMostField};
constexpr JsonField kCostFields[] = {kRuleField, kLimitField, kKeyField, kCostField};
constexpr JsonField kResetFields[] = {kRuleField, kLimitField, kKeyField};
constexpr JsonField kReserveFields[] = {kRuleField, kLimitField, kKeyField, kCostField, kMaxWaitField};
constexpr JsonField kAcquireFields[] = {kRuleField, kLimitField, kKeyField, kCostField, kLeaseIdField, kTtlField};
constexpr JsonField kRenewFields[] = {kRuleField, kLimitField, kKeyField, kLeaseIdField, kTtlField};
constexpr JsonField kReleaseFields[] = {kRuleField, kLimitField, kKeyField, kLeaseIdField};

using Kind = HttpRoute::Kind;
constexpr std::string_view kPost = "POST, OPTIONS";
constexpr std::string_view kGet = "GET, HEAD, OPTIONS";

// Most asked for first.
constexpr HttpRoute kRoutes[] = {
    {"/v1/allow", Kind::kAsk, kPost, Verb::kAllow, kAllowFields},
    {"/v1/auth", Kind::kAuth, "GET, POST, HEAD, OPTIONS"},
    {"/v1/peek", Kind::kAsk, kPost, Verb::kPeek, kCostFields},
    {"/v1/refund", Kind::kAsk, kPost, Verb::kRefund, kCostFields},
    {"/v1/reset", Kind::kAsk, kPost, Verb::kReset, kResetFields},
    {"/v1/reserve", Kind::kAsk, kPost, Verb::kReserve, kReserveFields},
    {"/v1/acquire", Kind::kAsk, kPost, Verb::kAcquire, kAcquireFields},
    {"/v1/renew", Kind::kAsk, kPost, Verb::kRenew, kRenewFields},
    {"/v1/release", Kind::kAsk, kPost, Verb::kRelease, kReleaseFields},
    {"/healthz", Kind::kHealth, kGet},
    {"/readyz", Kind::kReady, kGet},
    {"/metrics", Kind::kMetrics, kGet},
    {"/", Kind::kPage, kGet},
};

}  // namespace

bool HttpRoute::allows(HttpMethod method) const {
  switch (method) {
    case HttpMethod::kGet:
    case HttpMethod::kHead:
      return kind != Kind::kAsk;
    case HttpMethod::kPost:
      return kind == Kind::kAsk || kind == Kind::kAuth;
    case HttpMethod::kOptions:
      return true;
    case HttpMethod::kOther:
    case HttpMethod::kUnknown:
      return false;
  }
  return false;
}

std::span<const HttpRoute> http_routes() {
  return kRoutes;
}

const HttpRoute* find_http_route(std::string_view path) {
  for (const HttpRoute& route : kRoutes) {
    if (route.path == path) return &route;
  }
  return nullptr;
}

std::string_view nearest_http_path(std::string_view path) {
  Nearest nearest(path);
  for (const HttpRoute& route : kRoutes) nearest.consider(route.path);
  return nearest.name();
}

}  // namespace ratel
