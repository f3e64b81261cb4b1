#pragma once
// Commands as a Redis client sends them. Pure; any thread.

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace ratel {

/// Appends an array of bulk strings, which may hold any bytes.
void append_command(std::initializer_list<std::string_view> arguments, std::string& out);
void append_command(std::span<const std::string> arguments, std::string& out);

}  // namespace ratel
