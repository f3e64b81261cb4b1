// Any text: no crash, an error that names a position, or a limit that is written and read back as the same.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "limit/limit.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ratel::Result<ratel::LimitSpec> spec = ratel::parse_limit(text);
  if (!spec.ok()) {
    CHECK(spec.error().message.starts_with("position "));
    CHECK(spec.error().message.size() < 300);
    return 0;
  }
  CHECK(*ratel::parse_limit(ratel::to_text(*spec)) == *spec);
  const ratel::Result<ratel::Limit> limit = ratel::make_limit(*spec);
  CHECK(!limit.ok() || limit->unlimited || limit->capacity <= ratel::kCountMax);
  return 0;
}
