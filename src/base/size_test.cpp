#include "base/size.h"

#include <gtest/gtest.h>

namespace ratel {
namespace {

TEST(Size, ReadsAWholeNumberAndAUnit) {
  struct Case {
    std::string_view text;
    std::uint64_t bytes;
    std::string_view canonical;
  };
  const Case cases[] = {
      {"0B", 0, "0B"},
      {"1B", 1, "1B"},
      {"1024B", 1024, "1KiB"},
      {"512MiB", std::uint64_t{512} << 20, "512MiB"},
      {"1536KiB", std::uint64_t{1536} << 10, "1536KiB"},
      {"2GiB", std::uint64_t{2} << 30, "2GiB"},
      {"1024TiB", kSizeMax, "1024TiB"},
  };
  for (const Case& c : cases) {
    const Result<std::uint64_t> bytes = parse_size(c.text);
    ASSERT_TRUE(bytes.ok()) << c.text;
    EXPECT_EQ(*bytes, c.bytes) << c.text;
    EXPECT_EQ(format_size(*bytes), c.canonical);
  }
}

TEST(Size, RefusesEverythingElse) {
  for (const std::string_view text :
       {"", "MiB", "512", "512 MiB", "-1B", "+1B", "1.5GiB", "512MB", "512mib", "512M", "0x10B"}) {
    const Result<std::uint64_t> bytes = parse_size(text);
    ASSERT_FALSE(bytes.ok()) << text;
    EXPECT_NE(bytes.error().message.find("as in `512MiB`"), std::string::npos) << text;
  }
  for (const std::string_view text : {"1025TiB", "18446744073709551615KiB", "99999999999999999999B"}) {
    const Result<std::uint64_t> bytes = parse_size(text);
    ASSERT_FALSE(bytes.ok()) << text;
    EXPECT_EQ(bytes.error().message, "the largest size is 1024TiB") << text;
  }
}

}  // namespace
}  // namespace ratel
