#pragma once
// From the texts of rule files to the rules in force, at the start and whenever the files may have changed.
//
// Pure: whoever watches the files (a timer, SIGHUP) reads them and offers their texts. Belongs to one thread.

#include <string>
#include <vector>

#include "rules/rule_book.h"

namespace ratel {

struct RuleFile {
  std::string name;             // as errors name it
  std::string text;
  bool has_settings = false;    // a configuration file: keys beside `rules` are not this room's to judge

  friend bool operator==(const RuleFile&, const RuleFile&) = default;
};

class Reloader {
 public:
  /// Makes `files` the rules in force, all or nothing. Returns the new book, or nullptr when the texts are those already
  /// in force. An error lists what is wrong, a line each; then the book in force stays, and the same bad texts offered
  /// again give nullptr, so that a poll reports a bad file once.
  Result<RuleBookPtr> offer(std::vector<RuleFile> files);

  const RuleBookPtr& book() const { return book_; }

 private:
  RuleBookPtr book_ = std::make_shared<const RuleBook>();
  std::vector<RuleFile> seen_;  // the texts offered last
};

}  // namespace ratel
