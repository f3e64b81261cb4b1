#pragma once
// Commands as a Redis client sends them: arrays of bulk strings, or a line of words. Bytes in, arguments out; no
// sockets and no memory of what is incomplete: the caller keeps that and calls again when there is more. Belongs to one
// connection.
//
// As Redis reads them, but that every CRLF is checked: what is not followed by one is an error, not the next command.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ratel {

/// The longest command of ours has a dozen arguments; COMMAND INFO may name them all.
inline constexpr std::size_t kRespArgumentsMax = 1024;
/// Keys end at 4 KiB; ECHO and PING may want more.
inline constexpr std::size_t kRespBulkBytesMax = 64 * 1024;
/// A whole command. With a read's worth of bytes, this is what a connection can make the server hold.
inline constexpr std::size_t kRespCommandBytesMax = 128 * 1024;
/// An inline command is typed by hand.
inline constexpr std::size_t kRespInlineBytesMax = 16 * 1024;
/// `*` or `$`, 20 characters of a 64-bit number, and room for zeros.
inline constexpr std::size_t kRespLengthLineBytesMax = 32;

class RespParser {
 public:
  enum class Outcome : std::uint8_t {
    kCommand,  // arguments() are there
    kPartial,  // no whole command yet: call again with the same bytes, less those consumed, and more
    kError,    // error() says what; there is no way to find the next command
  };
  struct Parsed {
    Outcome outcome = Outcome::kPartial;
    std::size_t consumed = 0;  // bytes done with; empty commands are passed over, with kPartial too
  };

  /// The first command of `input`. The outcome is the same however the bytes were split into calls.
  Parsed parse(std::string_view input);

  /// At least one. Points into the input, or for an inline command into the parser: until the next parse().
  std::span<const std::string_view> arguments() const { return arguments_; }
  /// In Redis's words, without `ERR `.
  std::string_view error() const { return error_; }
  /// Bytes that arguments() occupy, used or not.
  std::size_t memory() const { return arguments_.capacity() * sizeof(std::string_view) + words_.capacity(); }

 private:
  Outcome parse_array(std::string_view input, std::size_t& position);
  Outcome parse_inline(std::string_view input, std::size_t& position);
  bool split_words(std::string_view line);
  Outcome fail(std::string_view text);

  std::vector<std::string_view> arguments_;
  std::string words_;  // of an inline command, without quotes and escapes
  std::string error_;
};

}  // namespace ratel
