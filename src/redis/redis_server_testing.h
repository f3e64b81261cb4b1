#pragma once
// A real Redis or Valkey for tests, and a client that waits for each reply. A server that cannot be had fails the test.

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace ratel {

/// One reply of RESP2. Nothing but tests would want it so loose.
struct TestReply {
  char kind = 0;  // + - : $ *, and 0 for what is absent
  std::string text;
  std::int64_t integer = 0;
  std::vector<TestReply> items;

  std::vector<std::int64_t> integers() const {
    std::vector<std::int64_t> values;
    for (const TestReply& item : items) values.push_back(item.integer);
    return values;
  }
};

/// The root of the work tree; made by cmake.
extern const char* const kSourceDir;

/// A server to test with, and its name in the names of tests.
struct ServerKind {
  std::string name;
  std::string binary;
};

/// Debian's Redis, and the Valkey that tools/fetch-valkey puts there.
inline std::vector<ServerKind> server_kinds() {
  return {{"redis", "redis-server"}, {"valkey", std::string(kSourceDir) + "/build/valkey/valkey-server"}};
}

/// Listens on a Unix socket in a folder of its own, which goes with it.
class RedisServer {
 public:
  explicit RedisServer(const std::string& binary, std::vector<std::string> more = {}) {
    std::string pattern = (std::filesystem::temp_directory_path() / "ratel-redis-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) give_up("no folder for it");
    folder_ = pattern;
    std::vector<std::string> arguments{binary, "--port", "0", "--unixsocket", socket(), "--save", "", "--dir", folder_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    int output[2];
    if (::pipe(output) != 0) give_up("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(output[1], 1);
      ::close(output[0]);
      ::execvp(argv[0], argv.data());
      std::perror(argv[0]);
      ::_exit(127);
    }
    ::close(output[1]);
    std::string said;
    char buffer[4096];
    while (said.find("eady to accept connections") == std::string::npos) {
      const ssize_t size = ::read(output[0], buffer, sizeof buffer);
      if (size <= 0) give_up(said);
      said.append(buffer, static_cast<std::size_t>(size));
    }
    output_ = output[0];
  }
  ~RedisServer() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    if (output_ >= 0) ::close(output_);
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  std::string socket() const { return folder_ + "/socket"; }
  std::string folder() const { return folder_; }
  pid_t pid() const { return pid_; }

 private:
  [[noreturn]] void give_up(const std::string& said) {
    ADD_FAILURE()
        << "this test needs the server, and it did not start; tools/install-deps or tools/fetch-valkey gets it. "
        << said;
    std::exit(1);
  }

  std::string folder_;
  pid_t pid_ = -1;
  int output_ = -1;
};

class RedisClient {
 public:
  explicit RedisClient(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ADD_FAILURE() << "cannot connect to " << path;
      std::exit(1);
    }
  }
  ~RedisClient() { ::close(socket_); }
  RedisClient(const RedisClient&) = delete;
  RedisClient& operator=(const RedisClient&) = delete;

  TestReply run(std::initializer_list<std::string_view> words) { return run(std::vector<std::string_view>(words)); }
  TestReply run(const std::vector<std::string_view>& words) {
    std::string command = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string_view word : words) {
      command.append("$" + std::to_string(word.size()) + "\r\n").append(word).append("\r\n");
    }
    return send(command);
  }

  /// As many commands as `count` says; the reply to the last.
  TestReply send(std::string_view command, int count = 1) {
    while (!command.empty()) {
      const ssize_t size = ::write(socket_, command.data(), command.size());
      if (size <= 0) lost();
      command.remove_prefix(static_cast<std::size_t>(size));
    }
    while (--count > 0) read();
    return read();
  }

 private:
  [[noreturn]] void lost() {
    ADD_FAILURE() << "the server went away";
    std::exit(1);
  }

  TestReply read() {
    const std::string line = read_line();
    TestReply reply{.kind = line[0], .text = line.substr(1)};
    if (reply.kind == '+' || reply.kind == '-') return reply;
    reply.integer = std::strtoll(line.c_str() + 1, nullptr, 10);
    if (reply.kind == ':') return reply;
    reply.text.clear();
    if (reply.integer < 0) return {};
    if (reply.kind == '$') {
      while (input_.size() < static_cast<std::size_t>(reply.integer) + 2) fill();
      reply.text = input_.substr(0, static_cast<std::size_t>(reply.integer));
      input_.erase(0, static_cast<std::size_t>(reply.integer) + 2);
    } else {
      for (std::int64_t i = 0; i < reply.integer; ++i) reply.items.push_back(read());
    }
    return reply;
  }

  std::string read_line() {
    std::size_t end;
    while ((end = input_.find("\r\n")) == std::string::npos) fill();
    std::string line = input_.substr(0, end);
    input_.erase(0, end + 2);
    return line;
  }

  void fill() {
    char buffer[16384];
    const ssize_t size = ::read(socket_, buffer, sizeof buffer);
    if (size <= 0) {
      lost();
      return;
    }
    input_.append(buffer, static_cast<std::size_t>(size));
  }

  int socket_;
  std::string input_;
};

}  // namespace ratel
