#pragma once
// One line an event, as logfmt or JSON: time, level, message, then fields in the order given.
//
// Handed around by reference; thread-safe if its sink is. Values may be anything a peer sent: they are escaped, so that
// none can end a line, a quote or a field.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/clock.h"

namespace ratel {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };
enum class LogFormat : std::uint8_t { kLogfmt, kJson };

struct LogField {
  std::string_view name;  // a word of ours: letters, digits, underscores
  std::variant<std::string_view, std::int64_t, double, bool> value;

  LogField(std::string_view field, std::string_view text) : name(field), value(text) {}
  LogField(std::string_view field, const char* text) : name(field), value(std::string_view(text)) {}
  LogField(std::string_view field, const std::string& text) : name(field), value(std::string_view(text)) {}
  LogField(std::string_view field, std::int64_t number) : name(field), value(number) {}
  LogField(std::string_view field, int number) : name(field), value(std::int64_t{number}) {}
  LogField(std::string_view field, std::size_t number) : name(field), value(static_cast<std::int64_t>(number)) {}
  LogField(std::string_view field, double number) : name(field), value(number) {}
  LogField(std::string_view field, bool yes) : name(field), value(yes) {}
};
using LogFields = std::initializer_list<LogField>;

class Log {
 public:
  /// Takes a whole line with its newline.
  using Sink = std::function<void(std::string_view line)>;

  struct Options {
    LogLevel level = LogLevel::kInfo;  // and above
    LogFormat format = LogFormat::kLogfmt;
  };

  Log(const Clock& clock, Options options, Sink sink) : clock_(clock), options_(options), sink_(std::move(sink)) {}

  void debug(std::string_view message, LogFields fields = {}) { write(LogLevel::kDebug, message, fields); }
  void info(std::string_view message, LogFields fields = {}) { write(LogLevel::kInfo, message, fields); }
  void warning(std::string_view message, LogFields fields = {}) { write(LogLevel::kWarning, message, fields); }
  void error(std::string_view message, LogFields fields = {}) { write(LogLevel::kError, message, fields); }

 private:
  friend class SparseLog;
  void write(LogLevel level, std::string_view message, LogFields fields, std::uint64_t count = 1);

  const Clock& clock_;
  const Options options_;
  const Sink sink_;
};

/// One kind of event that may come in storms: a line at once, then at most one a second, with `count` saying for how
/// many it stands. Belongs to one thread.
class SparseLog {
 public:
  /// `message` outlives this.
  SparseLog(Log& log, LogLevel level, std::string_view message) : log_(log), level_(level), message_(message) {}

  void note(Instant now, LogFields fields = {});

 private:
  Log& log_;
  const LogLevel level_;
  const std::string_view message_;
  Micros next_us_ = 0;
  std::uint64_t held_back_ = 0;
};

}  // namespace ratel
