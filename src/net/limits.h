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
  Micros stalled_us = 10 * kSecond_us;   // output of which the peer takes nothing: slow readers
};

/// How long a connection that is over may still send what is thrown away. Closing at once would reset it, and a reset
/// can overtake the last answer.
inline constexpr Micros kLinger_us = 2 * kSecond_us;
/// Connections above connections_max that one loop is still telling so; further ones are closed without a word.
inline constexpr std::size_t kRefusalsMax = 64;
/// Silence after which TCP asks whether the peer's machine still lives, in seconds.
inline constexpr int kKeepAlive_s = 300;
/// Connections that wait to be accepted: as many as may come within one turn of a busy loop. The kernel caps it too.
inline constexpr int kBacklog = 1'024;
/// Accepted in one turn and listener, so that a storm of connections cannot keep the loop from those it has.
inline constexpr int kAcceptsPerTurn = 64;
/// What an idle connection keeps of its output buffer: more than a pipelined batch of answers needs.
inline constexpr std::size_t kOutputBytesKept = 16 * 1024;

/// Of one listener, over all loops. Written when a connection comes or goes, never for a request.
struct ListenerCounts {
  std::atomic<std::uint64_t> open{0};
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> refused{0};    // above connections_max
  std::atomic<std::uint64_t> timed_out{0};  // idle, slow senders and slow readers
  std::atomic<std::uint64_t> accept_failures{0};
};

}  // namespace ratel
