#pragma once
// Replies as a Redis client reads them, RESP2 or RESP3, appended to a string that the caller owns. Nothing is allocated
// but that string's growth. Belongs to one connection.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace ratel {

enum class RespVersion : std::uint8_t { k2 = 2, k3 = 3 };

class RespWriter {
 public:
  RespWriter(std::string& output, RespVersion version) : output_(output), version_(version) {}

  RespVersion version() const { return version_; }

  /// REQUIRES: no CR or LF in it.
  void simple(std::string_view text);
  /// `text` begins with a word in capitals, as `ERR `. CR and LF become blanks, as in Redis, so that what a peer sent
  /// may stand in it.
  void error(std::string_view text);
  void integer(std::int64_t value) { header(':', value); }
  /// The array that a run of integers makes, in one go.
  void integers(std::initializer_list<std::int64_t> values);
  void bulk(std::string_view text);
  void null() { output_ += version_ == RespVersion::k3 ? "_\r\n" : "$-1\r\n"; }

  /// What follows are its elements.
  void array(std::size_t size) { header('*', static_cast<std::int64_t>(size)); }
  /// What follows are its names and values in turn: in RESP2 an array of both.
  void map(std::size_t size);
  /// What follows are its names and values in turn, if in RESP3; in RESP2 an array of the values alone.
  void record(std::size_t size) { header(version_ == RespVersion::k3 ? '%' : '*', static_cast<std::int64_t>(size)); }
  /// The name of a record's next value; nothing in RESP2.
  void field(std::string_view name) {
    if (version_ == RespVersion::k3) bulk(name);
  }

 private:
  void header(char marker, std::int64_t value);

  std::string& output_;
  RespVersion version_;
};

}  // namespace ratel
