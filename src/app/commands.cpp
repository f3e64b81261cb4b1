// Tested by tests/test_cli.py

#include "app/commands.h"

#include <iostream>

namespace ratel {

int fail(const std::string& message, int exit_code) {
  std::cerr << message << '\n';
  return exit_code;
}

}  // namespace ratel
