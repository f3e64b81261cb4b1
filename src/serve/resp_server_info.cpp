// INFO and COMMAND: what tools and clients want to know of the server.

#include <array>

#include "serve/resp_commands.h"

namespace ratel {
namespace {

/// What we speak, for clients that decide by it what they may send.
constexpr std::string_view kRedisVersion = "7.0.0";

std::string section_text(std::string_view section, const RespServices& services) {
  const ServerFacts facts = services.facts();
  if (section == "Server") {
    return "redis_version:" + std::string(kRedisVersion) + "\r\nratel_version:" + services.version +
           "\r\nredis_mode:standalone\r\nuptime_in_seconds:" + std::to_string(facts.uptime_s) + "\r\n";
  }
  if (section == "Clients") return "connected_clients:" + std::to_string(facts.connections) + "\r\n";
  if (section == "Persistence") return "loading:0\r\n";
  if (section == "Replication") return "role:master\r\nconnected_slaves:0\r\n";
  return "cluster_enabled:0\r\n";  // Cluster
}

bool is_asked_for(std::string_view section, RespArguments words) {
  if (words.empty()) return true;
  for (std::string_view word : words) {
    if (same_word(word, section) || same_word(word, "all") || same_word(word, "default") ||
        same_word(word, "everything")) {
      return true;
    }
  }
  return false;
}

bool is_throttle(const RespCommand& command) {
  return command.name == "CL.THROTTLE";
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return lower;
}

/// The ten fields of Redis 7.
void describe(const RespCommand& command, RespWriter& writer) {
  writer.array(10);
  writer.bulk(lower_case(command.name));
  writer.integer(command.arity);
  if (command.read == nullptr) {
    writer.array(1);
    writer.simple("fast");
  } else {
    // The place of RATEL's key depends on RULE, which is how Redis would say so.
    writer.array(is_throttle(command) ? 2 : 3);
    writer.simple(command.verb.verb == Verb::kPeek ? "readonly" : "write");
    writer.simple("fast");
    if (!is_throttle(command)) writer.simple("movablekeys");
  }
  const int key = is_throttle(command) ? 1 : 0;
  for (int field = 0; field < 3; ++field) writer.integer(key);  // the first key, the last, the step
  for (int field = 0; field < 4; ++field) writer.array(0);      // categories, tips, key specifications, subcommands
}

}  // namespace

void run_info(RespArguments arguments, RespServices& services, RespConnection& connection, std::string& output) {
  constexpr std::array<std::string_view, 5> kSections = {"Server", "Clients", "Persistence", "Replication", "Cluster"};
  std::string text;
  for (std::string_view section : kSections) {
    if (!is_asked_for(section, arguments.subspan(1))) continue;
    text += (text.empty() ? "# " : "\r\n# ") + std::string(section) + "\r\n" + section_text(section, services);
  }
  RespWriter(output, connection.version).bulk(text);
}

void run_command(RespArguments arguments, RespServices&, RespConnection& connection, std::string& output) {
  RespWriter writer(output, connection.version);
  const std::span<const RespCommand> commands = resp_commands();
  const bool all = arguments.size() == 1 || (arguments.size() == 2 && same_word(arguments[1], "INFO"));
  if (all) {
    writer.array(commands.size());
    for (const RespCommand& command : commands) describe(command, writer);
  } else if (same_word(arguments[1], "INFO")) {
    writer.array(arguments.size() - 2);
    for (std::string_view name : arguments.subspan(2)) {
      const RespCommand* command = find_resp_command(name);
      command != nullptr ? describe(*command, writer) : writer.null();
    }
  } else if (same_word(arguments[1], "COUNT")) {
    writer.integer(static_cast<std::int64_t>(commands.size()));
  } else if (same_word(arguments[1], "LIST")) {
    writer.array(commands.size());
    for (const RespCommand& command : commands) writer.bulk(lower_case(command.name));
  } else if (same_word(arguments[1], "DOCS")) {
    writer.map(0);
  } else {
    writer.error(unknown_subcommand("COMMAND", arguments[1]));
  }
}

}  // namespace ratel
