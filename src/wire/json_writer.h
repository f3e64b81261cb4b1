#pragma once
// JSON written straight into a string: no tree, no allocation but the string's own. Belongs to one thread.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ratel {

/// Appends `text` in quotes. Bytes that are no UTF-8 become U+FFFD, so that what is written is always JSON.
void append_json_string(std::string& out, std::string_view text);

/// Writes one value. What is opened must be closed; in objects each value follows its name.
class JsonWriter {
 public:
  static constexpr std::size_t kNameBytesMax = 32;

  explicit JsonWriter(std::string& out) : out_(out) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }

  /// REQUIRES: `text` needs no escape and is not longer than kNameBytesMax; names are ours.
  void name(std::string_view text);

  void value(std::string_view text) {
    comma();
    append_json_string(out_, text);
  }
  void value(std::int64_t number);
  void value(std::same_as<bool> auto flag) {
    comma();
    out_ += flag ? "true" : "false";
  }
  void null() {
    comma();
    out_ += "null";
  }

  template <typename Value>
  void member(std::string_view member_name, Value member_value) {
    name(member_name);
    value(member_value);
  }

 private:
  void comma() {
    if (!first_) out_ += ',';
    first_ = false;
  }
  void open(char bracket) {
    comma();
    out_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    first_ = false;
  }

  std::string& out_;
  bool first_ = true;  // of its object or array
};

}  // namespace ratel
