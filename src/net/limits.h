#pragma once
// What a peer may cost, and the counts of what happened to peers.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/micros.h"

namespace ratel {

struct ConnectionLimits {
  std::size_t connections_max = 10'000;  // over all listeners and loops
  Micros idle_us = 5 * kMinute_us;       // between messages; 0: for ever
  Micros message_us = 10 * kSecond_us;   // from a message's first byte to its last: slow senders
  Micros stalled_us = 10 * kSecond_us;   // output of which the peer takes next to nothing: slow readers
  Micros greeting_us = 30 * kSecond_us;  // from connecting to the first message that counts; see Session::Waiting
  std::size_t held_bytes_max = 64 * 1024 * 1024;  // of memory for input and output, over all listeners and loops
};

/// What one connection holds is counted against held_bytes_max in steps of this, rounded down: so the usual question
/// never writes the count that all loops share, and is answered even when all the rest is used up.
inline constexpr std::size_t kHeldStepBytes = 16 * 1024;

/// Over all listeners and loops.
struct Totals {
  std::atomic<std::size_t> open{0};  // connections
  std::atomic<std::size_t> held_bytes{0};
};

/// How long a connection that is over may still send what is thrown away. Closing at once would reset it, and a reset
/// can overtake the last answer.
inline constexpr Micros kLinger_us = 2 * kSecond_us;
/// What a peer must take of waiting output, or all of it, to be given another stalled_us: less is a way to hold memory.
inline constexpr std::size_t kTakenBytesMin = 4 * 1024;
/// How often in a turn a session goes on with input that it held back until output was sent; then others have theirs.
inline constexpr int kRoundsPerTurn = 4;
/// What a drain still reads from one peer: more than sockets hold between two that wait for each other.
inline constexpr std::size_t kDrainBytesMax = 8 * 1024 * 1024;
/// Connections above connections_max that one loop is still telling so; further ones are closed without a word.
inline constexpr std::size_t kRefusalsMax = 64;
/// Silence after which TCP asks whether the peer's machine still lives, in seconds.
inline constexpr int kKeepAlive_s = 300;
/// Connections that wait to be accepted: as many as may come within one turn of a busy loop. The kernel caps it too.
inline constexpr int kBacklog = 1'024;
/// Accepted in one turn and listener, so that a storm of connections cannot keep the loop from those it has.
inline constexpr int kAcceptsPerTurn = 64;

/// Of one listener, over all loops. Written when a connection comes or goes, never for a request.
struct ListenerCounts {
  std::atomic<std::uint64_t> open{0};
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> refused{0};    // above connections_max
  std::atomic<std::uint64_t> shed{0};       // asked for more when held_bytes_max was reached
  std::atomic<std::uint64_t> timed_out{0};  // idle, slow senders and slow readers
  std::atomic<std::uint64_t> accept_failures{0};
};

}  // namespace ratel
