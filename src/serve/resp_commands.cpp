#include "serve/resp_commands.h"

#include <array>

namespace ratel {
namespace {

Status read_throttle_command(const RespCommand&, RespArguments arguments, RespServices& services, RespQuestion& asked) {
  if (arguments.size() > 6) return Error{ErrorCode::kBadArgument, wrong_arity(arguments[0])};
  asked.throttle_charge.on_failure = services.resolver.failure_mode_without_rule();
  return read_throttle(arguments, asked);
}

Status read_ratel_command(const RespCommand& command, RespArguments arguments, RespServices& services,
                          RespQuestion& asked) {
  return read_ratel(command.verb, arguments, services.resolver, services.randomness, asked);
}

void run_ping(RespArguments arguments, RespServices&, RespConnection& connection, std::string& output) {
  RespWriter writer(output, connection.version);
  if (arguments.size() > 2) return writer.error("ERR " + wrong_arity(arguments[0]));
  arguments.size() == 2 ? writer.bulk(arguments[1]) : writer.simple("PONG");
}

void run_echo(RespArguments arguments, RespServices&, RespConnection& connection, std::string& output) {
  RespWriter(output, connection.version).bulk(arguments[1]);
}

void run_select(RespArguments arguments, RespServices&, RespConnection& connection, std::string& output) {
  RespWriter writer(output, connection.version);
  std::int64_t index = 0;
  if (!read_integer(arguments[1], index)) return writer.error("ERR value is not an integer or out of range");
  index == 0 ? writer.simple("OK") : writer.error("ERR DB index is out of range");
}

void run_config(RespArguments arguments, RespServices&, RespConnection& connection, std::string& output) {
  RespWriter writer(output, connection.version);
  if (!same_word(arguments[1], "GET")) return writer.error(unknown_subcommand("CONFIG", arguments[1]));
  if (arguments.size() < 3) return writer.error("ERR " + wrong_arity("config|get"));
  writer.map(0);
}

void run_quit(RespArguments, RespServices&, RespConnection& connection, std::string& output) {
  RespWriter(output, connection.version).simple("OK");
  connection.closing = true;
}

constexpr std::array kCommands = {
    RespCommand{.name = "CL.THROTTLE", .arity = -5, .read = read_throttle_command},
    RespCommand{
        .name = "RATEL.ALLOW",
        .arity = -3,
        .read = read_ratel_command,
        .verb =
            {.name = "ALLOW", .verb = Verb::kAllow, .takes_cost = true, .takes_at_most = true, .takes_violated = true}},
    RespCommand{.name = "RATEL.PEEK",
                .arity = -3,
                .read = read_ratel_command,
                .verb = {.name = "PEEK", .verb = Verb::kPeek, .takes_cost = true}},
    RespCommand{.name = "RATEL.REFUND",
                .arity = -3,
                .read = read_ratel_command,
                .verb = {.name = "REFUND", .verb = Verb::kRefund, .takes_cost = true}},
    RespCommand{.name = "RATEL.RESET",
                .arity = -3,
                .read = read_ratel_command,
                .verb = {.name = "RESET", .verb = Verb::kReset}},
    RespCommand{.name = "RATEL.RESERVE",
                .arity = -3,
                .read = read_ratel_command,
                .verb = {.name = "RESERVE", .verb = Verb::kReserve, .takes_cost = true, .takes_max_wait = true}},
    RespCommand{
        .name = "RATEL.ACQUIRE",
        .arity = -3,
        .read = read_ratel_command,
        .verb = {.name = "ACQUIRE", .verb = Verb::kAcquire, .takes_cost = true, .takes_id = true, .takes_ttl = true}},
    RespCommand{.name = "RATEL.RENEW",
                .arity = -4,
                .read = read_ratel_command,
                .verb = {.name = "RENEW", .verb = Verb::kRenew, .takes_ttl = true}},
    RespCommand{.name = "RATEL.RELEASE",
                .arity = -4,
                .read = read_ratel_command,
                .verb = {.name = "RELEASE", .verb = Verb::kRelease}},
    RespCommand{.name = "PING", .arity = -1, .run = run_ping},
    RespCommand{.name = "ECHO", .arity = 2, .run = run_echo},
    RespCommand{.name = "SELECT", .arity = 2, .run = run_select},
    RespCommand{.name = "AUTH", .arity = -2, .run = run_auth, .is_open = true},
    RespCommand{.name = "HELLO", .arity = -1, .run = run_hello, .is_open = true},
    RespCommand{.name = "CLIENT", .arity = -2, .run = run_client},
    RespCommand{.name = "COMMAND", .arity = -1, .run = run_command},
    RespCommand{.name = "INFO", .arity = -1, .run = run_info},
    RespCommand{.name = "CONFIG", .arity = -2, .run = run_config},
    RespCommand{.name = "RESET", .arity = 1, .run = run_reset, .is_open = true},
    RespCommand{.name = "QUIT", .arity = -1, .run = run_quit, .is_open = true},
};

}  // namespace

std::span<const RespCommand> resp_commands() {
  return kCommands;
}

const RespCommand* find_resp_command(std::string_view name) {
  for (const RespCommand& command : kCommands) {
    if (same_word(name, command.name)) return &command;
  }
  return nullptr;
}

bool has_arity(const RespCommand& command, std::size_t arguments) {
  return command.arity < 0 ? arguments >= static_cast<std::size_t>(-command.arity)
                           : arguments == static_cast<std::size_t>(command.arity);
}

std::string unknown_subcommand(std::string_view command, std::string_view subcommand) {
  return "ERR unknown subcommand '" + std::string(subcommand.substr(0, 128)) + "'. Try " + std::string(command) +
         " HELP.";
}

}  // namespace ratel
