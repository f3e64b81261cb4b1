#include "redis/store_error.h"

#include <algorithm>
#include <charconv>

namespace ratel {
namespace {

using Kind = StoreError::Kind;
using Action = StoreError::Action;
using Executed = StoreError::Executed;

struct Row {
  std::string_view begins;
  Kind kind;
  Executed executed;
  Action action;
};

// The first that fits counts. Before a script's first write all these checks are made anew by each command, and
// ours write once, so what stopped them has changed nothing.
constexpr Row kRows[] = {
    {"NOSCRIPT", Kind::kNoScript, Executed::kNo, Action::kLoadScripts},
    {"MOVED ", Kind::kMoved, Executed::kNo, Action::kFollow},
    {"ASK ", Kind::kAsk, Executed::kNo, Action::kFollowOnce},
    {"TRYAGAIN", Kind::kTryAgain, Executed::kNo, Action::kSendLater},
    {"CROSSSLOT", Kind::kCrossSlot, Executed::kNo, Action::kFail},
    {"CLUSTERDOWN", Kind::kClusterDown, Executed::kNo, Action::kRefresh},
    {"READONLY", Kind::kReadOnly, Executed::kNo, Action::kRediscover},
    {"REDIRECT ", Kind::kRedirect, Executed::kNo, Action::kRediscover},
    {"MASTERDOWN", Kind::kMasterDown, Executed::kNo, Action::kRediscover},
    {"LOADING", Kind::kLoading, Executed::kNo, Action::kFail},
    {"BUSY ", Kind::kBusy, Executed::kNo, Action::kFail},
    {"OOM", Kind::kOutOfMemory, Executed::kNo, Action::kFail},
    {"MISCONF", Kind::kCannotPersist, Executed::kNo, Action::kFail},
    {"NOREPLICAS", Kind::kNoReplicas, Executed::kNo, Action::kDistrust},
    {"NOAUTH", Kind::kNotAuthenticated, Executed::kNo, Action::kReconnect},
    {"WRONGPASS", Kind::kWrongPassword, Executed::kNo, Action::kReconnect},
    {"ERR invalid password", Kind::kWrongPassword, Executed::kNo, Action::kReconnect},
    {"NOPERM", Kind::kNoPermission, Executed::kNo, Action::kReconnect},
    {"WRONGTYPE", Kind::kWrongType, Executed::kNo, Action::kFail},
    {"ERR max number of clients", Kind::kTooManyClients, Executed::kNo, Action::kReconnect},
    {"ERR Script attempted to access a non local key", Kind::kUndeclaredKey, Executed::kPerhaps, Action::kFail},
    {"ERR Attempted to access a non local key", Kind::kUndeclaredKey, Executed::kPerhaps, Action::kFail},
    {"NOPROTO", Kind::kUnknownCommand, Executed::kNo, Action::kFail},
    {"ERR unknown command", Kind::kUnknownCommand, Executed::kNo, Action::kFail},
    {"ERR unknown subcommand", Kind::kUnknownCommand, Executed::kNo, Action::kFail},
    {"ERR Unknown subcommand", Kind::kUnknownCommand, Executed::kNo, Action::kFail},
    {"UNBLOCKED", Kind::kUnexpected, Executed::kPerhaps, Action::kClose},
    {"EXECABORT", Kind::kUnexpected, Executed::kPerhaps, Action::kClose},
    {"NOTBUSY", Kind::kUnexpected, Executed::kPerhaps, Action::kClose},
};

/// Servers before 7: `ERR Error running script (call to f_…): @user_script:5: @user_script: 5: -READONLY You can't…`,
/// with or without the minus sign.
std::string_view unwrapped(std::string_view text) {
  constexpr std::string_view kPlace = "@user_script:";
  if (!text.starts_with("ERR Error running script")) return text;
  const std::size_t place = text.rfind(kPlace);
  if (place == std::string_view::npos) return text;
  std::string_view rest = text.substr(place + kPlace.size());
  rest.remove_prefix(std::min(rest.find_first_not_of("0123456789: -"), rest.size()));
  return rest;
}

bool take_number(std::string_view text, std::uint16_t& value) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && rest == text.data() + text.size();
}

/// `MOVED 3999 127.0.0.1:6381`, `ASK 3999 ::1:6381`, `REDIRECT host:6379`; `?` and nothing are the host that says so.
bool take_target(std::string_view text, StoreError& error) {
  constexpr std::uint16_t kSlots = 16'384;
  text.remove_prefix(text.find(' ') + 1);
  if (error.kind != Kind::kRedirect) {
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos || !take_number(text.substr(0, space), error.slot)) return false;
    if (error.slot >= kSlots) return false;
    text.remove_prefix(space + 1);
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || !take_number(text.substr(colon + 1), error.port) || error.port == 0) {
    return false;
  }
  error.host = text.substr(0, colon);
  if (error.host == "?") error.host = {};
  return true;
}

}  // namespace

StoreError read_store_error(std::string_view whole) {
  const std::string_view text = unwrapped(whole);
  for (const Row& row : kRows) {
    if (!text.starts_with(row.begins)) continue;
    StoreError error{.kind = row.kind, .executed = row.executed, .action = row.action, .text = whole};
    const bool has_target = row.kind == Kind::kMoved || row.kind == Kind::kAsk || row.kind == Kind::kRedirect;
    if (has_target && !take_target(text, error)) {
      return {.kind = Kind::kUnexpected, .action = Action::kClose, .text = whole};
    }
    return error;
  }
  return {.text = whole};
}

}  // namespace ratel
