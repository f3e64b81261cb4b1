#include "redis/key_name.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>

#include "base/check.h"

namespace ratel {
namespace {

/// Raised with each change of what values mean that an older version would read wrongly.
constexpr char kVersion = '1';
/// Before a hash, and in no plain name.
constexpr char kHashMark = '#';
constexpr std::size_t kHashBytes = 16;

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' || c == '_' || c == '-';
}

/// What people can read and no tool has to quote. Braces would end the tag and `#` marks a hash.
bool is_plain(std::string_view field) {
  constexpr std::string_view kAlsoPlain = "@:/+=,|~";
  return !field.empty() && field.size() <= kPlainNameBytesMax && std::all_of(field.begin(), field.end(), [=](char c) {
    return is_word(c) || kAlsoPlain.find(c) != std::string_view::npos;
  });
}

void append_hash(std::string_view field, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(field.data()), field.size(), digest.data());
  out += kHashMark;
  for (std::size_t i = 0; i < kHashBytes; ++i) {
    out += kHex[digest[i] >> 4];
    out += kHex[digest[i] & 15];
  }
}

void append_field(std::string_view field, std::string& out) {
  if (is_plain(field)) {
    out += field;
  } else {
    append_hash(field, out);
  }
}

}  // namespace

bool is_key_prefix(std::string_view text) {
  return !text.empty() && text.size() <= kKeyPrefixBytesMax && std::all_of(text.begin(), text.end(), is_word);
}

void append_key_name(std::string_view prefix, std::string_view identity, std::string_view subject, std::string& out) {
  CHECK(is_key_prefix(prefix));
  out.append(prefix).append(1, ':').append(1, kVersion).append(":{");
  append_field(subject, out);
  out += "}:";
  append_field(identity, out);
}

}  // namespace ratel
