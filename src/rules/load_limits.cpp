#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/choice.h"
#include "limit/question.h"
#include "rules/load_rule.h"

namespace ratel {
namespace {

/// A limit while its fields come in, in any order.
struct Draft {
  const YamlNode* limit = nullptr;
  const YamlNode* name = nullptr;
  const YamlNode* calendar_value = nullptr;
  const YamlNode* zone = nullptr;
  std::optional<Algorithm> algorithm;
  bool calendar = false;
};

struct Field {
  std::string_view name;
  void (*read)(std::string_view path, const YamlNode& value, Draft& draft, const RuleReader& reader);
};

constexpr std::array kFields{
    Field{"limit",
          [](std::string_view, const YamlNode& value, Draft& draft, const RuleReader&) { draft.limit = &value; }},
    Field{"name",
          [](std::string_view, const YamlNode& value, Draft& draft, const RuleReader&) { draft.name = &value; }},
    Field{"algorithm", [](std::string_view path, const YamlNode& value, Draft& draft,
                          const RuleReader& reader) { draft.algorithm = reader.read(path, value, parse_algorithm); }},
    Field{"calendar",
          [](std::string_view path, const YamlNode& value, Draft& draft, const RuleReader& reader) {
            draft.calendar_value = &value;
            const auto parse = [](std::string_view text) { return parse_choice(text, kTrueOrFalse); };
            draft.calendar = reader.read(path, value, parse).value_or(false);
          }},
    Field{"zone",
          [](std::string_view, const YamlNode& value, Draft& draft, const RuleReader&) { draft.zone = &value; }},
};

struct Unit {
  Micros period_us;
  CalendarUnit unit;
};

constexpr std::array kUnits{Unit{kMinute_us, CalendarUnit::kMinute},  Unit{kHour_us, CalendarUnit::kHour},
                            Unit{kDay_us, CalendarUnit::kDay},        Unit{7 * kDay_us, CalendarUnit::kWeek},
                            Unit{30 * kDay_us, CalendarUnit::kMonth}, Unit{365 * kDay_us, CalendarUnit::kYear}};

/// Reads the limits of one rule, one after the other.
class LimitLoader {
 public:
  LimitLoader(const LimitDefaults& defaults, const RuleReader& reader) : defaults_(defaults), reader_(reader) {}

  /// `path` is how errors name this limit: `limit`, or `limit[2]` in a list. Returns whether it was good.
  bool load(const YamlNode& value, std::string_view path, bool alone) {
    ++place_;
    if (!value.is_map()) {
      Draft draft;
      draft.limit = &value;
      return finish(draft, path, path, alone);
    }
    Draft draft;
    bool good = true;
    for (const YamlEntry& entry : value.entries) {
      const auto known =
          std::find_if(kFields.begin(), kFields.end(), [&](const Field& f) { return f.name == entry.key; });
      if (known != kFields.end()) {
        known->read(fmt::format("{}.{}", path, entry.key), entry.value, draft, reader_);
      } else {
        good = false;
        reader_.wrong(entry.place, fmt::format("unknown field {} of `{}` of rule {}: {}", quote(entry.key), path,
                                               quote(reader_.rule()), suggest(entry.key, limit_field_names())));
      }
    }
    if (draft.limit == nullptr) {
      reader_.wrong(value.place, fmt::format("`{}` of rule {} has no `limit`: write for instance `limit: 5/min`", path,
                                             quote(reader_.rule())));
      return false;
    }
    return finish(draft, path, fmt::format("{}.limit", path), alone) && good;
  }

  std::vector<BoundLimit> take() { return std::move(limits_); }

 private:
  bool finish(const Draft& draft, std::string_view path, std::string_view text_path, bool alone) {
    const std::optional<LimitSpec> spec = read_spec(draft, path, text_path);
    const std::optional<std::string> which = read_name(draft, path);
    if (!spec || !which) return false;
    // The rule's max_wait is judged when all of its limits are known; here it goes only where it can.
    const Result<Limit> limit = make_limit(*spec, spec->algorithm == Algorithm::kGcra ? defaults_.max_wait_us : 0);
    if (!limit.ok()) {
      LimitSpec without_zone = *spec;
      without_zone.zone.clear();
      const bool is_the_zone = draft.zone != nullptr && make_limit(without_zone).ok();
      reader_.wrong(is_the_zone ? fmt::format("{}.zone", path) : std::string(text_path),
                    is_the_zone ? *draft.zone : *draft.limit, limit.error().message);
      return false;
    }
    BoundLimit bound;
    bound.limit = *limit;
    bound.identity = rule_identity(reader_.rule(), *which, bound.limit);
    bound.label =
        alone && draft.name == nullptr ? std::string(reader_.rule()) : fmt::format("{}#{}", reader_.rule(), *which);
    limits_.push_back(std::move(bound));
    return true;
  }

  std::optional<LimitSpec> read_spec(const Draft& draft, std::string_view path, std::string_view text_path) {
    std::optional<LimitSpec> spec = reader_.read(text_path, *draft.limit, parse_limit);
    if (!spec || !set_algorithm(draft, text_path, *spec) || !set_calendar(draft, path, text_path, *spec))
      return std::nullopt;
    return spec;
  }

  bool set_algorithm(const Draft& draft, std::string_view text_path, LimitSpec& spec) {
    const std::optional<Algorithm> algorithm = draft.algorithm ? draft.algorithm : defaults_.algorithm;
    if (!algorithm || spec.unlimited) return true;
    const bool concurrent = spec.algorithm == Algorithm::kConcurrency;
    if (concurrent == (*algorithm == Algorithm::kConcurrency)) {
      spec.algorithm = *algorithm;
      return true;
    }
    if (concurrent) {
      reader_.wrong(text_path, *draft.limit,
                    fmt::format("a concurrent limit has the algorithm `concurrency`, not `{}`", name_of(*algorithm)));
    } else {
      reader_.wrong(text_path, *draft.limit, "with the algorithm `concurrency` it reads `20 concurrent`");
    }
    return false;
  }

  bool set_calendar(const Draft& draft, std::string_view path, std::string_view text_path, LimitSpec& spec) {
    if (!draft.calendar) {
      if (draft.zone != nullptr) {
        reader_.wrong(fmt::format("{}.zone", path), *draft.zone, "it goes with `calendar: true` only");
        return false;
      }
      return true;
    }
    // A calendar window is a fixed window; saying so is allowed, saying another thing is not.
    const std::optional<Algorithm> said = draft.algorithm ? draft.algorithm : defaults_.algorithm;
    if (said && *said != Algorithm::kFixedWindow) {
      reader_.wrong(fmt::format("{}.calendar", path), *draft.calendar_value,
                    fmt::format("it goes with the algorithm `fixed_window`, not `{}`", name_of(*said)));
      return false;
    }
    const auto unit =
        std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& u) { return u.period_us == spec.period_us; });
    if (unit == kUnits.end()) {
      reader_.wrong(text_path, *draft.limit,
                    "a calendar window is one minute, hour, day, week, month or year, as in `10000/day`");
      return false;
    }
    spec.algorithm = Algorithm::kFixedWindow;
    spec.calendar = unit->unit;
    if (draft.zone != nullptr) {
      const auto as_is = [](std::string_view text) -> Result<std::string> {
        if (!text.empty()) return std::string(text);
        return Error{ErrorCode::kBadArgument, "a time zone was expected, as in `Europe/Berlin`"};
      };
      const std::optional<std::string> zone = reader_.read(fmt::format("{}.zone", path), *draft.zone, as_is);
      if (!zone) return false;
      spec.zone = *zone;
    }
    return true;
  }

  /// The limit's own name, else its place.
  std::optional<std::string> read_name(const Draft& draft, std::string_view path) {
    if (draft.name == nullptr) return std::to_string(place_);
    const auto parse = [&](std::string_view text) -> Result<std::string> {
      const Status name = check_rule_name(text);
      if (!name.ok()) return name.error();
      if (text.front() >= '0' && text.front() <= '9') {
        return Error{ErrorCode::kBadArgument,
                     "it begins with a letter: numbers are the places of limits without a name"};
      }
      if (!names_.emplace(text).second) {
        return Error{ErrorCode::kBadArgument, "another limit of this rule has this name"};
      }
      return std::string(text);
    };
    return reader_.read(fmt::format("{}.name", path), *draft.name, parse);
  }

  const LimitDefaults& defaults_;
  const RuleReader& reader_;
  std::vector<BoundLimit> limits_;
  std::set<std::string, std::less<>> names_;
  int place_ = 0;
};

}  // namespace

std::vector<std::string_view> limit_field_names() {
  std::vector<std::string_view> names;
  for (const Field& field : kFields) names.push_back(field.name);
  return names;
}

std::vector<BoundLimit> load_limits(const YamlNode& value, const LimitDefaults& defaults, const RuleReader& reader) {
  LimitLoader loader(defaults, reader);
  if (!value.is_list()) {
    if (!loader.load(value, "limit", true)) return {};
    return loader.take();
  }
  if (value.items.empty() || value.items.size() > kChargesMax) {
    reader.wrong("limit", value, fmt::format("1 to {} limits were expected", kChargesMax));
    return {};
  }
  bool good = true;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const std::string path = value.items.size() == 1 ? "limit" : fmt::format("limit[{}]", i + 1);
    good = loader.load(value.items[i], path, value.items.size() == 1) && good;
  }
  if (!good) return {};
  return loader.take();
}

}  // namespace ratel
