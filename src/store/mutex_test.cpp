#include "store/mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace ratel {
namespace {

TEST(Mutex, LetsOneInAtATime) {
  Mutex mutex;
  std::uint64_t count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 20'000; ++turn) {
        if (turn % 3 == 0) {
          while (!mutex.try_lock()) std::this_thread::yield();
          ++count;
          mutex.unlock();
        } else {
          MutexLock lock(mutex);
          ++count;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 80'000u);
}

TEST(Mutex, TryingDoesNotWait) {
  Mutex mutex;
  for (int turn = 0; turn < 2; ++turn) {
    if (!mutex.try_lock()) FAIL() << "it is free";
    std::thread([&] {
      if (!mutex.try_lock()) return;
      mutex.unlock();
      ADD_FAILURE() << "it is held";
    }).join();
    mutex.unlock();
  }
}

}  // namespace
}  // namespace ratel
