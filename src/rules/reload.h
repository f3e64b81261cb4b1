#pragma once
// From the texts of rule files to the rules in force, at the start and whenever the files may have changed.
//
// Pure: whoever watches the files (a timer, SIGHUP) reads them and offers their texts. Belongs to one thread.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "rules/load_rules.h"

namespace ratel {

class Reloader {
 public:
  /// `series_of` gives a rule's name its row of counters (Rule::series), the same at every reload.
  explicit Reloader(std::function<std::uint32_t(std::string_view)> series_of) : series_of_(std::move(series_of)) {}

  /// Makes `files` the rules in force, all or nothing. Returns the new book, or nullptr when the texts are those
  /// already in force. An error lists what is wrong, a line each; then what is in force stays.
  Result<RuleBookPtr> offer(std::vector<RuleFile> files);

  const RuleBookPtr& book() const { return book_; }

 private:
  std::function<std::uint32_t(std::string_view)> series_of_;
  RuleBookPtr book_ = std::make_shared<const RuleBook>();
  std::optional<std::vector<RuleFile>> in_force_;  // the texts book_ was made of
};

}  // namespace ratel
