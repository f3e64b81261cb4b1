// Limits exports to five a day, however many machines do them.

#include <ratel/connect.h>

#include <chrono>
#include <cstdio>

int main(int argc, char** argv) {
  const auto limiter = ratel::connect(argc > 1 ? argv[1] : "redis://127.0.0.1:6379");
  if (!limiter.ok()) return std::puts(limiter.error().message.c_str()), 1;
  const auto exports = limiter->limit(
      "5/day", {.name = "exports", .on_store_failure = ratel::FailureMode::kDeny, .deadline = std::chrono::seconds(5)});
  if (!exports.ok()) return std::puts(exports.error().message.c_str()), 1;

  int passed = 0;
  auto source = ratel::Source::kExact;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto decision = exports->allow("user:42");
    if (!decision.ok()) return std::puts(decision.error().message.c_str()), 1;
    if (decision->allowed) ++passed;
    source = decision->source;
  }
  std::printf("%d of 3 exports pass, %s\n", passed, ratel::name_of(source));
}
