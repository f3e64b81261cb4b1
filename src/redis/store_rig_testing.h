#pragma once
// A RedisStore on a fake network, and what became of each question.

#include <map>
#include <memory>
#include <string>

#include "redis/fake_redis_testing.h"
#include "redis/redis_store.h"

namespace ratel {

class StoreRig {
 public:
  explicit StoreRig(std::string_view url, std::uint64_t seed = 1) : network(seed) {
    options.url = *parse_store_url(url);
  }

  /// After the servers are there.
  void start() {
    store = std::make_unique<RedisStore>(options, network, network.prng);
    store->start(network.now());
    run(100 * kMillisecond_us);
  }
  void run(Micros for_us) { network.run(*store, for_us); }

  /// Asks for a key; each cost may be asked once, and is the ticket.
  void ask(std::int64_t cost, std::string key = "k", Verb verb = Verb::kAllow, Micros deadline_us = 50'000) {
    Asked& asked = asked_[cost];
    asked.key = std::move(key);
    asked.verb = verb;
    asked.due_us = network.now_us + deadline_us;
    asked.charge = {.limit = &limit, .key = asked.key};
    Question question{.verb = verb, .charges = {&asked.charge, 1}, .cost = cost, .deadline_us = deadline_us};
    store->prepare(question);
    store->ask(question, network.now(),
               {.call = &StoreRig::answered, .context = this, .ticket = static_cast<std::uint64_t>(cost)});
  }
  /// "granted", the fault, or "waiting".
  std::string of(std::int64_t cost) const {
    constexpr const char* kFaults[] = {"granted", "unreachable", "refused", "timeout", "lost", "bad state", "crowded"};
    const Asked& asked = asked_.at(cost);
    return asked.answers == 0 ? "waiting" : kFaults[static_cast<int>(asked.answer.fault)];
  }

  struct Asked {
    std::string key;
    Verb verb = Verb::kAllow;
    Charge charge;
    Micros due_us = 0;
    int answers = 0;
    Micros answered_us = 0;
    Answer answer;
  };
  const std::map<std::int64_t, Asked>& asked() const { return asked_; }

  RedisStore::Options options;
  FakeNetwork network;
  std::unique_ptr<RedisStore> store;
  const BoundLimit limit{
      .limit = *make_limit({.algorithm = Algorithm::kFixedWindow, .count = kCountMax, .period_us = kPeriodMax_us}),
      .identity = "limit",
      .label = "limit"};
  std::function<void(std::int64_t cost)> on_answer;

 private:
  static void answered(void* context, std::uint64_t ticket, const Answer& answer) {
    auto& rig = *static_cast<StoreRig*>(context);
    Asked& asked = rig.asked_.at(static_cast<std::int64_t>(ticket));
    ++asked.answers;
    asked.answered_us = rig.network.now_us;
    asked.answer = answer;
    if (rig.on_answer) rig.on_answer(static_cast<std::int64_t>(ticket));
  }

  std::map<std::int64_t, Asked> asked_;
};

}  // namespace ratel
