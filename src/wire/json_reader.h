#pragma once
// Flat JSON read strictly: one object of known fields, or an array of such objects. Belongs to one event loop.
//
// Nothing is coerced: "1" is no number, 1.0 no integer, null nothing at all. Unknown and repeated fields are refused.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ratel {

/// Texts in the list of one field.
inline constexpr std::size_t kJsonListMax = 16;
/// How much of an offending name or value an error shows.
inline constexpr std::size_t kJsonShownBytesMax = 64;

enum class JsonKind : std::uint8_t {
  kText,
  kTexts,  // a text, or a list of 1 to kJsonListMax texts; at most one field of an object may be of this kind
  kInteger,
  kBool,
};

struct JsonField {
  std::string_view name;
  std::size_t slot = 0;  // where its value is put; below JsonReader::kSlots, and one field's only
  JsonKind kind = JsonKind::kText;
  std::int64_t min = 0;  // of an integer, or of a text's bytes
  std::int64_t max = 0;
};

/// Views last until the next object is read.
struct JsonValue {
  bool given = false;
  bool flag = false;
  std::int64_t integer = 0;
  std::string_view text;
  std::span<const std::string_view> texts;
};

/// What is wrong with an object, or with the whole document. Allocated only for bad input.
struct JsonFault {
  std::string field;   // empty: the object itself
  std::string value;   // as it was written, cut; empty where there is none to show
  std::string detail;  // what would be right
};

/// Receives the objects of a document, in order.
class JsonObjects {
 public:
  virtual ~JsonObjects() = default;
  /// Before the first: whether they come from an array.
  virtual void begin(bool array) = 0;
  /// JsonReader::kSlots values.
  virtual void object(std::span<const JsonValue> values) = 0;
  /// In the place of an object that is not as it must be.
  virtual void bad_object(JsonFault fault) = 0;
};

class JsonReader {
 public:
  static constexpr std::size_t kSlots = 8;

  JsonReader();
  ~JsonReader();

  /// Reads all of `body`, to which simdjson's padding is appended in memory but not in size. False when the document is
  /// no JSON, neither an object nor an array of 1 to `objects_max` things: fault() says what, and whatever `objects`
  /// was given is to be thrown away.
  bool read(std::string& body, std::span<const JsonField> fields, std::size_t objects_max, JsonObjects& objects);
  const JsonFault& fault() const { return fault_; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;  // keeps simdjson out of this header
  JsonFault fault_;
};

}  // namespace ratel
