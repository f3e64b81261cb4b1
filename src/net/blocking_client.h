#pragma once
// One connection for a program that has nothing else to do than wait for it. Belongs to one thread.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/address.h"
#include "base/micros.h"
#include "net/fd.h"
#include "net/socket_address.h"
#include "ratel/result.h"

namespace ratel {

class BlockingClient {
 public:
  /// Connects to the first address of a name that answers. `timeout_us` is for everything until the client is dropped,
  /// but for the resolving of a name, which takes what it takes. Errors name the address.
  static Result<BlockingClient> connect(const Address& address, Micros timeout_us);

  Status send(std::string_view bytes);
  /// Waits for bytes and appends them to `input`. An end of the stream is an error.
  Status receive(std::string& input);

 private:
  BlockingClient(std::string address, Micros deadline_us) : address_(std::move(address)), deadline_us_(deadline_us) {}

  Status connect_to(const SocketAddress& to);
  Status wait(short events) const;
  Error failed(std::string_view what, int error) const;

  std::string address_;
  Micros deadline_us_;
  Fd socket_;
};

}  // namespace ratel
