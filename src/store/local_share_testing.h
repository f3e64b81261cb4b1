#pragma once
// For tests: a LocalShare, and the debts it knows of.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "store/local_share.h"
#include "store/store_testing.h"

namespace ratel {

constexpr KnownDebts::Hash hash_of(std::uint64_t key) {
  return {key + 1, 1};
}

class LocalShareTest : public testing::Test {
 protected:
  Answer ask(const BoundLimit& limit, std::uint64_t key, std::int64_t cost = 1, Verb verb = Verb::kAllow) {
    const std::string text = "key" + std::to_string(key);
    Charge charge{.limit = &limit, .key = text, .hash = hash_of(key)};
    return share_.ask({.verb = verb, .charges = {&charge, 1}, .cost = cost}, at(now_us_));
  }
  std::int64_t admitted(const BoundLimit& limit, std::uint64_t key, int questions) {
    std::int64_t count = 0;
    for (int i = 0; i < questions; ++i) count += ask(limit, key).decision.allowed ? 1 : 0;
    return count;
  }
  std::vector<LocalShare::Owed> hand_out(std::size_t max = 100) {
    std::vector<LocalShare::Owed> owed;
    share_.take_owed(at(now_us_), max, owed);
    return owed;
  }
  /// All of it is charged.
  std::vector<LocalShare::Owed> take_owed(std::size_t max = 100) {
    std::vector<LocalShare::Owed> owed = hand_out(max);
    for (const LocalShare::Owed& each : owed) share_.settle(each, each.cost, at(now_us_));
    return owed;
  }

  Micros now_us_ = kStart_us;
  KnownDebts debts_{64};
  LocalShare share_{{.counters_max = 32, .start = at(kStart_us)}, debts_};
};

}  // namespace ratel
