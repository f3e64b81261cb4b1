#include "net/name_resolver.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include "net/quiet_thread.h"

namespace ratel {

struct NameResolver::Asker {
  std::shared_ptr<State> state;
  std::string name;
  EventLoop* loop = nullptr;
  Done done;
};

struct NameResolver::State {
  struct Name {
    Address address;
    std::vector<std::shared_ptr<Asker>> askers;
    std::vector<SocketAddress> known;
    bool waits = false;  // for a thread
    bool asked = false;  // by a thread, now

    bool is_wanted() const { return waits || asked || !askers.empty(); }
  };

  /// nullptr where there is no room.
  Name* name_of(const Address& address) {
    const std::string text = format_address(address);
    if (const auto at = names.find(text); at != names.end()) return &at->second;
    if (names.size() == kNamesMax) {
      const auto idle =
          std::find_if(names.begin(), names.end(), [](const auto& each) { return !each.second.is_wanted(); });
      if (idle == names.end()) return nullptr;
      names.erase(idle);
    }
    Name& name = names[text];
    name.address = address;
    return &name;
  }

  void found(Name& name, const Found& found) {
    name.asked = false;
    // That a name has no address any longer is an answer; that nobody answers is none.
    const bool remembered = found.addresses.empty() && found.may_pass && !name.known.empty();
    if (!remembered) name.known = found.addresses;
    for (const std::shared_ptr<Asker>& asker : std::exchange(name.askers, {})) {
      --askers;
      if (ended) continue;
      tell(asker, remembered ? Found{.addresses = name.known, .error = {}} : found);
    }
  }

  /// REQUIRES: the asker has not been dropped, so its loop is there.
  static void tell(const std::shared_ptr<Asker>& asker, Found found) {
    asker->loop->post([weak = std::weak_ptr(asker), found = std::move(found)] {
      if (const std::shared_ptr<Asker> there = weak.lock()) there->done(found);
    });
  }

  const LookUp look_up;
  mutable std::mutex mutex;
  std::map<std::string, Name> names;
  std::deque<Name*> waiting;
  std::size_t askers = 0;
  std::size_t threads = 0;
  bool ended = false;
};

NameResolver::NameResolver(LookUp look_up) : state_(new State{.look_up = std::move(look_up)}) {}

NameResolver::~NameResolver() {
  const std::lock_guard lock(state_->mutex);
  state_->ended = true;
}

NameResolver::Asked& NameResolver::Asked::operator=(Asked&& other) noexcept {
  drop();
  asker_ = std::move(other.asker_);
  return *this;
}

void NameResolver::Asked::drop() {
  if (asker_ == nullptr) return;
  State& state = *asker_->state;
  {
    const std::lock_guard lock(state.mutex);
    if (const auto at = state.names.find(asker_->name); at != state.names.end()) {
      state.askers -= std::erase(at->second.askers, asker_);
    }
  }
  asker_.reset();
}

NameResolver::Asked NameResolver::resolve(const Address& address, EventLoop& loop, Done done) {
  Asked asked;
  asked.asker_ = std::make_shared<Asker>(Asker{state_, format_address(address), &loop, std::move(done)});
  const std::lock_guard lock(state_->mutex);
  State::Name* name = state_->askers < kAskersMax ? state_->name_of(address) : nullptr;
  if (name == nullptr) {
    State::tell(asked.asker_, {.addresses = {}, .error = "too many names wait to be resolved"});
    return asked;
  }
  name->askers.push_back(asked.asker_);
  ++state_->askers;
  if (name->waits || name->asked) return asked;
  name->waits = true;
  state_->waiting.push_back(name);
  if (state_->threads == kThreadsMax) return asked;
  try {
    start_quiet_thread([state = state_] { look_up_what_waits(state); }).detach();
    ++state_->threads;
  } catch (const std::system_error& error) {
    if (state_->threads > 0) return asked;  // another comes to it
    name->waits = false;
    state_->waiting.pop_back();
    state_->found(*name,
                  {.addresses = {}, .error = std::string("cannot resolve names: ") + error.what(), .may_pass = true});
  }
  return asked;
}

std::vector<SocketAddress> NameResolver::known(const Address& address) const {
  const std::lock_guard lock(state_->mutex);
  const auto at = state_->names.find(format_address(address));
  return at == state_->names.end() ? std::vector<SocketAddress>() : at->second.known;
}

void NameResolver::look_up_what_waits(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (!state->ended && !state->waiting.empty()) {
    State::Name& name = *state->waiting.front();
    state->waiting.pop_front();
    name.waits = false;
    if (name.askers.empty()) continue;  // they have given up meanwhile
    name.asked = true;
    const Address address = name.address;
    lock.unlock();
    const Found found = state->look_up(address);
    lock.lock();
    state->found(name, found);  // a name that is being asked for is not forgotten
  }
  --state->threads;
}

}  // namespace ratel
