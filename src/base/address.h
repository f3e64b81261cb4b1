#pragma once
// Where to listen or whom to call, as people write it: `127.0.0.1:6390`, `:6390`, `[::1]:6390`, `localhost:6390`,
// `unix:/run/ratel.sock`. Pure: nothing is resolved or opened here; any thread.

#include <cstdint>
#include <string>
#include <string_view>

#include "ratel/result.h"

namespace ratel {

struct Address {
  std::string host;        // an IPv4 or IPv6 address without brackets, or a name; empty for a Unix socket
  std::uint16_t port = 0;  // 0, to listen: any free one
  std::string path;        // of a Unix socket; empty otherwise

  bool is_unix() const { return !path.empty(); }

  friend bool operator==(const Address&, const Address&) = default;
};

/// `:port` means 127.0.0.1. The error says what would be right; the caller, who knows the field, adds its name and the
/// value.
Result<Address> parse_address(std::string_view text);

/// What parse_address reads back as the same.
std::string format_address(const Address& address);

/// Whether only processes of this machine can reach it: 127.0.0.0/8, ::1, `localhost`, a Unix socket. An unusual
/// spelling of a loopback address counts as not loopback, which errs on the safe side.
bool is_loopback(const Address& address);

inline constexpr std::size_t kUnixPathBytesMax = 107;  // sun_path holds 108 with its terminator
inline constexpr std::size_t kHostBytesMax = 253;      // of a name in the DNS

}  // namespace ratel
