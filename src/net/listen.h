#pragma once
// Opens listening sockets. Blocks (it resolves names), so it is for the start-up.

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/address.h"
#include "net/fd.h"
#include "ratel/result.h"

namespace ratel {

struct ListenOptions {
  int sockets = 1;               // one an event loop
  bool beyond_loopback = false;  // allowed
};

/// Listening on one address.
struct Listening {
  std::string address;      // the real one: a resolved host and the port that was chosen
  std::vector<Fd> sockets;  // options.sockets of them; the kernel spreads connections over them
};

/// Listens on all that the address resolves to (`localhost` may be two). The error is one line that names the address
/// as it was given: taken, not ours, unknown, or beyond loopback without being allowed.
///
/// A port that another process listens on is taken, even if both would share it (SO_REUSEPORT): two servers with tables
/// of their own behind one port would each admit the whole limit. The file of a Unix socket on which nobody listens any
/// more is replaced. Such a file is open to its owner and group, whatever the umask.
Result<std::vector<Listening>> listen_on(const Address& address, const ListenOptions& options);

}  // namespace ratel
