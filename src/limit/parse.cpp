#include <array>
#include <charconv>
#include <numeric>
#include <optional>

#include "limit/limit.h"

namespace ratel {
namespace {

struct Unit {
  Micros us;
  std::array<std::string_view, 5> names;  // the canonical one first, its plural second where it has one
  bool is_word;                           // written with a space and a plural: `2 days`
};

constexpr std::array kUnits{
    Unit{365 * kDay_us, {"year", "years"}, true},
    Unit{30 * kDay_us, {"month", "months"}, true},
    Unit{7 * kDay_us, {"week", "weeks"}, true},
    Unit{kDay_us, {"day", "days", "d"}, true},
    Unit{kHour_us, {"h", "hour", "hours"}, false},
    Unit{kMinute_us, {"min", "minute", "minutes", "m"}, false},
    Unit{kSecond_us, {"s", "sec", "second", "seconds"}, false},
    Unit{1'000, {"ms"}, false},
    Unit{1, {"us"}, false},
};
constexpr std::string_view kUnitsText = "a unit (us, ms, s, min, h, day, week, month or year)";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_space(char c) {
  return c == ' ' || c == '\t';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// A number as written: digits, and for the sake of a good error what stands after a decimal point.
struct Number {
  std::int64_t whole = 0;
  std::string_view fraction;
  std::string_view text;
  std::size_t position = 0;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { skip_spaces(); }

  Result<LimitSpec> parse() {
    LimitSpec spec;
    if (at_ < text_.size() && is_letter(text_[at_])) {
      if (!take_word("unlimited")) return expected("a count or `unlimited`, as in `5/min`");
      spec.unlimited = true;
      return end(spec, "nothing after `unlimited`");
    }
    const Result<Number> count = number("a whole number, as in `5/min`", kCountMax);
    if (!count.ok()) return count.error();
    spec.count = count->whole;
    if (take_word("concurrent")) {
      if (!count->fraction.empty()) return whole_number(*count);
      spec.algorithm = Algorithm::kConcurrency;
      return end(spec, "nothing after `concurrent`");
    }
    if (!take('/') && !take_word("per")) return expected("`/`, `per` or `concurrent`");
    const Result<Micros> period_us = period();
    if (!period_us.ok()) return period_us.error();
    spec.period_us = *period_us;
    if (!count->fraction.empty()) return whole_count(*count, *period_us);
    if (take_word("burst")) {
      const std::size_t position = at_;
      const Result<Number> burst = number("a whole number after `burst`", kCountMax);
      if (!burst.ok()) return burst.error();
      if (!burst->fraction.empty()) return whole_number(*burst);
      if (burst->whole < 1)
        return error(position, "expected a burst of at least 1, got '" + std::string(burst->text) + "'");
      // Burst is the count unless said otherwise: equal limits have equal specs.
      spec.burst = burst->whole == spec.count ? 0 : burst->whole;
      return end(spec, "nothing after the burst");
    }
    return end(spec, "`burst` or nothing after the period");
  }

 private:
  static Error error(std::size_t position, std::string_view message) {
    return {ErrorCode::kBadArgument, "position " + std::to_string(position + 1) + ": " + std::string(message)};
  }

  /// Names what stands at the current position instead.
  Error expected(std::string_view what) const {
    std::size_t stop = at_;
    while (stop < text_.size() && !is_space(text_[stop]) && stop - at_ < kQuotedMax) ++stop;
    const std::string got = stop == at_ ? "the end" : "'" + std::string(text_.substr(at_, stop - at_)) + "'";
    return error(at_, "expected " + std::string(what) + ", got " + got);
  }

  static Error whole_number(const Number& number) {
    return error(number.position, "expected a whole number, got '" + std::string(number.text) + "'");
  }

  /// Of a count, with the way out: `0.5/s` is what `1 per 2s` says without a fraction.
  static Error whole_count(const Number& number, Micros period_us) {
    Error error = whole_number(number);
    if (number.fraction.size() > kFractionDigitsMax) return error;
    std::int64_t units = number.whole;
    std::int64_t scale = 1;
    for (const char digit : number.fraction) {
      scale *= 10;
      units = units * 10 + (digit - '0');
    }
    const std::int64_t common = std::gcd(units, scale);
    LimitSpec exact{.count = units / common};
    if (exact.count < 1 || exact.count > kCountMax || period_us > kPeriodMax_us / (scale / common)) return error;
    exact.period_us = period_us * (scale / common);
    error.message += "; write `" + to_text(exact) + "`";
    return error;
  }

  Result<LimitSpec> end(const LimitSpec& spec, std::string_view what) const {
    if (at_ < text_.size()) return expected(what);
    return spec;
  }

  Result<Micros> period() {
    std::int64_t times = 1;
    const std::size_t position = at_;
    if (at_ < text_.size() && is_digit(text_[at_])) {
      const Result<Number> number = this->number(kUnitsText, kPeriodMax_us);
      if (!number.ok()) return number.error();
      if (!number->fraction.empty()) return whole_number(*number);
      if (number->whole < 1)
        return error(position, "expected a period of at least 1, got '" + std::string(number->text) + "'");
      times = number->whole;
    }
    const std::optional<Micros> unit_us = unit();
    if (!unit_us) return expected(kUnitsText);
    if (times > kPeriodMax_us / *unit_us) return error(position, "expected a period of at most 366 days");
    return times * *unit_us;
  }

  std::optional<Micros> unit() {
    for (const Unit& unit : kUnits) {
      for (const std::string_view name : unit.names) {
        if (!name.empty() && take_word(name)) return unit.us;
      }
    }
    return std::nullopt;
  }

  Result<Number> number(std::string_view what, std::int64_t max) {
    Number number{.position = at_};
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    const auto [rest, failure] = std::from_chars(begin, end, number.whole);
    if (failure == std::errc::invalid_argument || !is_digit(*begin)) return expected(what);
    at_ += static_cast<std::size_t>(rest - begin);
    if (failure == std::errc::result_out_of_range || number.whole > max) {
      return error(number.position,
                   "expected at most " + std::to_string(max) + ", got '" +
                       std::string(text_.substr(number.position, std::min(at_ - number.position, kQuotedMax))) + "'");
    }
    if (at_ + 1 < text_.size() && text_[at_] == '.' && is_digit(text_[at_ + 1])) {
      std::size_t stop = at_ + 1;
      while (stop < text_.size() && is_digit(text_[stop])) ++stop;
      number.fraction = text_.substr(at_ + 1, stop - at_ - 1);
      at_ = stop;
    }
    number.text = text_.substr(number.position, std::min(at_ - number.position, kQuotedMax));
    skip_spaces();
    return number;
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    skip_spaces();
    return true;
  }

  /// A whole word: `s` is not taken from `sec`.
  bool take_word(std::string_view word) {
    const std::size_t stop = at_ + word.size();
    if (text_.substr(at_, word.size()) != word || (stop < text_.size() && is_letter(text_[stop]))) return false;
    at_ = stop;
    skip_spaces();
    return true;
  }

  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  static constexpr std::size_t kQuotedMax = 40;         // an error quotes no more of a hostile text than this
  static constexpr std::size_t kFractionDigitsMax = 6;  // beyond it no suggestion is worth reading

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<LimitSpec> parse_limit(std::string_view text) {
  return Parser(text).parse();
}

std::string to_text(const LimitSpec& spec) {
  if (spec.unlimited) return "unlimited";
  std::string text = std::to_string(spec.count);
  if (spec.algorithm == Algorithm::kConcurrency) return text + " concurrent";
  for (const Unit& unit : kUnits) {
    const std::int64_t times = spec.period_us / unit.us;
    if (spec.period_us % unit.us != 0 || times == 0) continue;
    if (times == 1) {
      text.append("/").append(unit.names[0]);
    } else {
      text.append(" per ").append(std::to_string(times));
      text.append(unit.is_word ? " " : "").append(unit.names[unit.is_word ? 1 : 0]);
    }
    break;
  }
  if (spec.burst != 0 && spec.burst != spec.count) text.append(" burst ").append(std::to_string(spec.burst));
  return text;
}

}  // namespace ratel
