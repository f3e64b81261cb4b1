// Any bytes at a whole connection: no crash, bounds held, and the same replies however the bytes are split. The first
// byte of the input seeds where.

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/prng.h"
#include "rules/load_rules.h"
#include "serve/resp_session.h"
#include "serve/store_testing.h"

namespace ratel {
namespace {

constexpr Instant kNow{.monotonic_us = 1'759'400'000'000'000, .wall_us = 1'759'400'000'000'000};
// What one command may add to the output after its bound was looked at: a batch of the longest replies.
constexpr std::size_t kOvershoot = 256 * 1024;

struct Nobody final : SessionFactory::Outlet {
  void wake() override {}
};

RuleBookPtr rules() {
  const RuleFile file{.name = "rules.yaml",
                      .text =
                          "rules: { a: { limit: 5/min }, b: { limit: [3/s, 9/h], key: ip }, c: { limit: 2 concurrent "
                          "}, d: { limit: 1/s, shadow: true }, e: { limit: 1/s, max_wait: 3s } }"};
  return std::make_shared<const RuleBook>(std::move(*load_rules({&file, 1})));
}

/// `piece_bytes_max` 0: all in one piece.
std::string replies(std::string_view input, std::size_t piece_bytes_max, Prng& pieces) {
  // Large, and without influence on replies.
  static Resolver resolver;
  static LoopMetrics metrics;
  if (resolver.book()->rules().empty()) resolver.use(rules());
  HeldStore store;
  Gate gate(store);
  Prng prng(1);
  Nobody nobody;
  RespSessionFactory factory({.gate = gate,
                              .resolver = resolver,
                              .metrics = metrics,
                              .randomness = prng,
                              .password = "",
                              .version = "1",
                              .facts = [] { return ServerFacts{}; }});
  const std::unique_ptr<Session> session = factory.make("", nobody);
  std::string all;
  const auto take = [&] {
    do {
      CHECK(session->output().size() <= kRespUnsentBytesMax + kOvershoot);
      all += session->output();
      session->output().clear();
      session->receive({}, kNow);
    } while (!session->output().empty());
  };
  while (!input.empty() && !session->finished()) {
    const std::size_t size = piece_bytes_max == 0 ? input.size() : 1 + pieces.next() % piece_bytes_max;
    session->receive(input.substr(0, size), kNow);
    input.remove_prefix(std::min(size, input.size()));
    take();
  }
  session->end_of_input(kNow);
  take();
  CHECK(session->finished());
  return all;
}

}  // namespace
}  // namespace ratel

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  ratel::Prng pieces(data[0]);
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = ratel::replies(input, 0, pieces);
  CHECK(ratel::replies(input, 7, pieces) == whole);
  return 0;
}
