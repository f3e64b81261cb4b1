#include "serve/forwarded.h"

#include <string>

#include "base/ip_address.h"
#include "rules/errors.h"

namespace ratel {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

Error bad(std::string message) {
  return {ErrorCode::kBadArgument, std::move(message)};
}

}  // namespace

Result<std::string_view> client_address(std::string_view header, int trusted_hops) {
  if (trusted_hops <= 0) {
    return bad(
        "X-Forwarded-For is not believed, since anyone can send it: set trusted_hops to the number of proxies that "
        "append to it on the way to ratel");
  }
  int seen = 0;
  std::string_view rest = header;
  while (!rest.empty()) {
    const std::size_t comma = rest.rfind(',');
    const std::string_view element = trim(comma == std::string_view::npos ? rest : rest.substr(comma + 1));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(0, comma);
    if (element.empty() || ++seen < trusted_hops) continue;
    if (is_ip_address(element)) return element;
    return bad("X-Forwarded-For has " + quote(element) + " where the client's address must be (trusted_hops is " +
               std::to_string(trusted_hops) + ")");
  }
  return bad("X-Forwarded-For has " + std::to_string(seen) + " addresses, and trusted_hops is " +
             std::to_string(trusted_hops) + ": a proxy was passed by, or there is one less than configured");
}

}  // namespace ratel
