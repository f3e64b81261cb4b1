// Any text for INFO and for a version: no crash, and what is read of a number is one.

#include <cstdint>

#include "base/check.h"
#include "redis/store_facts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ratel;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  StoreFacts facts;
  read_info(text, facts);
  CHECK(facts.product.text().starts_with(facts.product.name == "valkey" ? "Valkey " : "Redis "));
  const ServerVersion version = parse_server_version(text);
  CHECK(version.major >= 0 && version.minor >= 0 && version.patch >= 0);
  return 0;
}
