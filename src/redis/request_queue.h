#pragma once
// What has been asked on one connection and is owed a reply, in order, with the bytes that are still to be written.
//
// A place in the line is given up only with its reply. Whoever stops waiting leaves a tombstone, which swallows the
// reply when it comes: that is what keeps replies from reaching the wrong caller. What has not been written can be
// taken back. Belongs to one connection; no sockets.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/micros.h"

namespace ratel {

class LinkReceiver;

/// Requests on one connection, those that nobody waits for any longer too. At 40,000 answers a second this is the work
/// of 50 ms, the usual deadline: who would stand behind it would wait for nothing. More than one client can ask at
/// once.
inline constexpr std::size_t kLinkSlotsMax = 2048;
/// Of these, for what a connection asks for itself.
inline constexpr std::size_t kLinkSlotsReserved = 32;
/// Bytes not yet written. More than a socket's buffer waits only when the server does not read.
inline constexpr std::size_t kLinkUnsentBytesMax = 1024 * 1024;

class RequestQueue {
 public:
  using Place = std::uint64_t;

  struct Slot {
    LinkReceiver* receiver = nullptr;  // none: a tombstone, or the connection's own
    std::uint64_t token = 0;           // the receiver's
    Micros asked_us = 0;
    Micros patience_us = 0;     // how old this may get, with nothing read, until the server counts as dead
    std::uint32_t bytes = 0;    // those of it that are to be written
    std::uint8_t preludes = 0;  // replies before its own, of commands that go with it
    std::uint8_t own = 0;       // what the connection asked for itself; 0: not its own
    bool taken_back = false;    // before it was written
  };

  enum class Cancelled : std::uint8_t {
    kGone,       // it had been answered already
    kTakenBack,  // it never was on its way
    kTombstone,  // its reply will come, or not
  };

  RequestQueue() : ring_(kLinkSlotsMax) {}

  /// Nothing where the bounds are reached, which are wider for the connection's own.
  std::optional<Place> push(const Slot& slot, std::string_view bytes);
  bool has_room(std::size_t bytes) const {
    return size() < kLinkSlotsMax - kLinkSlotsReserved && output_.size() - done_ + bytes <= kLinkUnsentBytesMax;
  }
  Cancelled cancel(Place place);

  /// What is to be written next; a loan until the next call.
  std::string_view unsent();
  /// REQUIRES: bytes <= unsent().size()
  void wrote(std::size_t bytes);

  /// The oldest that a reply is owed to, or nullptr.
  Slot* oldest();
  /// REQUIRES: oldest()
  Slot pop();

  /// Takes the next of all, for a connection that has ended; false if there are no more. `sent`: all of it was written.
  bool abandon(Slot& slot, bool& sent);

  std::size_t size() const { return tail_ - head_; }
  bool has_unsent() const { return output_.size() > done_; }
  /// REQUIRES: the place is not gone.
  const Slot& at(Place place) const { return ring_[place % kLinkSlotsMax]; }

 private:
  Slot& slot(Place place) { return ring_[place % kLinkSlotsMax]; }
  void pass_taken_back();

  std::vector<Slot> ring_;
  Place head_ = 0;
  Place begun_ = 0;  // from here on nothing has been written
  Place tail_ = 0;
  std::string output_;
  std::size_t done_ = 0;         // bytes of output_ that are written
  std::size_t begun_left_ = 0;   // bytes not written of the slot before begun_
  bool has_taken_back_ = false;  // some bytes of output_ are not to be written
};

}  // namespace ratel
