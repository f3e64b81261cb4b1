#pragma once
// Internet addresses as keys: one client, one key, however its address is written. Pure; any thread.

#include <string>
#include <string_view>

namespace ratel {

inline constexpr int kIpv6PrefixDefault = 64;  // what one customer is given at least

/// Appends the canonical key of an address to `out`; false, with `out` unchanged, when `text` is none.
///
/// IPv4 is keyed whole; so are IPv4-mapped addresses (`::ffff:0:0/96`) and those behind a NAT64 (`64:ff9b::/96`), by
/// the IPv4 address inside. IPv6 is keyed by its first `ipv6_prefix` bits, written `2001:db8::/64`. A zone (`%eth0`) is
/// ignored. Takes a port where a proxy may have written one: `192.0.2.1:443`, `[2001:db8::1]`, `[2001:db8::1]:443`.
/// REQUIRES: 1 <= ipv6_prefix <= 128. Allocates only what `out` needs to grow by at most 49 bytes.
bool canonical_ip_key(std::string_view text, int ipv6_prefix, std::string& out);

/// Whether `text` is an address as canonical_ip_key takes it.
bool is_ip_address(std::string_view text);

}  // namespace ratel
