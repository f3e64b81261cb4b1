// Tested by tests/test_cli.py

#include <iostream>
#include <memory>

#include "app/commands.h"
#include "app/files.h"
#include "app/question_text.h"
#include "app/settings.h"
#include "base/address.h"
#include "base/duration.h"
#include "net/blocking_client.h"
#include "rules/yaml.h"
#include "wire/resp_command.h"

namespace ratel {
namespace {

constexpr const char* kFooter = R"(
Asks a running server, over RESP, whether a key may spend, and spends it. Prints one line. Exit code
0: allowed, 1: denied, 2: no answer.

Examples:
  ratel ask login user:42
  ratel ask login,api user:42 --cost 3
  ratel ask --limit "5/min burst 10" user:42
  ratel ask --peek login user:42              looks and spends nothing
  if ratel ask backups "$HOSTNAME"; then ./backup; fi
)";

struct Asked {
  AskedQuestion question;
  std::vector<std::string> words;  // [RULE] KEY
  std::string server = "127.0.0.1:6390";
  std::string password_file;
  std::string timeout = "2s";
};

/// A loan until the next. Servers send nothing but what was asked for, so nothing follows a reply.
Result<RespReply> receive_reply(BlockingClient& client, RespReplyReader& reader) {
  std::string input;
  while (true) {
    std::string_view rest = input;
    const RespReplyReader::Outcome outcome = reader.read(rest);
    if (outcome == RespReplyReader::Outcome::kReply) return reader.reply();
    if (outcome == RespReplyReader::Outcome::kMalformed)
      return Error{ErrorCode::kUnavailable, "what answers there speaks no RESP"};
    input.clear();
    if (const Status status = client.receive(input); !status.ok()) return status.error();
  }
}

Result<RespReply> exchange(const Asked& asked, const Address& server, Micros timeout_us, const std::string& password,
                           RespReplyReader& reader) {
  Result<BlockingClient> client = BlockingClient::connect(server, timeout_us);
  if (!client.ok()) return client.error();
  if (!password.empty()) {
    std::string command;
    append_command({"AUTH", password}, command);
    if (const Status sent = client->send(command); !sent.ok()) return sent.error();
    Result<RespReply> reply = receive_reply(*client, reader);
    if (!reply.ok() || reply->kind() == RespReply::Kind::kError) return reply;
  }
  if (const Status sent = client->send(format_question(asked.question)); !sent.ok()) return sent.error();
  return receive_reply(*client, reader);
}

int ask(Asked asked) {
  const bool by_rule = asked.question.limit.empty();
  if (asked.words.size() != (by_rule ? 2U : 1U)) {
    return fail(by_rule ? "a rule and a key were expected, as in `ratel ask login user:42`"
                        : "with --limit one key was expected, as in `ratel ask --limit 5/min user:42`",
                kExitUsage);
  }
  asked.question.key = asked.words.back();
  if (by_rule) asked.question.rule = asked.words.front();
  const Result<Address> server = parse_address(asked.server);
  if (!server.ok()) return fail("--server: value `" + asked.server + "`: " + server.error().message, kExitUsage);
  const Result<Micros> timeout_us = parse_duration(asked.timeout);
  if (!timeout_us.ok())
    return fail("--timeout: value `" + asked.timeout + "`: " + timeout_us.error().message, kExitUsage);
  std::string password;
  if (!asked.password_file.empty()) {
    const Result<std::string> text = read_text_file(asked.password_file, kYamlBytesMax);
    if (!text.ok()) return fail("--password-file: " + text.error().message, kExitUsage);
    const Result<std::string> secret = secret_in(*text);
    if (!secret.ok())
      return fail("--password-file: " + asked.password_file + ": " + secret.error().message, kExitUsage);
    password = *secret;
  }

  RespReplyReader reader;
  const Result<RespReply> reply = exchange(asked, *server, *timeout_us, password, reader);
  if (!reply.ok()) return fail(reply.error().message, kExitUsage);
  const AskedAnswer answer = describe_answer(*reply);
  if (answer.verdict == AskedAnswer::Verdict::kNone) return fail(asked.server + ": " + answer.line, kExitUsage);
  std::cout << answer.line << '\n';
  return answer.verdict == AskedAnswer::Verdict::kAllowed ? kExitGood : kExitFailed;
}

}  // namespace

void add_ask_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("ask", "Put one question to a running server");
  command->footer(kFooter);
  const auto asked = std::make_shared<Asked>();
  command->add_option("question", asked->words, "a rule and a key; with --limit the key alone")->type_name("RULE KEY");
  command->add_option("--limit", asked->question.limit, "a limit instead of a rule, as in \"5/min burst 10\"");
  command->add_option("--cost", asked->question.cost, "how much to spend [1]")->type_name("N");
  command->add_flag("--peek", asked->question.peek, "what would be answered, without spending");
  command->add_option("--server", asked->server, "where it listens for RESP [127.0.0.1:6390]")->type_name("ADDR");
  command->add_option("--password-file", asked->password_file, "holds the server's password")->type_name("FILE");
  command->add_option("--timeout", asked->timeout, "how long to wait for the answer, once --server is resolved [2s]")
      ->type_name("TIME");
  command->callback([asked, &run] { run = [asked] { return ask(*asked); }; });
}

}  // namespace ratel
