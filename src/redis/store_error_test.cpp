#include "redis/store_error.h"

#include <gtest/gtest.h>

namespace ratel {
namespace {

using Kind = StoreError::Kind;
using Action = StoreError::Action;
constexpr auto kNo = StoreError::Executed::kNo;
constexpr auto kPerhaps = StoreError::Executed::kPerhaps;

TEST(StoreError, EveryErrorHasItsMeaningAndItsAction) {
  struct Case {
    std::string_view text;
    Kind kind;
    StoreError::Executed executed;
    Action action;
  };
  const Case cases[] = {
      {"NOSCRIPT No matching script. Please use EVAL.", Kind::kNoScript, kNo, Action::kLoadScripts},
      {"MOVED 3999 127.0.0.1:6381", Kind::kMoved, kNo, Action::kFollow},
      {"ASK 3999 127.0.0.1:6381", Kind::kAsk, kNo, Action::kFollowOnce},
      {"TRYAGAIN Multiple keys request during rehashing of slot", Kind::kTryAgain, kNo, Action::kSendLater},
      {"CROSSSLOT Keys in request don't hash to the same slot", Kind::kCrossSlot, kNo, Action::kFail},
      {"CLUSTERDOWN The cluster is down", Kind::kClusterDown, kNo, Action::kRefresh},
      {"CLUSTERDOWN Hash slot not served", Kind::kClusterDown, kNo, Action::kRefresh},
      {"READONLY You can't write against a read only replica. script: 7f0, on @user_script:1.", Kind::kReadOnly, kNo,
       Action::kRediscover},
      {"REDIRECT 10.0.0.2:6379", Kind::kRedirect, kNo, Action::kRediscover},
      {"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", Kind::kMasterDown, kNo,
       Action::kRediscover},
      {"LOADING Redis is loading the dataset in memory", Kind::kLoading, kNo, Action::kFail},
      {"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", Kind::kBusy, kNo,
       Action::kFail},
      {"OOM command not allowed when used memory > 'maxmemory'.", Kind::kOutOfMemory, kNo, Action::kFail},
      {"MISCONF Redis is configured to save RDB snapshots, but", Kind::kCannotPersist, kNo, Action::kFail},
      {"NOREPLICAS Not enough good replicas to write.", Kind::kNoReplicas, kNo, Action::kDistrust},
      {"NOAUTH Authentication required.", Kind::kNotAuthenticated, kNo, Action::kReconnect},
      {"WRONGPASS invalid username-password pair or user is disabled.", Kind::kWrongPassword, kNo, Action::kReconnect},
      {"ERR invalid password", Kind::kWrongPassword, kNo, Action::kReconnect},
      {"NOPERM this user has no permissions to run the 'evalsha' command", Kind::kNoPermission, kNo,
       Action::kReconnect},
      {"WRONGTYPE Operation against a key holding the wrong kind of value", Kind::kWrongType, kNo, Action::kFail},
      {"ERR max number of clients reached", Kind::kTooManyClients, kNo, Action::kReconnect},
      {"ERR max number of clients + cluster connections reached", Kind::kTooManyClients, kNo, Action::kReconnect},
      {"ERR Script attempted to access a non local key in a cluster node script: 7f0, on @user_script:1.",
       Kind::kUndeclaredKey, kPerhaps, Action::kFail},
      {"ERR unknown command 'HELLO', with args beginning with: '3' ", Kind::kUnknownCommand, kNo, Action::kFail},
      {"ERR Unknown subcommand or wrong number of arguments for 'SETINFO'", Kind::kUnknownCommand, kNo, Action::kFail},
      {"ERR unknown subcommand 'CAPA'. Try CLIENT HELP.", Kind::kUnknownCommand, kNo, Action::kFail},
      {"NOPROTO unsupported protocol version", Kind::kUnknownCommand, kNo, Action::kFail},
      {"UNBLOCKED force unblock from blocking operation", Kind::kUnexpected, kPerhaps, Action::kClose},
      {"EXECABORT Transaction discarded because of previous errors.", Kind::kUnexpected, kPerhaps, Action::kClose},
      {"NOTBUSY No scripts in execution right now.", Kind::kUnexpected, kPerhaps, Action::kClose},
      // a script may have written before it failed
      {"ERR user_script:7: attempt to index a nil value script: 7f0, on @user_script:7.", Kind::kOther, kPerhaps,
       Action::kFail},
      {"SOMETHING nobody knows", Kind::kOther, kPerhaps, Action::kFail},
      {"", Kind::kOther, kPerhaps, Action::kFail},
      // as servers before 7 wrap them
      {"ERR Error running script (call to f_7f0): @user_script:5: @user_script: 5: -READONLY You can't write against a "
       "read only replica.",
       Kind::kReadOnly, kNo, Action::kRediscover},
      {"ERR Error running script (call to f_7f0): @user_script:5: @user_script: 5: -OOM command not allowed when",
       Kind::kOutOfMemory, kNo, Action::kFail},
      {"ERR Error running script (call to f_7f0): @user_script:5: WRONGTYPE Operation against a key", Kind::kWrongType,
       kNo, Action::kFail},
      {"ERR Error running script (call to f_7f0): @user_script:5: user_script:5: attempt to", Kind::kOther, kPerhaps,
       Action::kFail},
      {"ERR Error running script", Kind::kOther, kPerhaps, Action::kFail},
      {"ERR Error running script @user_script:12", Kind::kOther, kPerhaps, Action::kFail},
  };
  for (const Case& c : cases) {
    const StoreError error = read_store_error(c.text);
    EXPECT_EQ(error.kind, c.kind) << c.text;
    EXPECT_EQ(error.executed, c.executed) << c.text;
    EXPECT_EQ(error.action, c.action) << c.text;
  }
}

TEST(StoreError, ReadsWhereToGo) {
  struct Case {
    std::string_view text;
    std::uint16_t slot;
    std::string_view host;
    std::uint16_t port;  // 0: not to be trusted
  };
  const Case cases[] = {
      {"MOVED 3999 127.0.0.1:6381", 3999, "127.0.0.1", 6381},
      {"MOVED 0 ::1:6381", 0, "::1", 6381},
      {"MOVED 16383 node.example:1", 16383, "node.example", 1},
      {"ASK 7 :6381", 7, "", 6381},
      {"ASK 7 ?:6381", 7, "", 6381},
      {"REDIRECT 10.0.0.2:6379", 0, "10.0.0.2", 6379},
      {"REDIRECT 2001:db8::1:6379", 0, "2001:db8::1", 6379},
      {"MOVED 16384 h:1", 0, "", 0},
      {"MOVED -1 h:1", 0, "", 0},
      {"MOVED 3999", 0, "", 0},
      {"MOVED x h:1", 0, "", 0},
      {"MOVED 1 h", 0, "", 0},
      {"MOVED 1 h:0", 0, "", 0},
      {"MOVED 1 h:65536", 0, "", 0},
      {"REDIRECT ", 0, "", 0},
  };
  for (const Case& c : cases) {
    const StoreError error = read_store_error(c.text);
    EXPECT_EQ(error.action == Action::kClose, c.port == 0) << c.text;
    EXPECT_EQ(error.slot, c.slot) << c.text;
    EXPECT_EQ(error.host, c.host) << c.text;
    EXPECT_EQ(error.port, c.port) << c.text;
  }
}

}  // namespace
}  // namespace ratel
