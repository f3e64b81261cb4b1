#pragma once
// What the copies of a Limiter, and the limits made by it, share. Any thread.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "lib/backend.h"
#include "ratel/limiter.h"

namespace ratel {

struct Limiter::Core {
  explicit Core(std::unique_ptr<Backend> where) : backend(std::move(where)) {}

  /// The first use of a name says what it means. Counts under other numbers would be misread: a debt that one limit
  /// allows is a fault of the clock to another.
  Status define(std::string_view name, const std::string& meaning);

  const std::unique_ptr<Backend> backend;
  std::mutex mutex;
  std::map<std::string, std::string, std::less<>> meanings;  // of names
};

}  // namespace ratel
