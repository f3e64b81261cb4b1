// Any text: no crash; what is read prints as what reads the same; no message and no printed form holds the password.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "redis/store_url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ratel;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<StoreUrl> url = parse_store_url(text);
  if (!url.ok()) {
    CHECK(!url.error().message.empty());
    return 0;
  }
  CHECK(!url->hosts.empty());
  StoreUrl shown = *url;
  if (!shown.password.empty()) shown.password = "***";
  const std::string printed = format_store_url(*url);
  if (printed.size() > kStoreUrlBytesMax) return 0;  // what is escaped takes more room
  const Result<StoreUrl> again = parse_store_url(printed);
  CHECK(again.ok() && *again == shown);
  return 0;
}
