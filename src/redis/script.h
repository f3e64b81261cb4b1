#pragma once
// The script that decides, as Redis is given it. Its parts are in script/. Constant; any thread.

#include <string_view>

namespace ratel {

struct Script {
  std::string_view text;
  std::string_view sha1;  // of the text, in hexadecimal: what EVALSHA calls it by
};

const Script& decision_script();

}  // namespace ratel
