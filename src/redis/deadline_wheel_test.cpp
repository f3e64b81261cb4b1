#include "redis/deadline_wheel.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "base/prng.h"

namespace ratel {
namespace {

TEST(DeadlineWheel, AgreesWithASortedListOnRandomDeadlines) {
  struct Timer : DeadlineWheel::Entry {
    std::size_t number = 0;
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Prng prng(seed);
    DeadlineWheel wheel;
    std::deque<Timer> timers;
    std::map<std::size_t, Micros> due_us;  // the model
    Micros now_us = 123'456'789;
    for (std::size_t i = 0; i < 50; ++i) timers.emplace_back().number = i;
    for (int step = 0; step < 500; ++step) {
      Timer& timer = timers[prng.next() % timers.size()];
      switch (prng.next() % 4) {
        case 0:
        case 1: {
          const Micros in_us = static_cast<Micros>(prng.next() % (prng.next() % 8 == 0 ? 5'000'000 : 100'000));
          wheel.set(timer, now_us + in_us);
          due_us[timer.number] = now_us + in_us;
          break;
        }
        case 2:
          timer.unlink();
          due_us.erase(timer.number);
          break;
        case 3: {
          const Micros next_us = wheel.next_us();
          for (const auto& [number, due] : due_us) ASSERT_LE(next_us, due + kMillisecond_us);
          if (due_us.empty()) break;
          now_us =
              prng.next() % 2 == 0 ? std::max(now_us, next_us) : now_us + static_cast<Micros>(prng.next() % 20'000);
          wheel.advance(now_us, [&](DeadlineWheel::Entry& entry) {
            const std::size_t number = static_cast<Timer&>(entry).number;
            ASSERT_TRUE(due_us.contains(number));
            ASSERT_LE(due_us[number], now_us) << "too early";
            due_us.erase(number);
          });
          for (const auto& [number, due] : due_us) ASSERT_GT(due + kMillisecond_us, now_us) << "too late";
          break;
        }
      }
    }
  }
}

TEST(DeadlineWheel, IsNeverDueWhereNothingWaits) {
  DeadlineWheel wheel;
  EXPECT_EQ(wheel.next_us(), DeadlineWheel::kNone_us);
  DeadlineWheel::Entry entry;
  wheel.set(entry, 5'000'000);
  wheel.advance(4'999'000, [](DeadlineWheel::Entry&) { FAIL(); });
  EXPECT_EQ(wheel.next_us(), 5'000'000);
  int visits = 0;
  wheel.advance(5'000'000, [&](DeadlineWheel::Entry&) { ++visits; });
  EXPECT_EQ(visits, 1);
  EXPECT_EQ(wheel.next_us(), DeadlineWheel::kNone_us);
}

TEST(DeadlineWheel, AVisitMaySetAndUnlinkOthersThatAreDue) {
  DeadlineWheel wheel;
  DeadlineWheel::Entry a, b, c;
  for (DeadlineWheel::Entry* entry : {&a, &b, &c}) wheel.set(*entry, 10'000);
  int visits = 0;
  wheel.advance(10'000, [&](DeadlineWheel::Entry& entry) {
    if (++visits > 1) return;
    b.unlink();
    wheel.set(entry, 10'000);  // is visited in the next millisecond
  });
  EXPECT_EQ(visits, 2);
  wheel.advance(11'000, [&](DeadlineWheel::Entry&) { ++visits; });
  EXPECT_EQ(visits, 3);
}

}  // namespace
}  // namespace ratel
