#pragma once
// What an error reply of Redis or Valkey means to a limiter: whether the command may have been executed, and what to
// do. Pure; any thread.

#include <cstdint>
#include <string_view>

namespace ratel {

struct StoreError {
  enum class Kind : std::uint8_t {
    kNoScript,
    kMoved,     // another node owns the slot
    kAsk,       // another node has this key of a slot that is moving
    kTryAgain,  // some keys of a slot that is moving are here, some there
    kCrossSlot,
    kClusterDown,
    kReadOnly,    // a replica, perhaps just demoted
    kRedirect,    // the same, and it knows its primary
    kMasterDown,  // a replica that has lost its primary
    kLoading,
    kBusy,  // another script has run for seconds
    kOutOfMemory,
    kCannotPersist,  // MISCONF
    kNoReplicas,
    kNotAuthenticated,
    kWrongPassword,
    kNoPermission,
    kWrongType,
    kTooManyClients,
    kUndeclaredKey,   // a script touched a key that it did not name
    kUnknownCommand,  // a feature this server does not have
    kUnexpected,      // nothing that a limiter's commands can get
    kOther,
  };

  /// Whether the server may have executed the command. What is surely not executed may be sent again.
  enum class Executed : std::uint8_t { kNo, kPerhaps };

  enum class Action : std::uint8_t {
    kLoadScripts,  // and send again on the same connection
    kFollow,       // send to the named node; learn that it owns the slot
    kFollowOnce,   // send to the named node after ASKING; learn nothing
    kSendLater,    // again to the same node, after a pause
    kRefresh,      // fail; ask for the cluster's map
    kRediscover,   // close what leads to this server, find the primary, send again there if there is time
    kDistrust,     // fail; find the primary: this one may be cut off
    kReconnect,    // fail; close and try again after a pause
    kFail,         // fail; the connection is good
    kClose,        // the connection cannot be trusted
  };

  Kind kind = Kind::kOther;
  Executed executed = Executed::kPerhaps;
  Action action = Action::kFail;
  std::string_view text;  // as it was read; a loan of it
  /// Of kMoved, kAsk and kRedirect. An empty host is the host that said so. A loan of the text.
  std::string_view host;
  std::uint16_t port = 0;
  std::uint16_t slot = 0;  // of kMoved and kAsk
};

/// `text` as it follows the minus sign; also as servers before 7 wrap what stopped a script.
StoreError read_store_error(std::string_view text);

}  // namespace ratel
