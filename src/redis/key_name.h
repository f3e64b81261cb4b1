#pragma once
// What a counter is called in Redis.
//
//   <prefix>:1:{<subject>}:<identity>
//
// The subject is what the braces hold, Redis Cluster's hash tag, so all counters of a subject lie in one slot and one
// question can ask them all. Two counters have the same name exactly when prefix, identity and subject are the same.
// Whatever its fields are, a name is short: what is long or not plain stands as a hash that nobody can aim at.
//
// Pure; any thread.

#include <string>
#include <string_view>

namespace ratel {

/// Of the fleet: letters, digits, `.`, `_`, `-`, 1 to this many.
inline constexpr std::size_t kKeyPrefixBytesMax = 32;
/// Of a subject or an identity that stands as it is. What is longer, or not plain, stands as a hash of 33.
inline constexpr std::size_t kPlainNameBytesMax = 64;
/// Of a name: both fields, the prefix, and what joins them.
inline constexpr std::size_t kKeyNameBytesMax = kKeyPrefixBytesMax + 2 * kPlainNameBytesMax + 6;

/// Whether a fleet may be called that: it reads plainly and holds none of the characters that part a name.
bool is_key_prefix(std::string_view text);

/// Appends the name of a counter; at most kKeyNameBytesMax bytes. REQUIRES: is_key_prefix(prefix).
void append_key_name(std::string_view prefix, std::string_view identity, std::string_view subject, std::string& out);

}  // namespace ratel
