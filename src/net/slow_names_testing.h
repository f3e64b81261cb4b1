#pragma once
// A name server that answers when it is told to.

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "net/name_resolver.h"

namespace ratel {

class SlowNames {
 public:
  /// What the resolver is given; it may be held up in it beyond the test.
  NameResolver::LookUp look_up() const {
    return [state = state_](const Address& address) {
      std::unique_lock lock(state->mutex);
      ++state->asked[address.host];
      state->changed.notify_all();
      state->changed.wait(lock, [&] { return state->held != "*" && state->held != address.host; });
      Found found = state->found;
      if (found.addresses.empty() && found.error.empty()) {
        found.addresses = addresses_of_number({.host = "127.0.0.1", .port = address.port, .path = {}});
      }
      return found;
    };
  }
  ~SlowNames() { hold(""); }

  /// This name, or `*` for all, is not answered until it is another.
  void hold(const std::string& host) {
    const std::lock_guard lock(state_->mutex);
    state_->held = host;
    state_->changed.notify_all();
  }
  /// What each is answered; nothing stands for 127.0.0.1.
  void answer(Found found) {
    const std::lock_guard lock(state_->mutex);
    state_->found = std::move(found);
  }
  int asked(const std::string& host) const {
    const std::lock_guard lock(state_->mutex);
    return state_->asked[host];
  }
  void wait_until_asked(const std::string& host, int times = 1) const {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->asked[host] >= times; });
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::string held;
    Found found;
    std::map<std::string, int> asked;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace ratel
