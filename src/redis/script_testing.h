#pragma once
// Asking the decision script on a real server, also at a time that the test chooses.

#include <gtest/gtest.h>

#include <string>

#include "redis/redis_server_testing.h"
#include "redis/script.h"
#include "redis/script_call.h"

namespace ratel {

/// The production text told the time by its last argument, and with keys that outlive any test, since the server's own
/// clock, by which keys expire, does not follow.
inline std::string script_with_clock() {
  std::string text(decision_script().text);
  const auto replace = [&text](std::string_view from, std::string_view to, int times) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size(), --times) {
      text.replace(at, from.size(), to);
    }
    EXPECT_EQ(times, 0) << "the script's text has changed: " << from;
  };
  replace("local time = call('TIME')\nlocal now = time[1] * 1000000 + time[2]\n", "local now = ARGV[#ARGV] + 0\n", 1);
  replace("format('%d', ends / 1000 + 1)", "'9000000000000'", 3);
  return text;
}

/// The production script, or the one above.
class ScriptStore {
 public:
  explicit ScriptStore(RedisClient& client) : client_(client) { load(std::string(decision_script().text)); }
  ScriptStore(RedisClient& client, const std::string& text) : client_(client) { load(text); }

  const std::string& sha1() const { return sha1_; }

  /// By the server's clock.
  TestReply call(const Question& question, const ScriptCallOptions& options = {.prefix = "ratel"}) {
    command_.clear();
    append_script_call(question, options, command_);
    return client_.send(command_);
  }
  ScriptOutcome ask(const Question& question, const ScriptCallOptions& options = {.prefix = "ratel"}) {
    return outcome_of(question, call(question, options));
  }

  /// At `now_us`, with windows of the calendar as they are at `calendar_us`.
  ScriptOutcome ask_at(const Question& question, Micros now_us, Micros calendar_us) {
    return outcome_of(question, call_at(question, now_us, {.prefix = "ratel", .calendar_us = calendar_us}));
  }
  TestReply call_at(const Question& question, Micros now_us, const ScriptCallOptions& options) {
    command_.clear();
    append_script_call(question, options, command_);
    // One argument more, and the other script.
    const std::size_t line = command_.find("\r\n");
    const std::size_t arguments = std::stoul(command_.substr(1, line - 1)) + 1;
    command_.replace(0, line, "*" + std::to_string(arguments));
    command_.replace(command_.find(decision_script().sha1), sha1_.size(), sha1_);
    const std::string time = std::to_string(now_us);
    command_.append("$" + std::to_string(time.size()) + "\r\n").append(time).append("\r\n");
    return client_.send(command_);
  }

  static ScriptOutcome outcome_of(const Question& question, const TestReply& reply) {
    EXPECT_EQ(reply.kind, '*') << reply.text;
    return read_script_reply(question, reply.integers());
  }

 private:
  void load(const std::string& text) {
    const TestReply reply = client_.run({"SCRIPT", "LOAD", text});
    EXPECT_EQ(reply.kind, '$') << reply.text;
    sha1_ = reply.text;
  }

  RedisClient& client_;
  std::string sha1_;
  std::string command_;
};

}  // namespace ratel
