#include "wire/resp_command.h"

#include <fmt/format.h>

#include <iterator>

namespace ratel {
namespace {

template <typename Arguments>
void append(const Arguments& arguments, std::string& out) {
  fmt::format_to(std::back_inserter(out), "*{}\r\n", arguments.size());
  for (const std::string_view argument : arguments) {
    fmt::format_to(std::back_inserter(out), "${}\r\n", argument.size());
    out.append(argument).append("\r\n");
  }
}

}  // namespace

void append_command(std::initializer_list<std::string_view> arguments, std::string& out) {
  append(arguments, out);
}

void append_command(std::span<const std::string> arguments, std::string& out) {
  append(arguments, out);
}

}  // namespace ratel
