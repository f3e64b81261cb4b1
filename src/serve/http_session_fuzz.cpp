// A whole connection fed any bytes in any pieces: responses and nothing else, within their bounds.

#include <cstdint>

#include "base/check.h"
#include "base/prng.h"
#include "serve/http_session.h"

namespace {

using namespace ratel;

class NullStore final : public Store {
 public:
  void prepare(Question&) override {}
  void ask(const Question& question, Instant, Completion done) override {
    CHECK(!question.charges.empty());
    done({.decision = {.allowed = question.cost % 2 == 0, .limit = 16, .remaining = 15}, .violated = 1});
  }
};

struct Nobody final : SessionFactory::Outlet {
  void wake() override {}
};

std::vector<Rule> rules() {
  std::vector<Rule> made;
  for (const KeyKind key : {KeyKind::kText, KeyKind::kIp}) {
    const std::string name = key == KeyKind::kText ? "a" : "b";
    BoundLimit limit{.limit = *make_limit(*parse_limit("5/min")), .identity = name, .label = name};
    made.push_back({.name = name, .limits = {limit}, .key = key});
  }
  return made;
}

/// What sessions share, over all runs, as a loop's do.
struct Loop {
  Loop() { resolver.use(std::make_shared<const RuleBook>(rules())); }

  NullStore store;
  Gate gate{store};
  Resolver resolver;
  LoopMetrics metrics;
  Prng prng{1};
  HttpSessionFactory factory{{.gate = gate,
                              .resolver = resolver,
                              .metrics = metrics,
                              .randomness = prng,
                              .token = {},
                              .allowed_hosts = {"a"},
                              .auth = {.trusted_hops = 1},
                              .why_not_ready = [] { return std::string(); },
                              .metrics_text = [] { return std::string("m 1\n"); }}};
  Nobody nobody;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Loop loop;
  if (size == 0) return 0;
  const std::size_t piece = 1 + data[0] * std::size_t{4};
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::unique_ptr<Session> session = loop.factory.make("", loop.nobody);
  while (!text.empty() && !session->finished()) {
    session->receive(text.substr(0, piece), {});
    text.remove_prefix(std::min(piece, text.size()));
    CHECK(session->output().empty() || session->output().starts_with("HTTP/1.1 "));
    CHECK(session->waiting() != Session::Waiting::kAnswer);
    session->output().clear();
  }
  session->end_of_input({});
  CHECK(session->finished());
  return 0;
}
