#pragma once
// For tests: a RESP connection without a socket, over a store that answers at once or when told.

#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "gate/gate.h"
#include "rules/load_rules.h"
#include "serve/resp_session.h"
#include "serve/store_testing.h"

namespace ratel {

/// The bytes of a command.
inline std::string encode(const std::vector<std::string>& arguments) {
  std::string bytes = "*" + std::to_string(arguments.size()) + "\r\n";
  for (const std::string& argument : arguments) {
    bytes += "$" + std::to_string(argument.size()) + "\r\n" + argument + "\r\n";
  }
  return bytes;
}

/// The next reply in `bytes`, which it is taken from, as a person reads it.
inline std::string read_reply(std::string_view& bytes) {
  const std::size_t end = bytes.find("\r\n");
  if (end == std::string_view::npos) {
    ADD_FAILURE() << "no reply: " << bytes;
    bytes = {};
    return "?";
  }
  const char marker = bytes[0];
  const std::string line(bytes.substr(1, end - 1));
  bytes.remove_prefix(end + 2);
  const long count = std::atol(line.c_str());
  switch (marker) {
    case '+':
    case ':':
      return line;
    case '-':
      return "(" + line + ")";
    case '_':
      return "nil";
    case '$': {
      if (count < 0) return "nil";
      const std::string text(bytes.substr(0, static_cast<std::size_t>(count)));
      EXPECT_EQ(bytes.substr(text.size(), 2), "\r\n");
      bytes.remove_prefix(text.size() + 2);
      return '"' + text + '"';
    }
    case '*':
    case '%': {
      std::string text;
      for (long i = 0; i < count; ++i) {
        text += i == 0 ? "" : marker == '*' ? " " : ", ";
        const std::string name = marker == '*' ? "" : read_reply(bytes);
        text += (name.empty() ? "" : name.substr(1, name.size() - 2) + ": ") + read_reply(bytes);
      }
      return marker == '*' ? "[" + text + "]" : "{" + text + "}";
    }
    default:
      ADD_FAILURE() << "no reply begins with " << marker;
      return "?";
  }
}

/// All replies, with a blank between: `[0 16 15 -1 2]`, `{allowed: 1, ...}`, `"bulk"`, `PONG`, `(ERR text)`, `nil`.
inline std::string readable(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) text += (text.empty() ? "" : " ") + read_reply(bytes);
  return text;
}

/// One loop's services, and a connection on them.
class RespBench : public SessionFactory::Outlet {
 public:
  /// `rules`: the text of a rules file.
  explicit RespBench(std::string rules = "", std::string password = "", FailureMode without_rule = FailureMode::kLocal)
      : resolver(without_rule),
        factory_(RespServices{.gate = gate,
                              .resolver = resolver,
                              .metrics = metrics,
                              .randomness = prng,
                              .password = std::move(password),
                              .version = "1.2.3",
                              .facts = [this] { return facts; }}) {
    if (!rules.empty()) {
      const RuleFile file{.name = "rules.yaml", .text = std::move(rules)};
      Result<std::vector<Rule>> loaded = load_rules({&file, 1});
      EXPECT_TRUE(loaded.ok()) << loaded.error().message;
      use(std::make_shared<const RuleBook>(std::move(*loaded)));
    }
    connect();
  }

  void use(RuleBookPtr book) {
    resolver.use(std::move(book));
    factory_.rules_changed();
  }

  void connect() { session = factory_.make("127.0.0.1:5000", *this); }

  /// What came back for these bytes, as far as it has come.
  std::string send(std::string_view bytes) {
    session->receive(bytes, clock.now());
    return take();
  }
  /// A command's reply, as a person reads it.
  std::string run(const std::vector<std::string>& arguments) { return readable(send(encode(arguments))); }
  /// The same for words between blanks.
  std::string run(std::string_view words) { return readable(send(std::string(words) + "\r\n")); }
  std::string take() { return std::exchange(session->output(), {}); }

  void wake() override { ++wakes; }

  ManualClock clock{{.monotonic_us = 1'759'400'000'000'000, .wall_us = 1'759'400'000'000'000}};
  HeldStore store;
  Gate gate{store};
  Resolver resolver;
  LoopMetrics metrics;
  Prng prng{1};
  ServerFacts facts{.uptime_s = 60, .connections = 2};
  int wakes = 0;

 private:
  RespSessionFactory factory_;

 public:
  std::unique_ptr<Session> session;
};

}  // namespace ratel
