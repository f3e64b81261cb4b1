#include "observe/log.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <ctime>
#include <iterator>

namespace ratel {
namespace {

constexpr std::array<std::string_view, 4> kLevels = {"debug", "info", "warning", "error"};

/// 2026-12-01T09:30:00.123456Z
void append_time(Micros wall_us, std::string& out) {
  const std::time_t seconds = wall_us / kSecond_us;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  fmt::format_to(std::back_inserter(out), "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", utc.tm_year + 1900,
                 utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, wall_us % kSecond_us);
}

/// The length of the UTF-8 sequence at the front, or 0 where there is none (also for surrogates and overlong forms).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!follows(1) || !follows(2)) return 0;
    if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F)) return 0;
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) return 0;
    return 4;
  }
  return 0;
}

/// U+0080 to U+009F and the separators that some viewers take for the end of a line.
bool is_control(std::string_view sequence) {
  if (sequence.size() == 1) return static_cast<unsigned char>(sequence[0]) < 0x20 || sequence[0] == 0x7F;
  if (sequence.size() == 2) return sequence[0] == '\xC2' && static_cast<unsigned char>(sequence[1]) < 0xA0;
  return sequence == "\u2028" || sequence == "\u2029";
}

void append_control(std::string_view sequence, std::string& out) {
  auto code = static_cast<unsigned>(static_cast<unsigned char>(sequence[0]));
  if (sequence.size() == 2) code = static_cast<unsigned char>(sequence[1]);
  if (sequence.size() == 3) code = 0x2000U | (static_cast<unsigned char>(sequence[2]) & 0x3FU);
  switch (code) {
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
  }
}

/// A JSON string, which logfmt's quoted values are too. A byte that is no UTF-8 becomes the replacement character.
void append_quoted(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    if (length == 0) {
      out += "\uFFFD";
    } else if (is_control(sequence)) {
      append_control(sequence, out);
    } else {
      if (text[0] == '"' || text[0] == '\\') out += '\\';
      out += sequence;
    }
    text.remove_prefix(sequence.size());
  }
  out += '"';
}

/// Whether logfmt may carry it without quotes.
bool is_word(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (c <= ' ' || c > '~' || c == '"' || c == '=' || c == '\\') return false;
  }
  return true;
}

class Line {
 public:
  explicit Line(LogFormat format) : json_(format == LogFormat::kJson) {
    if (json_) text_ += '{';
  }

  void add(std::string_view name, std::string_view value) {
    begin(name);
    if (!json_ && is_word(value)) {
      text_ += value;
    } else {
      append_quoted(value, text_);
    }
  }
  void add(std::string_view name, std::int64_t value) {
    begin(name);
    fmt::format_to(std::back_inserter(text_), "{}", value);
  }
  void add(std::string_view name, double value) {
    if (!std::isfinite(value)) return add(name, std::string_view("not finite"));
    begin(name);
    fmt::format_to(std::back_inserter(text_), "{}", value);
  }
  void add(std::string_view name, bool value) {
    begin(name);
    text_ += value ? "true" : "false";
  }
  void add_time(Micros wall_us) {
    std::string time;
    append_time(wall_us, time);
    add("time", std::string_view(time));
  }

  std::string_view end() {
    text_ += json_ ? "}\n" : "\n";
    return text_;
  }

 private:
  void begin(std::string_view name) {
    if (!first_) text_ += json_ ? ',' : ' ';
    first_ = false;
    if (json_) {
      append_quoted(name, text_);
      text_ += ':';
    } else {
      text_ += name;
      text_ += '=';
    }
  }

  const bool json_;
  bool first_ = true;
  std::string text_;
};

}  // namespace

void Log::write(LogLevel level, std::string_view message, LogFields fields, std::uint64_t count) {
  if (level < options_.level) return;
  Line line(options_.format);
  line.add_time(clock_.now().wall_us);
  line.add("level", kLevels[static_cast<std::size_t>(level)]);
  line.add("msg", message);
  for (const LogField& field : fields) {
    std::visit([&](auto value) { line.add(field.name, value); }, field.value);
  }
  if (count > 1) line.add("count", static_cast<std::int64_t>(count));
  sink_(line.end());
}

void SparseLog::note(Instant now, LogFields fields) {
  ++held_back_;
  if (now.monotonic_us < next_us_) return;
  next_us_ = now.monotonic_us + kSecond_us;
  log_.write(level_, message_, fields, std::exchange(held_back_, 0));
}

}  // namespace ratel
