// Any bytes: no read beyond them, and what is read is within its bounds.

#include <cstdint>

#include "base/check.h"
#include "wire/json_reader.h"
#include "wire/json_writer.h"

namespace {

constexpr std::size_t kObjectsMax = 8;
constexpr ratel::JsonField kFields[] = {
    {.name = "rule", .slot = 0, .kind = ratel::JsonKind::kTexts},
    {.name = "key", .slot = 1, .kind = ratel::JsonKind::kText, .max = 200'000},
    {.name = "cost", .slot = 2, .kind = ratel::JsonKind::kInteger, .min = 0, .max = 2147483647},
    {.name = "atmost", .slot = 3, .kind = ratel::JsonKind::kBool},
};

class Checked final : public ratel::JsonObjects {
 public:
  void begin(bool) override {}
  void object(std::span<const ratel::JsonValue> values) override {
    ++objects_;
    CHECK(objects_ <= kObjectsMax);
    CHECK(values[0].texts.size() <= ratel::kJsonListMax);
    CHECK(values[0].given == !values[0].texts.empty());
    CHECK(values[2].integer >= 0 && values[2].integer <= 2147483647);
    for (const std::string_view text : values[0].texts) ratel::append_json_string(written_, text);
    ratel::append_json_string(written_, values[1].text);
  }
  void bad_object(ratel::JsonFault fault) override {
    ++objects_;
    CHECK(objects_ <= kObjectsMax);
    CHECK(!fault.detail.empty());
    ratel::append_json_string(written_, fault.value);
  }

 private:
  std::size_t objects_ = 0;
  std::string written_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static ratel::JsonReader reader;  // used again and again, as a loop does
  Checked objects;
  std::string body(reinterpret_cast<const char*>(data), size);
  if (!reader.read(body, kFields, kObjectsMax, objects)) CHECK(!reader.fault().detail.empty());
  CHECK(body.size() == size);
  return 0;
}
