// Any bytes, whole and in pieces: the same messages and the same verdict, and no view that outlives its bytes.

#include <cstdint>
#include <vector>

#include "base/check.h"
#include "wire/http_parser.h"

namespace {

using ratel::HttpParser;

struct Outcome {
  std::string messages;
  int status = 0;
  std::size_t rest = 0;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

void note(std::string& messages, std::string_view text) {
  messages += std::to_string(text.size());
  messages += ':';
  messages += text;
}

Outcome parse(std::string_view text, std::size_t piece) {
  HttpParser parser;
  Outcome outcome;
  std::string held;
  for (std::size_t at = 0; at < text.size() && outcome.status == 0; at += piece) {
    held += text.substr(at, piece);
    const std::vector<char> exact(held.begin(), held.end());
    std::string_view bytes(exact.data(), exact.size());
    for (bool more = true; more;) {
      switch (parser.parse(bytes)) {
        case HttpParser::Step::kNeedMore:
          more = false;
          break;
        case HttpParser::Step::kHead:
          break;
        case HttpParser::Step::kFault:
          outcome.status = parser.fault().status;
          more = false;
          break;
        case HttpParser::Step::kMessage: {
          const ratel::HttpHead& head = parser.head();
          for (const std::string_view part :
               {head.target, head.host, head.content_type, head.authorization, head.token, head.origin, head.referer,
                head.fetch_site, head.forwarded_for, std::string_view(parser.body())}) {
            note(outcome.messages, part);
          }
          CHECK(parser.body().size() <= ratel::kHttpBodyBytesMax);
          break;
        }
      }
    }
    held.erase(0, held.size() - bytes.size());
    CHECK(held.size() <= ratel::kHttpHeadBytesMax);
  }
  outcome.rest = outcome.status == 0 ? held.size() : 0;
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = 1 + data[0] % 32;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  CHECK(parse(text, piece) == parse(text, text.size() + 1));
  return 0;
}
