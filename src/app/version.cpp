// Tested by tests/test_cli.py
#include "app/version.h"

#include "revision.h"  // made by cmake/revision.cmake at each build

namespace ratel {

std::string_view version() {
  return RATEL_VERSION;
}

std::string_view revision() {
  return RATEL_REVISION;
}

}  // namespace ratel
