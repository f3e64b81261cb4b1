#include "rules/errors.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/nearest.h"

namespace ratel {

std::string format_place(std::string_view file, Place place) {
  return fmt::format("{}:{}:{}", file, place.line, place.column);
}

void ErrorList::add(std::string_view file, Place place, std::string_view message) {
  add(fmt::format("{}: {}", format_place(file, place), message));
}

void ErrorList::add(std::string line) {
  if (lines_.size() < kErrorsMax) {
    lines_.push_back(std::move(line));
  } else {
    ++left_out_;
  }
}

Error ErrorList::error() const {
  CHECK(!empty());
  std::string message = fmt::format("{}", fmt::join(lines_, "\n"));
  if (left_out_ > 0) message += fmt::format("\nand {} more", left_out_);
  return {ErrorCode::kConfiguration, std::move(message)};
}

std::string quote(std::string_view value) {
  constexpr std::size_t kShownMax = 60;
  std::size_t shown = std::min(value.size(), kShownMax);
  const auto inside_a_character = [&] { return (static_cast<unsigned char>(value[shown]) & 0xc0) == 0x80; };
  while (shown < value.size() && shown > 0 && inside_a_character()) --shown;
  std::string text = "`";
  for (const char c : value.substr(0, shown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text + (shown < value.size() ? "...`" : "`");
}

std::string suggest(std::string_view misspelt, std::span<const std::string_view> names) {
  const std::string_view near = nearest_of(misspelt, names);
  if (!near.empty()) return fmt::format("did you mean `{}`?", near);
  return fmt::format("known are `{}`", fmt::join(names, "`, `"));
}

}  // namespace ratel
