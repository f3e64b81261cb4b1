#include "redis/rights.h"

#include "limit/bound_limit.h"
#include "redis/key_name.h"
#include "redis/script.h"
#include "redis/store_error.h"

namespace ratel {

std::vector<RightTrial> right_trials(std::string_view prefix) {
  std::string key;
  append_key_name(prefix, probe_limit().identity, "rights", key);
  const std::string script(decision_script().text);
  const std::string no_script(decision_script().sha1.size(), '0');
  return {
      {"script|load", {"SCRIPT", "LOAD", script}},
      {"evalsha", {"EVALSHA", no_script, "1", key}},
      {"time", {"TIME"}},
      {"get", {"GET", key}},
      {"set", {"SET", key, "0", "XX", "PX", "1000"}},
      {"unlink", {"UNLINK", key}},
      {"pttl", {"PTTL", key}},
      {"pexpire", {"PEXPIRE", key, "1000"}},
      {"pexpireat", {"PEXPIREAT", key, "4000000000000"}},
      {"zadd", {"ZADD", key, "XX", "0", "0"}},
      {"zcard", {"ZCARD", key}},
      {"zcount", {"ZCOUNT", key, "0", "0"}},
      {"zrange", {"ZRANGE", key, "0", "0"}},
      {"zrangebyscore", {"ZRANGEBYSCORE", key, "0", "0"}},
      {"zrank", {"ZRANK", key, "0"}},
      {"zrem", {"ZREM", key, "0"}},
      {"zremrangebyrank", {"ZREMRANGEBYRANK", key, "0", "0"}},
      {"zscore", {"ZSCORE", key, "0"}},
  };
}

std::string_view lacked_right(const RightTrial& trial, RespReply reply) {
  if (reply.kind() != RespReply::Kind::kError) return {};
  const std::string_view text = reply.text();
  if (read_store_error(text).kind != StoreError::Kind::kNoPermission) return {};
  // `NOPERM this user has no permissions to access one of the keys used as arguments`, `NOPERM No permissions to access
  // a key`; otherwise the command.
  return text.find("to access") != std::string_view::npos ? kRightToKeys : trial.right;
}

std::string acl_rules(std::span<const std::string> lacked, std::string_view prefix) {
  std::string rules;
  for (const std::string& right : lacked) {
    if (!rules.empty()) rules += ' ';
    rules += right == kRightToKeys ? "~" + std::string(prefix) + ":*" : "+" + right;
  }
  return rules;
}

}  // namespace ratel
