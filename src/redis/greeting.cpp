#include "redis/greeting.h"

#include <charconv>

#include "redis/store_error.h"
#include "wire/resp_command.h"

namespace ratel {
namespace {

using Kind = StoreError::Kind;

Greeting::Command command(Greeting::Step step, std::initializer_list<std::string_view> arguments) {
  Greeting::Command made{.step = step, .bytes = {}};
  append_command(arguments, made.bytes);
  return made;
}

bool to_number(std::string_view text, Micros& value) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && rest == text.data() + text.size();
}

}  // namespace

Micros time_in(RespReply reply) {
  constexpr Micros kSecondsMax = 1'000'000'000'000;
  Micros seconds = 0;
  Micros us = 0;
  if (reply.kind() != RespReply::Kind::kList || reply.size() != 2) return -1;
  if (!to_number(reply[0].text(), seconds) || !to_number(reply[1].text(), us)) return -1;
  if (seconds < 0 || seconds > kSecondsMax || us < 0 || us >= kSecond_us) return -1;
  return seconds * kSecond_us + us;
}

std::vector<Greeting::Command> Greeting::next() {
  const std::string_view user = options_->user.empty() ? std::string_view("default") : options_->user;
  std::vector<Command> commands;
  switch (stage_) {
    case Stage::kHello:
      commands.push_back(options_->password.empty()
                             ? command(Step::kHello, {"HELLO", "3"})
                             : command(Step::kHello, {"HELLO", "3", "AUTH", user, options_->password}));
      return commands;
    case Stage::kAuth:
      // Servers without HELLO may know no users either.
      commands.push_back(options_->user.empty() ? command(Step::kAuth, {"AUTH", options_->password})
                                                : command(Step::kAuth, {"AUTH", user, options_->password}));
      return commands;
    case Stage::kSettle:
      break;
  }
  error_.clear();
  not_yet_ = false;
  commands.push_back(command(Step::kOptional, {"CLIENT", "SETNAME", "ratel"}));
  if (options_->to != LinkOptions::To::kSentinel) {
    commands.push_back(command(Step::kOptional, {"CLIENT", "SETINFO", "LIB-NAME", "ratel"}));
    commands.push_back(command(Step::kOptional, {"CLIENT", "CAPA", "redirect"}));
    if (options_->database != 0) {
      commands.push_back(command(Step::kSelect, {"SELECT", std::to_string(options_->database)}));
    }
    commands.push_back(command(Step::kRole, {"ROLE"}));
    for (const std::string& script : options_->scripts) {
      commands.push_back(command(Step::kScript, {"SCRIPT", "LOAD", script}));
    }
    commands.push_back(command(Step::kTime, {"TIME"}));
  }
  commands.push_back(command(Step::kPing, {"PING"}));  // the last: its reply ends the round
  return commands;
}

Greeting::Verdict Greeting::replied(Step step, RespReply reply, Micros& store_us) {
  const bool is_error = reply.kind() == RespReply::Kind::kError;
  switch (step) {
    case Step::kHello:
      return helloed(reply);
    case Step::kAuth:
      stage_ = Stage::kSettle;
      if (!is_error) return Verdict::kNext;
      error_ = without_password(reply.text());
      return Verdict::kRefused;
    case Step::kSelect:
    case Step::kScript:
      if (is_error) note_error(step, reply.text());
      return Verdict::kWait;
    case Step::kRole:
      // Who may not ask has been told by HELLO, or will be by READONLY.
      if (reply.size() > 0) note_role(reply[0].text());
      return Verdict::kWait;
    case Step::kTime:
      store_us = time_in(reply);
      return Verdict::kWait;
    case Step::kPing:
      if (is_error) note_error(step, reply.text());
      return settled();
    case Step::kNone:
    case Step::kOptional:
      return Verdict::kWait;
  }
  return Verdict::kWait;
}

Greeting::Verdict Greeting::helloed(RespReply reply) {
  stage_ = Stage::kSettle;
  if (reply.kind() != RespReply::Kind::kError) {
    resp3_ = true;
    if (const auto role = reply.find("role")) note_role(role->text());
    if (const auto name = reply.find("server")) product_.name = name->text();
    if (const auto version = reply.find("version")) product_.version = version->text();
    return moded(reply);
  }
  const Kind kind = read_store_error(reply.text()).kind;
  if (kind == Kind::kUnknownCommand || kind == Kind::kNoPermission) {
    if (!options_->password.empty()) stage_ = Stage::kAuth;
    return Verdict::kNext;
  }
  error_ = without_password(reply.text());
  return Verdict::kRefused;
}

/// Of a cluster's slots one node would answer for some and refuse the others, and a sentinel has no counters at all.
Greeting::Verdict Greeting::moded(RespReply hello) {
  const auto told = hello.find("mode");
  const std::string_view mode = told ? told->text() : std::string_view();
  if (mode == "sentinel" && options_->to != LinkOptions::To::kSentinel) error_ = "it is a sentinel";
  if (mode == "cluster" && options_->to == LinkOptions::To::kPrimary) error_ = "it is a node of a cluster";
  return error_.empty() ? Verdict::kNext : Verdict::kRefused;
}

/// Servers repeat the arguments of a command that they do not know.
std::string Greeting::without_password(std::string_view text) const {
  std::string shown(text);
  const std::string& password = options_->password;
  for (std::size_t at = 0; !password.empty() && (at = shown.find(password, at)) != std::string::npos;) {
    shown.replace(at, password.size(), "***");
    at += 3;
  }
  return shown;
}

void Greeting::note_role(std::string_view role) {
  if (role == "master" || role == "primary") replica_ = false;
  if (role == "slave" || role == "replica") replica_ = true;
}

/// The first counts: others follow from it.
void Greeting::note_error(Step step, std::string_view text) {
  const Kind kind = read_store_error(text).kind;
  if (kind == Kind::kLoading || kind == Kind::kBusy) not_yet_ = true;
  // A server that cannot persist or has lost its replicas is alive; what it thinks of our scripts it says there.
  if (step == Step::kPing && kind != Kind::kNotAuthenticated) return;
  if (!error_.empty()) return;
  const bool too_old = step == Step::kScript && product_.is_too_old();
  error_ = too_old ? "it is " + product_.text() + ", which is too old" : std::string(text);
}

Greeting::Verdict Greeting::settled() {
  if (replica_ && options_->to == LinkOptions::To::kPrimary) return Verdict::kReplica;
  if (not_yet_) return Verdict::kNotYet;
  return error_.empty() ? Verdict::kReady : Verdict::kRefused;
}

}  // namespace ratel
