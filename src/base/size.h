#pragma once
// Sizes of memory as people write them: `512MiB`. Pure; any thread.

#include <cstdint>
#include <string>
#include <string_view>

#include "ratel/result.h"

namespace ratel {

/// A whole number directly followed by B, KiB, MiB, GiB or TiB. The error says what would be right; the caller, who
/// knows the field, adds its name and the value.
Result<std::uint64_t> parse_size(std::string_view text);

/// The shortest text that parse_size reads back as the same: `1536KiB`, `2GiB`.
std::string format_size(std::uint64_t bytes);

inline constexpr std::uint64_t kSizeMax = std::uint64_t{1} << 50;  // 1024 TiB: more is a typing error

}  // namespace ratel
