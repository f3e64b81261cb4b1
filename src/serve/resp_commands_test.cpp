// What stock clients send when they connect, and every error. Tests resp_connection.cpp and resp_server_info.cpp.

#include "serve/resp_commands.h"

#include <gtest/gtest.h>

#include "serve/resp_testing.h"

namespace ratel {
namespace {

struct Case {
  std::string words, reply;
};

TEST(RespCommands, Answer) {
  const std::string hello2 =
      "[\"server\" \"ratel\" \"version\" \"1.2.3\" \"proto\" 2 \"id\" ID \"mode\" \"standalone\" \"role\" \"master\" "
      "\"modules\" []]";
  const std::string hello3 =
      "{server: \"ratel\", version: \"1.2.3\", proto: 3, id: ID, mode: \"standalone\", role: \"master\", modules: []}";
  const Case cases[] = {
      {"PING", "PONG"},
      {"ping hi", "\"hi\""},
      {"PING a b", "(ERR wrong number of arguments for 'ping' command)"},
      {"ECHO hi", "\"hi\""},
      {"ECHO", "(ERR wrong number of arguments for 'echo' command)"},
      {"SELECT 0", "OK"},
      {"SELECT 1", "(ERR DB index is out of range)"},
      {"SELECT x", "(ERR value is not an integer or out of range)"},
      {"AUTH secret",
       "(ERR AUTH <password> called without any password configured for the default user. Are you sure your "
       "configuration is correct?)"},
      {"AUTH default any", "OK"},
      {"AUTH someone any", "(WRONGPASS invalid username-password pair or user is disabled.)"},
      {"AUTH a b c", "(ERR syntax error)"},
      {"AUTH", "(ERR wrong number of arguments for 'auth' command)"},
      {"CLIENT SETNAME worker-1", "OK"},
      {"client getname", "\"worker-1\""},
      {"CLIENT SETNAME ''", "OK"},
      {"CLIENT GETNAME", "nil"},
      {"CLIENT SETNAME 'a b'", "(ERR Client names cannot contain spaces, newlines or special characters.)"},
      {"CLIENT SETNAME " + std::string(256, 'n'), "OK"},
      {"CLIENT SETNAME " + std::string(257, 'n'), "(ERR Client names cannot be longer than 256 bytes.)"},
      {"CLIENT SETNAME", "(ERR wrong number of arguments for 'client|setname' command)"},
      {"CLIENT SETNAME w", "OK"},
      {"CLIENT ID", "ID"},
      {"CLIENT INFO", "\"id=ID addr=127.0.0.1:5000 name=w db=0 user=default resp=2\n\""},
      {"CLIENT SETINFO LIB-NAME redis-py", "OK"},
      {"CLIENT SETINFO lib-ver 5.0", "OK"},
      {"CLIENT SETINFO lib-ver '5 0'", "(ERR lib-ver cannot contain spaces, newlines or special characters.)"},
      {"CLIENT SETINFO lib-age 5", "(ERR Unrecognized option 'lib-age')"},
      {"CLIENT SETINFO lib-ver", "(ERR wrong number of arguments for 'client|setinfo' command)"},
      {"CLIENT NO-EVICT on", "OK"},
      {"CLIENT NO-TOUCH OFF", "OK"},
      {"CLIENT NO-EVICT maybe", "(ERR syntax error)"},
      {"CLIENT MAINT_NOTIFICATIONS ON", "(ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP.)"},
      {"CLIENT", "(ERR wrong number of arguments for 'client' command)"},
      {"CONFIG GET save", "[]"},
      {"CONFIG GET", "(ERR wrong number of arguments for 'config|get' command)"},
      {"CONFIG SET a b", "(ERR unknown subcommand 'SET'. Try CONFIG HELP.)"},
      {"COMMAND COUNT", "20"},
      {"COMMAND DOCS", "[]"},
      {"COMMAND INFO cl.throttle nonsense", "[[\"cl.throttle\" -5 [write fast] 1 1 1 [] [] [] []] nil]"},
      {"COMMAND INFO RATEL.PEEK ping",
       "[[\"ratel.peek\" -3 [readonly fast movablekeys] 0 0 0 [] [] [] []] [\"ping\" -1 [fast] 0 0 0 [] [] [] []]]"},
      {"COMMAND GETKEYS a", "(ERR unknown subcommand 'GETKEYS'. Try COMMAND HELP.)"},
      {"INFO replication", "\"# Replication\r\nrole:master\r\nconnected_slaves:0\r\n\""},
      {"INFO server cluster",
       "\"# Server\r\nredis_version:7.0.0\r\nratel_version:1.2.3\r\nredis_mode:standalone\r\nuptime_in_seconds:60\r\n"
       "\r\n# Cluster\r\ncluster_enabled:0\r\n\""},
      {"INFO nonsense", "\"\""},
      {"HELLO", hello2},
      {"HELLO 3", hello3},
      {"HELLO", hello3},
      {"CONFIG GET save", "{}"},
      {"COMMAND DOCS", "{}"},
      {"CLIENT SETNAME ''", "OK"},
      {"CLIENT GETNAME", "nil"},
      {"HELLO 2 AUTH default x SETNAME y", hello2},
      {"CLIENT GETNAME", "\"y\""},
      {"HELLO 4", "(NOPROTO unsupported protocol version)"},
      {"HELLO 1", "(NOPROTO unsupported protocol version)"},
      {"HELLO two", "(ERR Protocol version is not an integer or out of range)"},
      {"HELLO 3 FOO", "(ERR Syntax error in HELLO option 'FOO')"},
      {"HELLO 3 AUTH default", "(ERR Syntax error in HELLO option 'AUTH')"},
      {"HELLO 3 SETNAME", "(ERR Syntax error in HELLO option 'SETNAME')"},
      {"HELLO 3 SETNAME 'a b'", "(ERR Client names cannot contain spaces, newlines or special characters.)"},
      {"HELLO 3 AUTH other x", "(WRONGPASS invalid username-password pair or user is disabled.)"},
      {"CLIENT INFO",
       "\"id=ID addr=127.0.0.1:5000 name=y db=0 user=default resp=2\n\""},  // a bad HELLO changes nothing
      {"RESET", "RESET"},
      {"CLIENT GETNAME", "nil"},
      {"RESET now", "(ERR wrong number of arguments for 'reset' command)"},
      {"foo", "(ERR unknown command 'foo', with args beginning with: )"},
      {"GET a 'b c'", "(ERR unknown command 'GET', with args beginning with: 'a' 'b c' )"},
      {"GET \"a\\r\\nb\"", "(ERR unknown command 'GET', with args beginning with: 'a  b' )"},
      {"CL.THROTTLEX", "(ERR unknown command 'CL.THROTTLEX', with args beginning with: )"},
      {std::string(200, 'x') + " " + std::string(100, 'y') + " " + std::string(100, 'z') + " w",
       "(ERR unknown command '" + std::string(128, 'x') + "', with args beginning with: '" + std::string(100, 'y') +
           "' '" + std::string(25, 'z') + "' )"},
  };
  RespBench bench;
  const std::string id = bench.run("CLIENT ID");
  for (const Case& c : cases) {
    std::string expected = c.reply;
    if (const std::size_t at = expected.find("ID"); at != std::string::npos && expected[at - 1] != 'M') {
      if (at == 0 || expected[at - 1] == ' ' || expected[at - 1] == '=') expected.replace(at, 2, id);
    }
    EXPECT_EQ(bench.run(c.words), expected) << c.words;
    EXPECT_FALSE(bench.session->finished()) << c.words;
  }
}

TEST(RespCommands, InfoSaysWhatClientsWaitFor) {
  RespBench bench;
  const std::string all = bench.run("INFO");
  for (const char* line : {"redis_version:7.0.0\r\n", "loading:0\r\n", "role:master\r\n", "cluster_enabled:0\r\n",
                           "connected_clients:2\r\n"}) {
    EXPECT_NE(all.find(line), std::string::npos) << line;
  }
  for (const char* words : {"INFO all", "info Everything", "INFO default"}) EXPECT_EQ(bench.run(words), all) << words;
}

TEST(RespCommands, TheListIsComplete) {
  RespBench bench;
  const std::string infos = bench.run("COMMAND");
  EXPECT_EQ(bench.run("COMMAND INFO"), infos);
  const std::string names = bench.run("COMMAND LIST");
  for (const RespCommand& command : resp_commands()) {
    EXPECT_EQ(find_resp_command(command.name), &command);
    EXPECT_NE(command.read == nullptr, command.run == nullptr) << command.name;
    std::string name = "\"" + std::string(command.name) + "\"";
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    EXPECT_NE(names.find(name), std::string::npos) << name;
    EXPECT_NE(infos.find("[" + name), std::string::npos) << name;
  }
}

TEST(RespCommands, NothingIsAnsweredBeforeThePassword) {
  RespBench bench("", "hunter2");
  const std::string no_auth = "(NOAUTH Authentication required.)";
  const std::string wrong = "(WRONGPASS invalid username-password pair or user is disabled.)";
  for (const RespCommand& command : resp_commands()) {
    if (command.is_open) continue;
    std::string words(command.name);
    for (int i = 1; i < std::abs(command.arity); ++i) words += " 1";
    EXPECT_EQ(bench.run(words), no_auth) << words;
  }
  EXPECT_EQ(bench.store.prepared, 0U);
  EXPECT_EQ(bench.run("HELLO 3").substr(0, 64), "(NOAUTH HELLO must be called with the client already authenticat");
  const Case cases[] = {
      {"AUTH hunter3", wrong},
      {"AUTH ''", wrong},
      {"AUTH hunter", wrong},
      {"AUTH default hunter22", wrong},
      {"AUTH someone hunter2", wrong},
      {"HELLO 3 AUTH default hunter3", wrong},
      {"HELLO 3 AUTH default hunter2 SETNAME 'a b'",
       "(ERR Client names cannot contain spaces, newlines or special characters.)"},
      {"PING", no_auth},
      {"AUTH hunter2", "OK"},
      {"PING", "PONG"},
      {"CL.THROTTLE k 15 30 60", "[0 16 15 -1 2]"},
      {"AUTH hunter3", wrong},
      {"PING", "PONG"},  // a failed attempt takes nothing away
      {"RESET", "RESET"},
      {"PING", no_auth},
      {"AUTH default hunter2", "OK"},
      {"PING", "PONG"},
  };
  for (const Case& c : cases) EXPECT_EQ(bench.run(c.words), c.reply) << c.words;
  bench.connect();
  EXPECT_EQ(bench.run("HELLO 3 AUTH default hunter2").substr(0, 16), "{server: \"ratel\"");
  EXPECT_EQ(bench.run("PING"), "PONG");
  EXPECT_GT(bench.metrics.rejections(Rejected::kUnauthorized), 10U);
}

}  // namespace
}  // namespace ratel
