#pragma once
// Names to addresses, on threads of its own, since the system's resolver blocks, for seconds where a name server is
// away. Any thread may ask.
//
// A name is looked up anew for each connection; those who ask for one that is being looked up wait for the same. What
// comes too late for who asked is remembered, and so is what was found last, for when no name server answers.
//
// Ends at once, whatever the system is doing: a thread that is held up in it finds nobody there when it returns.

#include <functional>
#include <memory>

#include "net/event_loop.h"
#include "net/socket_address.h"

namespace ratel {

class NameResolver {
 public:
  /// Names that are known or wanted: the nodes of the largest cluster, and then some. Where all are wanted, the next
  /// is refused; otherwise one that is not is forgotten.
  static constexpr std::size_t kNamesMax = 1'100;
  /// Who waits. Each makes a connection, and those are made some at a time.
  static constexpr std::size_t kAskersMax = 4'096;
  /// Names that are looked up at once: one that hangs is not to hold up the others.
  static constexpr std::size_t kThreadsMax = 4;

  using LookUp = std::function<Found(const Address& address)>;

  /// `look_up` may block as long as it takes, is called on several threads at once, and may still be running when the
  /// resolver and all else is gone.
  explicit NameResolver(LookUp look_up = ratel::look_up);
  ~NameResolver();

  struct Asker;
  /// Who waits for an answer. Destroyed on the loop's thread: it is told no more.
  class Asked {
   public:
    Asked() = default;
    Asked(Asked&&) noexcept = default;
    Asked& operator=(Asked&& other) noexcept;
    ~Asked() { drop(); }

   private:
    friend class NameResolver;
    void drop();
    std::shared_ptr<Asker> asker_;  // with what is posted to its loop
  };

  using Done = std::function<void(Found found)>;
  /// Calls `done` on the loop's thread, in a later turn. REQUIRES: the loop outlives what is returned.
  [[nodiscard]] Asked resolve(const Address& address, EventLoop& loop, Done done);

  /// What was found last, by whoever asked; nothing if nothing ever was.
  std::vector<SocketAddress> known(const Address& address) const;

 private:
  struct State;
  static void look_up_what_waits(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;  // with threads that outlive it
};

}  // namespace ratel
