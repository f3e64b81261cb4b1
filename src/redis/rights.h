#pragma once
// What a user of the store must be allowed, and how to find out: by trying. Each trial is a command that changes
// nothing on a key of ours that nobody has, so that it can be tried on a store in service, and by a user who may not
// ask for his rights. Pure; any thread.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/resp_reply.h"

namespace ratel {

/// What stands for the right to our keys among those that are lacked.
inline constexpr std::string_view kRightToKeys = "keys";

struct RightTrial {
  std::string_view right;  // as ACL rules name it, without the plus: `zadd`, `script|load`
  std::vector<std::string> command;
};

/// All that the decision script and its callers need. REQUIRES: is_key_prefix(prefix).
std::vector<RightTrial> right_trials(std::string_view prefix);

/// What the reply to a trial shows to be lacked: the right tried, kRightToKeys, or nothing.
std::string_view lacked_right(const RightTrial& trial, RespReply reply);

/// The rules that grant them, for ACL SETUSER: `~ratel:* +zadd +get`.
std::string acl_rules(std::span<const std::string> lacked, std::string_view prefix);

}  // namespace ratel
