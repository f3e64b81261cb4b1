#include "rules/errors.h"

#include <fmt/format.h>

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
  std::string text = "`";
  for (const char c : value.substr(0, kShownMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text + (value.size() > kShownMax ? "...`" : "`");
}

std::string suggest(std::string_view misspelt, std::span<const std::string_view> names) {
  const std::string_view near = nearest_of(misspelt, names);
  if (!near.empty()) return fmt::format("did you mean `{}`?", near);
  return fmt::format("known are `{}`", fmt::join(names, "`, `"));
}

}  // namespace ratel
