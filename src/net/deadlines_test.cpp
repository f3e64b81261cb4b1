#include "net/deadlines.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/prng.h"

namespace ratel {
namespace {

struct Named : Deadlines::Entry {
  explicit Named(char n) : name(n) {}
  char name;
};

class DeadlinesTest : public testing::Test {
 protected:
  /// Who is visited when the time has come to `now_us`.
  std::string visited(Micros now_us) {
    std::string names;
    deadlines_.advance(now_us, [&](Deadlines::Entry& entry) { names += static_cast<Named&>(entry).name; });
    return names;
  }

  static constexpr Micros kStart_us = 1'000'000 * kSecond_us + 1;
  Deadlines deadlines_{kStart_us};
  Named a_{'a'}, b_{'b'}, c_{'c'};
};

TEST_F(DeadlinesTest, VisitsNeverBeforeAndAtMostASecondAfterTheDeadline) {
  deadlines_.schedule(a_, kStart_us + 10 * kSecond_us);
  for (int i = 1; i < 10; ++i) EXPECT_EQ(visited(kStart_us + i * kSecond_us), "") << i;
  EXPECT_EQ(visited(kStart_us + 10 * kSecond_us), "");  // rounded up to a whole second
  EXPECT_EQ(visited(kStart_us + 11 * kSecond_us), "a");
  EXPECT_EQ(visited(kStart_us + 5'000 * kSecond_us), "");
}

TEST_F(DeadlinesTest, OnlyAnEarlierDeadlineMovesTheVisit) {
  deadlines_.schedule(a_, kStart_us + 10 * kSecond_us);
  deadlines_.schedule(a_, kStart_us + 20 * kSecond_us);
  deadlines_.schedule(b_, kStart_us + 20 * kSecond_us);
  deadlines_.schedule(b_, kStart_us + 10 * kSecond_us);
  EXPECT_EQ(visited(kStart_us + 11 * kSecond_us), "ab");
  EXPECT_EQ(visited(kStart_us + 100 * kSecond_us), "");
}

TEST_F(DeadlinesTest, NoDeadlineIsNoVisit) {
  deadlines_.schedule(a_, Deadlines::kNone_us);
  EXPECT_EQ(visited(kStart_us + 5'000 * kSecond_us), "");
}

TEST_F(DeadlinesTest, WhatIsBeyondTheWheelIsVisitedEarlyAndScheduledAgain) {
  const Micros due_us = kStart_us + 3 * kHour_us;
  deadlines_.schedule(a_, due_us);
  int early = 0;
  Micros met_us = 0;
  for (Micros now_us = kStart_us; met_us == 0; now_us += kSecond_us) {
    deadlines_.advance(now_us, [&](Deadlines::Entry& entry) {
      if (now_us >= due_us) {
        met_us = now_us;
      } else {
        ++early;
        deadlines_.schedule(entry, due_us);
      }
    });
  }
  EXPECT_LE(met_us, due_us + kSecond_us);
  EXPECT_LE(early, 30);
}

TEST_F(DeadlinesTest, APastDeadlineIsVisitedNext) {
  deadlines_.schedule(a_, 0);
  EXPECT_EQ(visited(kStart_us), "");
  EXPECT_EQ(visited(kStart_us + kSecond_us), "a");
}

TEST_F(DeadlinesTest, AfterALongHaltAllAreVisitedOnce) {
  deadlines_.schedule(a_, kStart_us + kSecond_us);
  deadlines_.schedule(b_, kStart_us + 500 * kSecond_us);
  deadlines_.schedule(c_, kStart_us + kHour_us);
  EXPECT_EQ(visited(kStart_us + 24 * kHour_us).size(), 3U);
}

TEST_F(DeadlinesTest, AVisitMayDestroyAndSchedule) {
  auto gone = std::make_unique<Named>('x');
  deadlines_.schedule(a_, kStart_us + kSecond_us);
  deadlines_.schedule(*gone, kStart_us + kSecond_us);
  deadlines_.schedule(b_, kStart_us + kSecond_us);
  std::string names;
  deadlines_.advance(kStart_us + 2 * kSecond_us, [&](Deadlines::Entry& entry) {
    names += static_cast<Named&>(entry).name;
    gone.reset();                                         // whose visit would have come next
    deadlines_.schedule(a_, kStart_us + 3 * kSecond_us);  // itself
  });
  EXPECT_EQ(names, "ab");
  EXPECT_EQ(visited(kStart_us + 4 * kSecond_us), "a");
}

TEST_F(DeadlinesTest, AgreesWithASlowModel) {
  Prng prng(7);
  std::vector<std::unique_ptr<Named>> entries;
  for (char name = 0; name < 100; ++name) entries.push_back(std::make_unique<Named>(name));
  std::map<char, Micros> due;  // when each is to be met, at the latest a second after
  Micros now_us = kStart_us;
  for (int step = 0; step < 20'000; ++step) {
    Named& entry = *entries[prng.next() % entries.size()];
    const Micros at_us = now_us + static_cast<Micros>(prng.next() % static_cast<std::uint64_t>(400 * kSecond_us));
    deadlines_.schedule(entry, at_us);
    const auto known = due.find(entry.name);
    due[entry.name] = known == due.end() ? at_us : std::min(known->second, at_us);
    now_us += static_cast<Micros>(prng.next() % static_cast<std::uint64_t>(5 * kSecond_us));
    deadlines_.advance(now_us, [&](Deadlines::Entry& met) {
      const char name = static_cast<Named&>(met).name;
      EXPECT_LE(due.at(name), now_us);
      due.erase(name);
    });
    for (const auto& [name, when_us] : due) EXPECT_GT(when_us + kSecond_us, now_us);
  }
}

}  // namespace
}  // namespace ratel
