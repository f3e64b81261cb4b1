// AUTH, HELLO, CLIENT, RESET: what a connection says of itself. Texts are Redis's, because clients look into them.

#include <algorithm>

#include "base/constant_time.h"
#include "serve/resp_commands.h"

namespace ratel {
namespace {

constexpr std::string_view kOnlyUser = "default";
constexpr std::size_t kClientNameBytesMax = 256;  // held as long as the connection

bool may_log_in(std::string_view user, std::string_view password, const RespServices& services) {
  // Without a password of its own Redis takes any, too.
  return user == kOnlyUser && (services.password.empty() || equal_in_constant_time(services.password, password));
}

void refuse_log_in(RespServices& services, RespWriter& writer) {
  services.metrics.rejected(Rejected::kUnauthorized);
  writer.error("WRONGPASS invalid username-password pair or user is disabled.");
}

/// What may stand in a list of clients, one a line, words between blanks.
bool is_client_word(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '!' && c <= '~'; });
}

/// Empty when it may be one.
std::string_view client_name_problem(std::string_view name) {
  if (!is_client_word(name)) return "ERR Client names cannot contain spaces, newlines or special characters.";
  if (name.size() > kClientNameBytesMax) return "ERR Client names cannot be longer than 256 bytes.";
  return {};
}

void hello_fields(const RespServices& services, const RespConnection& connection, RespWriter& writer) {
  writer.map(7);
  writer.bulk("server");
  writer.bulk("ratel");
  writer.bulk("version");
  writer.bulk(services.version);
  writer.bulk("proto");
  writer.integer(static_cast<int>(connection.version));
  writer.bulk("id");
  writer.integer(static_cast<std::int64_t>(connection.id));
  writer.bulk("mode");
  writer.bulk("standalone");
  writer.bulk("role");
  writer.bulk("master");
  writer.bulk("modules");
  writer.array(0);
}

void client_info(const RespConnection& connection, RespWriter& writer) {
  writer.bulk("id=" + std::to_string(connection.id) + " addr=" + std::string(connection.peer) +
              " name=" + connection.name +
              " db=0 user=default resp=" + std::to_string(static_cast<int>(connection.version)) + "\n");
}

}  // namespace

void run_auth(RespArguments arguments, RespServices& services, RespConnection& connection, std::string& output) {
  RespWriter writer(output, connection.version);
  if (arguments.size() > 3) return writer.error("ERR syntax error");
  if (arguments.size() == 2 && services.password.empty()) {
    return writer.error(
        "ERR AUTH <password> called without any password configured for the default user. Are you sure your "
        "configuration is correct?");
  }
  const std::string_view user = arguments.size() == 3 ? arguments[1] : kOnlyUser;
  if (!may_log_in(user, arguments.back(), services)) return refuse_log_in(services, writer);
  connection.authenticated = true;
  writer.simple("OK");
}

void run_hello(RespArguments arguments, RespServices& services, RespConnection& connection, std::string& output) {
  RespWriter writer(output, connection.version);
  RespVersion version = connection.version;
  if (arguments.size() > 1) {
    std::int64_t number = 0;
    if (!read_integer(arguments[1], number)) {
      return writer.error("ERR Protocol version is not an integer or out of range");
    }
    if (number != 2 && number != 3) return writer.error("NOPROTO unsupported protocol version");
    version = number == 3 ? RespVersion::k3 : RespVersion::k2;
  }
  const std::string_view* name = nullptr;
  bool logs_in = false;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    if (same_word(arguments[i], "AUTH") && i + 2 < arguments.size()) {
      if (!may_log_in(arguments[i + 1], arguments[i + 2], services)) return refuse_log_in(services, writer);
      logs_in = true;
      i += 2;
    } else if (same_word(arguments[i], "SETNAME") && i + 1 < arguments.size()) {
      name = &arguments[++i];
      if (const std::string_view problem = client_name_problem(*name); !problem.empty()) return writer.error(problem);
    } else {
      return writer.error("ERR Syntax error in HELLO option '" + std::string(arguments[i].substr(0, 128)) + "'");
    }
  }
  if (logs_in) connection.authenticated = true;
  if (!connection.authenticated) {
    services.metrics.rejected(Rejected::kUnauthorized);
    return writer.error(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> "
        "<pass> option can be used to authenticate the client and select the RESP protocol version at the same time");
  }
  if (name != nullptr) connection.name = *name;
  connection.version = version;
  RespWriter greeter(output, version);
  hello_fields(services, connection, greeter);
}

void run_client(RespArguments arguments, RespServices&, RespConnection& connection, std::string& output) {
  RespWriter writer(output, connection.version);
  const std::string_view word = arguments[1];
  const auto is = [&](std::string_view subcommand, std::size_t size) {
    return same_word(word, subcommand) && arguments.size() == size;
  };
  if (is("ID", 2)) return writer.integer(static_cast<std::int64_t>(connection.id));
  if (is("INFO", 2)) return client_info(connection, writer);
  if (is("GETNAME", 2)) return connection.name.empty() ? writer.null() : writer.bulk(connection.name);
  if (is("SETNAME", 3)) {
    if (const std::string_view problem = client_name_problem(arguments[2]); !problem.empty()) {
      return writer.error(problem);
    }
    connection.name = arguments[2];
    return writer.simple("OK");
  }
  if (is("SETINFO", 4)) {
    if (!same_word(arguments[2], "lib-name") && !same_word(arguments[2], "lib-ver")) {
      return writer.error("ERR Unrecognized option '" + std::string(arguments[2].substr(0, 128)) + "'");
    }
    if (!is_client_word(arguments[3])) {
      return writer.error("ERR " + std::string(arguments[2]) +
                          " cannot contain spaces, newlines or special characters.");
    }
    return writer.simple("OK");
  }
  if (is("NO-EVICT", 3) || is("NO-TOUCH", 3)) {
    if (!same_word(arguments[2], "on") && !same_word(arguments[2], "off")) return writer.error("ERR syntax error");
    return writer.simple("OK");
  }
  for (std::string_view known : {"ID", "INFO", "GETNAME", "SETNAME", "SETINFO", "NO-EVICT", "NO-TOUCH"}) {
    if (same_word(word, known)) return writer.error("ERR " + wrong_arity("client|" + std::string(known)));
  }
  writer.error(unknown_subcommand("CLIENT", word));
}

void run_reset(RespArguments, RespServices& services, RespConnection& connection, std::string& output) {
  connection.version = RespVersion::k2;
  connection.name.clear();
  connection.authenticated = services.password.empty();
  RespWriter(output, connection.version).simple("RESET");
}

}  // namespace ratel
