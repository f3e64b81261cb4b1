#include "wire/json_reader.h"

// simdjson's own self-checks follow NDEBUG, which ratel never defines; they are for those who misuse its iterators.
#define SIMDJSON_DEVELOPMENT_CHECKS 0
#include <fmt/format.h>
#include <simdjson.h>

#include <utility>

#include "base/check.h"

namespace ratel {
namespace {

namespace ondemand = simdjson::ondemand;

std::string shown(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\r' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  std::string out(text.substr(0, kJsonShownBytesMax));
  if (text.size() > kJsonShownBytesMax) out += "...";
  return out;
}

std::string expectation(const JsonField& field) {
  switch (field.kind) {
    case JsonKind::kText:
      return fmt::format("{} must be a string of {} to {} bytes", field.name, field.min, field.max);
    case JsonKind::kTexts:
      return fmt::format("{} must be a string or a list of 1 to {} strings", field.name, kJsonListMax);
    case JsonKind::kInteger:
      return fmt::format("{} must be an integer from {} to {}", field.name, field.min, field.max);
    case JsonKind::kBool:
      return fmt::format("{} must be true or false", field.name);
  }
  return {};
}

bool within(const JsonField& field, std::int64_t number) {
  return number >= field.min && number <= field.max;
}

std::string names_of(std::span<const JsonField> fields) {
  std::string names;
  for (const JsonField& field : fields) {
    if (!names.empty()) names += ", ";
    names += field.name;
  }
  return names;
}

}  // namespace

struct JsonReader::Impl {
  /// What reading a part has come to: a bad object can be passed over, a broken document not.
  enum class Verdict : std::uint8_t { kGood, kBadObject, kBroken };

  ondemand::parser parser;
  std::array<JsonValue, kSlots> values;
  std::array<std::string_view, kJsonListMax> list;
  JsonFault fault;

  Verdict refuse(std::string_view field, std::string value, std::string detail) {
    fault = {shown(field), std::move(value), std::move(detail)};
    return Verdict::kBadObject;
  }
  Verdict broken(simdjson::error_code error) {
    fault = {{}, {}, fmt::format("the body is no JSON: {}", simdjson::error_message(error))};
    return Verdict::kBroken;
  }

  Verdict read_document(std::string& body, std::span<const JsonField> fields, std::size_t objects_max,
                        JsonObjects& objects);
  Verdict read_objects(ondemand::array array, std::span<const JsonField> fields, std::size_t objects_max,
                       JsonObjects& objects);
  Verdict read_object(ondemand::object object, std::span<const JsonField> fields);
  Verdict read_value(ondemand::value json, const JsonField& field, JsonValue& value);
  bool read_texts(ondemand::value json, JsonValue& value);
};

JsonReader::JsonReader() : impl_(std::make_unique<Impl>()) {}
JsonReader::~JsonReader() = default;

bool JsonReader::read(std::string& body, std::span<const JsonField> fields, std::size_t objects_max,
                      JsonObjects& objects) {
  for (const JsonField& field : fields) CHECK(field.slot < kSlots);
  if (impl_->read_document(body, fields, objects_max, objects) == Impl::Verdict::kGood) return true;
  fault_ = std::move(impl_->fault);
  return false;
}

JsonReader::Impl::Verdict JsonReader::Impl::read_document(std::string& body, std::span<const JsonField> fields,
                                                          std::size_t objects_max, JsonObjects& objects) {
  body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  ondemand::document document;
  simdjson::error_code error = parser.iterate(body.data(), body.size(), body.capacity()).get(document);
  if (error) return broken(error);
  ondemand::json_type type;
  error = document.type().get(type);
  if (error) return broken(error);

  Verdict verdict = Verdict::kGood;
  if (type == ondemand::json_type::array) {
    ondemand::array array;
    error = document.get_array().get(array);
    if (error) return broken(error);
    objects.begin(true);
    verdict = read_objects(array, fields, objects_max, objects);
  } else if (type == ondemand::json_type::object) {
    ondemand::object object;
    error = document.get_object().get(object);
    if (error) return broken(error);
    objects.begin(false);
    verdict = read_object(object, fields);
    if (verdict == Verdict::kBadObject) {
      // The rest was not looked at, and there is nothing else in the document to be answered.
      objects.bad_object(std::move(fault));
      return Verdict::kGood;
    }
    if (verdict == Verdict::kGood) objects.object(values);
  } else {
    fault = {{}, {}, "the body must be an object or an array of objects"};
    return Verdict::kBroken;
  }
  if (verdict == Verdict::kBroken) return verdict;
  const char* rest = nullptr;
  if (document.current_location().get(rest) != simdjson::OUT_OF_BOUNDS) {
    fault = {{}, {}, "something follows the end of the JSON"};
    return Verdict::kBroken;
  }
  return Verdict::kGood;
}

JsonReader::Impl::Verdict JsonReader::Impl::read_objects(ondemand::array array, std::span<const JsonField> fields,
                                                         std::size_t objects_max, JsonObjects& objects) {
  std::size_t count = 0;
  for (auto element : array) {
    ondemand::value json;
    simdjson::error_code error = std::move(element).get(json);
    if (error) return broken(error);
    if (++count > objects_max) break;
    ondemand::object object;
    error = json.get_object().get(object);
    Verdict verdict = Verdict::kBadObject;
    if (error == simdjson::INCORRECT_TYPE) {
      refuse({}, shown(std::string_view(json.raw_json_token())), "each element of the array must be an object");
    } else if (error) {
      return broken(error);
    } else {
      verdict = read_object(object, fields);
    }
    if (verdict == Verdict::kBroken) return verdict;
    if (verdict == Verdict::kGood) {
      objects.object(values);
    } else {
      objects.bad_object(std::move(fault));
    }
  }
  if (count >= 1 && count <= objects_max) return Verdict::kGood;
  fault = {{}, {}, fmt::format("an array must hold 1 to {} objects", objects_max)};
  return Verdict::kBroken;
}

JsonReader::Impl::Verdict JsonReader::Impl::read_object(ondemand::object object, std::span<const JsonField> fields) {
  values.fill({});
  for (auto member : object) {
    ondemand::field json;
    simdjson::error_code error = std::move(member).get(json);
    if (error) return broken(error);
    std::string_view name;
    error = json.unescaped_key().get(name);
    if (error) return broken(error);
    std::size_t i = 0;
    while (i < fields.size() && fields[i].name != name) ++i;
    if (i == fields.size()) {
      return refuse(name, shown(std::string_view(json.value().raw_json_token())),
                    fmt::format("there is no field of this name here; there are {}", names_of(fields)));
    }
    JsonValue& value = values[fields[i].slot];
    if (value.given) {
      return refuse(name, shown(std::string_view(json.value().raw_json_token())), "the field is given twice");
    }
    const Verdict verdict = read_value(json.value(), fields[i], value);
    if (verdict != Verdict::kGood) return verdict;
  }
  return Verdict::kGood;
}

JsonReader::Impl::Verdict JsonReader::Impl::read_value(ondemand::value json, const JsonField& field, JsonValue& value) {
  // Taken first: a value that was read is behind the reader.
  const std::string_view token = json.raw_json_token();
  bool good = false;
  switch (field.kind) {
    case JsonKind::kText:
      good = !json.get_string().get(value.text) && within(field, static_cast<std::int64_t>(value.text.size()));
      break;
    case JsonKind::kTexts:
      good = read_texts(json, value);
      break;
    case JsonKind::kInteger:
      good = !json.get_int64().get(value.integer) && within(field, value.integer);
      break;
    case JsonKind::kBool:
      good = !json.get_bool().get(value.flag);
      break;
  }
  if (!good) return refuse(field.name, shown(token), expectation(field));
  value.given = true;
  return Verdict::kGood;
}

bool JsonReader::Impl::read_texts(ondemand::value json, JsonValue& value) {
  std::size_t count = 0;
  ondemand::array array;
  if (!json.get_array().get(array)) {
    for (auto element : array) {
      if (count == list.size() || element.get_string().get(list[count])) return false;
      ++count;
    }
  } else if (!json.get_string().get(list[count])) {
    ++count;
  }
  value.texts = std::span(list).first(count);
  return count > 0;
}

}  // namespace ratel
