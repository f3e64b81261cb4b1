#include "gate/heartbeat.h"

#include <gtest/gtest.h>

#include "store/memory_store.h"
#include "store/store_testing.h"

namespace ratel {
namespace {

/// A store that many processes share, and that may be away.
class Switched final : public Store {
 public:
  explicit Switched(Instant start) : memory_(std::make_unique<MemoryStore>(MemoryStore::Options{.start = start})) {}
  void prepare(Question& question) override { memory_->prepare(question); }
  void ask(const Question& question, Instant now, Completion done) override {
    if (away) return done({.fault = StoreFault::kUnreachable});
    memory_->ask(question, now, done);
  }
  void restart(Instant now) { memory_ = std::make_unique<MemoryStore>(MemoryStore::Options{.start = now}); }

  bool away = false;

 private:
  std::unique_ptr<MemoryStore> memory_;
};

class HeartbeatTest : public testing::Test {
 protected:
  struct Process {
    Process(Switched& store, std::string id) : local({.start = at(kStart_us)}, debts), beat(store, local, id) {}
    KnownDebts debts{64};
    LocalShare local;
    Heartbeat beat;
    bool lives = true;
  };

  HeartbeatTest() {
    for (int i = 0; i < 3; ++i) processes_.push_back(std::make_unique<Process>(store_, std::to_string(i)));
  }
  /// All that live beat in the course of the second.
  void seconds(int count) {
    for (int i = 0; i < 10 * count; ++i) {
      clock_.advance_us(kSecond_us / 10);
      for (const auto& process : processes_) {
        if (process->lives && clock_.now().monotonic_us >= process->beat.due_us()) process->beat.tick(clock_.now());
      }
    }
  }
  int seen(int by) const { return processes_[static_cast<std::size_t>(by)]->local.processes(); }

  ManualClock clock_{at(kStart_us)};
  Switched store_{at(kStart_us)};
  std::vector<std::unique_ptr<Process>> processes_;
};

TEST_F(HeartbeatTest, CountsThoseThatLive) {
  EXPECT_EQ(seen(0), 1);
  seconds(2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(seen(i), 3) << i;
}

TEST_F(HeartbeatTest, OneThatIsGoneIsCountedNoMoreOnceThatIsSure) {
  seconds(2);
  processes_[2]->lives = false;
  seconds(3);
  EXPECT_EQ(seen(0), 3);
  seconds(5);
  EXPECT_EQ(seen(0), 2);
  EXPECT_EQ(seen(1), 2);
}

TEST_F(HeartbeatTest, WhileTheStoreIsAwayTheLastNumberStays) {
  seconds(2);
  store_.away = true;
  processes_[2]->lives = false;
  seconds(60);
  EXPECT_EQ(seen(0), 3);
  store_.away = false;
  seconds(8);
  EXPECT_EQ(seen(0), 2);
}

TEST_F(HeartbeatTest, AStoreThatHasForgottenAllMakesNobodyAlone) {
  seconds(2);
  store_.away = true;
  seconds(10);
  store_.restart(clock_.now());
  store_.away = false;
  for (int i = 0; i < 10; ++i) {
    seconds(1);
    for (int by = 0; by < 3; ++by) ASSERT_EQ(seen(by), 3) << i;
  }
}

TEST_F(HeartbeatTest, NumbersFromBeforeAnOutageDoNotMakeALowOneSure) {
  seconds(2);
  store_.restart(clock_.now());
  processes_[0]->beat.tick(at(clock_.now().monotonic_us + kSecond_us));  // told of itself alone
  store_.away = true;
  clock_.advance_us(10 * kSecond_us);
  store_.away = false;
  processes_[0]->beat.tick(clock_.now());  // and now again
  EXPECT_EQ(seen(0), 3);
}

TEST_F(HeartbeatTest, AsksOnceASecondAndOnceAtATime) {
  class Silent final : public Store {
   public:
    void prepare(Question&) override {}
    void ask(const Question& question, Instant, Completion done) override {
      ++asked;
      EXPECT_LT(question.deadline_us, Heartbeat::kBeat_us);
      last = done;
    }
    int asked = 0;
    Completion last;
  } silent;
  KnownDebts debts{64};
  LocalShare local({.start = at(kStart_us)}, debts);
  Heartbeat beat(silent, local, "me");
  for (int i = 0; i < 30; ++i) {
    clock_.advance_us(kSecond_us / 10);
    beat.tick(clock_.now());
  }
  EXPECT_EQ(silent.asked, 1);
  silent.last({.fault = StoreFault::kTimeout});
  for (int i = 0; i < 30; ++i) {
    clock_.advance_us(kSecond_us / 10);
    beat.tick(clock_.now());
    if (silent.asked > 1) silent.last({.fault = StoreFault::kTimeout});
  }
  EXPECT_EQ(silent.asked, 4);
  EXPECT_EQ(local.processes(), 1);
}

}  // namespace
}  // namespace ratel
