// Tested by tests/test_doctor.py

#include "app/store_asker.h"

namespace ratel {
namespace {

constexpr Micros kAgain_us = 20 * kMillisecond_us;

}  // namespace

StoreAsker::StoreAsker(StoreAccess& access, const Settings& settings)
    : access_(access),
      store_(access.loop(), access.clock(), access.resolver(), access.tls(),
             {.url = *settings.store,
              .key_prefix = settings.key_prefix,
              .sentinel_user = settings.store_sentinel_user,
              .sentinel_password = settings.store_sentinel_password,
              .hash_seed = random_seed()},
             randomness_) {}

StoreAsker::Asked StoreAsker::ask(Question question) {
  struct Seen {
    const Clock& clock;
    bool answered = false;
    Answer answer{};
    Micros at_us = 0;
  } seen{.clock = access_.clock()};
  const auto note = [](void* context, std::uint64_t, const Answer& answer) {
    Seen& it = *static_cast<Seen*>(context);
    it.answered = true;
    it.answer = answer;
    it.at_us = it.clock.now().monotonic_us;
  };
  access_.loop().turn(false);  // what time it is may be long ago by the loop
  const Instant began = access_.clock().now();
  store_.store().prepare(question);
  store_.store().ask(question, began, {.call = note, .context = &seen, .ticket = 0});
  while (true) {
    store_.turn_ended();
    if (seen.answered) return {seen.answer, seen.at_us - began.monotonic_us};
    access_.loop().turn();
  }
}

Answer StoreAsker::ask_at_last(const Question& question) {
  EventLoop& loop = access_.loop();
  const Micros until_us = access_.clock().now().monotonic_us + kFirst_us;
  while (true) {
    const Answer answer = ask(question).answer;
    const Micros now_us = access_.clock().now().monotonic_us;
    if (answer.fault == StoreFault::kNone || now_us >= until_us) return answer;
    for (const Micros again_us = now_us + kAgain_us; access_.clock().now().monotonic_us < again_us;) {
      store_.turn_ended();
      loop.wake_by(again_us);
      loop.turn();
    }
  }
}

std::string StoreAsker::last_error(const Answer& answer) {
  std::string error = store_.store().last_error();
  return error.empty() ? std::string(name_of(answer.fault)) : error;
}

}  // namespace ratel
