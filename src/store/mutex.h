#pragma once
// A lock of four bytes for critical sections of some tens of nanoseconds, annotated for clang's thread-safety analysis.
//
// Spins, then yields: whoever holds one never waits for anything. Not recursive, not fair. Four bytes, because there is
// one in every bucket of a table, where std::mutex would take forty.

#include <atomic>
#include <cstdint>

#if defined(__clang__)
#define RATEL_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define RATEL_THREAD_ANNOTATION(x)
#endif

#define RATEL_CAPABILITY RATEL_THREAD_ANNOTATION(capability("mutex"))
#define RATEL_SCOPED_CAPABILITY RATEL_THREAD_ANNOTATION(scoped_lockable)
#define RATEL_GUARDED_BY(x) RATEL_THREAD_ANNOTATION(guarded_by(x))
#define RATEL_REQUIRES(...) RATEL_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define RATEL_EXCLUDES(...) RATEL_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define RATEL_ACQUIRE(...) RATEL_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define RATEL_TRY_ACQUIRE(...) RATEL_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define RATEL_ASSERT_HELD RATEL_THREAD_ANNOTATION(assert_capability(this))
#define RATEL_RELEASE(...) RATEL_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
/// For sets of locks whose size is known only at run time, which the analysis cannot follow.
#define RATEL_NO_THREAD_ANALYSIS RATEL_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace ratel {

class RATEL_CAPABILITY Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() RATEL_ACQUIRE() {
    if (state_.exchange(1, std::memory_order_acquire) != 0) lock_slowly();
  }
  bool try_lock() RATEL_TRY_ACQUIRE(true) {
    return state_.load(std::memory_order_relaxed) == 0 && state_.exchange(1, std::memory_order_acquire) == 0;
  }
  /// Tells the analysis, which cannot see it, that the caller holds the lock.
  void assert_held() const RATEL_ASSERT_HELD {}
  void unlock() RATEL_RELEASE() { state_.store(0, std::memory_order_release); }

 private:
  void lock_slowly();

  std::atomic<std::uint32_t> state_{0};
};
static_assert(sizeof(Mutex) == 4);

class RATEL_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) RATEL_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() RATEL_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace ratel
