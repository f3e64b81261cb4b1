#include "store/mutex.h"

#include <thread>

namespace ratel {

void Mutex::lock_slowly() {
  // About as long as a decision takes; a holder that needs longer has most likely lost its core.
  constexpr int kSpins = 100;
  for (;;) {
    for (int i = 0; i < kSpins; ++i) {
      if (state_.load(std::memory_order_relaxed) == 0 && state_.exchange(1, std::memory_order_acquire) == 0) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    std::this_thread::yield();
  }
}

}  // namespace ratel
