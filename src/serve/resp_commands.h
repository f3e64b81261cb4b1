#pragma once
// The commands a RESP connection knows, as a table: what asks a question, and what is answered at once. No sockets.
// Belongs to one event loop.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "gate/gate.h"
#include "observe/metrics.h"
#include "serve/resp_question.h"

namespace ratel {

/// What INFO says of the server. Clients ask on every connect, so all of it is quick to tell.
struct ServerFacts {
  std::int64_t uptime_s = 0;
  std::uint64_t connections = 0;
};

/// What the sessions of one event loop share, all on loan.
struct RespServices {
  Gate& gate;
  Resolver& resolver;
  LoopMetrics& metrics;
  Randomness& randomness;
  std::string password;  // empty: none is asked for
  std::string version;
  std::function<ServerFacts()> facts;
};

/// What a connection has said of itself.
struct RespConnection {
  std::uint64_t id = 0;
  std::string_view peer;
  RespVersion version = RespVersion::k2;
  bool authenticated = false;
  std::string name;      // CLIENT SETNAME
  bool closing = false;  // nothing that follows is read
};

struct RespCommand {
  /// Reads a command that asks a question.
  using Read = Status (*)(const RespCommand& command, RespArguments arguments, RespServices& services,
                          RespQuestion& asked);
  /// Answers a command that asks none.
  using Run = void (*)(RespArguments arguments, RespServices& services, RespConnection& connection,
                       std::string& output);

  std::string_view name;  // upper case
  int arity = 0;          // as Redis counts: with the name; minus the least when there may be more
  Read read = nullptr;
  Run run = nullptr;
  bool is_open = false;  // answered before authentication
  RatelVerb verb{};
};

/// All of them, most asked for first.
std::span<const RespCommand> resp_commands();
/// In any case of letters; nullptr when there is none.
const RespCommand* find_resp_command(std::string_view name);
bool has_arity(const RespCommand& command, std::size_t arguments);
/// In Redis's words.
std::string unknown_subcommand(std::string_view command, std::string_view subcommand);

// The commands that ask nothing of the store.
void run_auth(RespArguments arguments, RespServices& services, RespConnection& connection, std::string& output);
void run_hello(RespArguments arguments, RespServices& services, RespConnection& connection, std::string& output);
void run_client(RespArguments arguments, RespServices& services, RespConnection& connection, std::string& output);
void run_reset(RespArguments arguments, RespServices& services, RespConnection& connection, std::string& output);
void run_info(RespArguments arguments, RespServices& services, RespConnection& connection, std::string& output);
void run_command(RespArguments arguments, RespServices& services, RespConnection& connection, std::string& output);

}  // namespace ratel
