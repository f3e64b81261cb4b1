#pragma once
// Counts in a store elsewhere: one thread with an event loop, to which callers hand their questions and wait.

#include <memory>
#include <string>
#include <vector>

#include "lib/backend.h"
#include "lib/shared_store.h"
#include "net/loop_thread.h"
#include "net/system_clock.h"

namespace ratel {

class RemoteBackend final : public Backend {
 public:
  /// Asks one real question; that takes at most SharedStore's time for it. The error is of a file for TLS, or says why
  /// the store does not decide; that one does not matter to a degraded start.
  static Result<std::unique_ptr<RemoteBackend>> make(SharedStore::Options options, bool start_degraded);
  ~RemoteBackend() override;

  Result<Decision> ask(Question& question) override;
  std::string why_not_exact() override;
  std::uint64_t settle() override;

 private:
  class Ask;
  class Settle;
  class Start;
  class Why;

  /// What the loop's thread works on.
  struct Running {
    Running(const Clock& clock, std::unique_ptr<SharedStore> store);
    void turn_ended();

    LoopThread thread;
    std::unique_ptr<SharedStore> shared;
    SharedStore::Loop loop;
    std::vector<Settle*> settling;
  };

  RemoteBackend() = default;

  SystemClock clock_;
  std::unique_ptr<Running> running_;
};

}  // namespace ratel
