// Order, bounds, splits, late answers and the ends of a connection.

#include "serve/resp_session.h"

#include <gtest/gtest.h>

#include "base/allocations_testing.h"
#include "serve/resp_testing.h"
#include "wire/buffer.h"
#include "store/memory_store.h"

namespace ratel {
namespace {

std::string throttle(const std::string& key) {
  return encode({"CL.THROTTLE", key, "9", "10", "10"});
}

std::string repeat(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(RespSession, APipelineIsAnsweredInOneGoAndInOrder) {
  RespBench bench;
  const std::string pipeline = throttle("a") + throttle("a") + "PING\r\n" + throttle("b") + "nonsense\r\n" +
                               encode({"CL.THROTTLE", "a", "x", "1", "1"}) + throttle("a") + encode({"ECHO", "end"});
  EXPECT_EQ(readable(bench.send(pipeline)),
            "[0 10 9 -1 1] [0 10 8 -1 2] PONG [0 10 9 -1 1] (ERR unknown command 'nonsense', with args beginning with: "
            ") (ERR invalid max_burst `x`: must be a whole number from 0 to 4294967294) [0 10 7 -1 3] \"end\"");
  EXPECT_EQ(bench.wakes, 0);
}

TEST(RespSession, EverySplitIsAnsweredTheSame) {
  const std::string stream = encode({"HELLO", "3"}) + throttle("a") + "PING\r\n" + throttle("a") +
                             "RATEL.ALLOW LIMIT \"5/min\" u\r\n" + encode({"QUIT"}) + "PING\r\n";
  std::string expected;
  for (std::size_t i = 0; i <= stream.size(); ++i) {
    RespBench bench;
    std::string output = bench.send(stream.substr(0, i));
    output += bench.send(stream.substr(i));
    EXPECT_TRUE(bench.session->finished());
    if (i == 0) {
      expected = output;
      EXPECT_NE(output.find("allowed"), std::string::npos);
    }
    EXPECT_EQ(output, expected) << "split at " << i;
  }
  RespBench bench;
  std::string output;
  for (char byte : stream) output += bench.send({&byte, 1});
  EXPECT_EQ(output, expected);
}

TEST(RespSession, ABatchIsPreparedBeforeItIsAskedAndIsBounded) {
  RespBench bench;
  bench.store.is_late = true;
  bench.send(repeat(throttle("a"), kRespBatchMax - 1) + throttle("b").substr(0, 10));
  EXPECT_EQ(bench.store.held.size(), kRespBatchMax - 1);
  std::size_t at_first_ask = 0;
  class Watching final : public Store {
   public:
    explicit Watching(std::size_t& prepared_at_first_ask) : prepared_at_first_ask_(prepared_at_first_ask) {}
    void prepare(Question&) override { ++prepared_; }
    void ask(const Question&, Instant, Completion done) override {
      if (asked_++ == 0) prepared_at_first_ask_ = prepared_;
      done(Answer{});
    }

   private:
    std::size_t prepared_ = 0;
    std::size_t asked_ = 0;
    std::size_t& prepared_at_first_ask_;
  };
  Watching store(at_first_ask);
  Gate gate(store);
  RespSessionFactory factory({.gate = gate,
                              .resolver = bench.resolver,
                              .metrics = bench.metrics,
                              .randomness = bench.prng,
                              .password = "",
                              .version = "",
                              .facts = [] { return ServerFacts{}; }});
  const std::unique_ptr<Session> session = factory.make("", bench);
  session->receive(repeat(throttle("a"), 3 * kRespBatchMax), bench.clock.now());
  EXPECT_EQ(at_first_ask, kRespBatchMax);
  EXPECT_EQ(session->output(), repeat("*5\r\n:1\r\n:0\r\n:0\r\n:0\r\n:0\r\n", 3 * kRespBatchMax));
}

TEST(RespSession, LateAnswersKeepTheirPlace) {
  RespBench bench;
  bench.store.is_late = true;
  EXPECT_EQ(bench.send(throttle("a") + "PING\r\n" + throttle("b") + throttle("a") + "nonsense\r\n" + throttle("c")),
            "");
  ASSERT_EQ(bench.store.held.size(), 4U);
  EXPECT_EQ(bench.session->waiting(), Session::Waiting::kAnswer);
  bench.store.answer(3);
  bench.store.answer(1);
  EXPECT_EQ(bench.take(), "");
  EXPECT_EQ(bench.wakes, 0);
  bench.store.answer(0);
  EXPECT_EQ(bench.wakes, 1);
  EXPECT_EQ(readable(bench.take()), "[0 10 9 -1 1] PONG [0 10 9 -1 1]");
  // What needs no store waits as well, and so does what the store answers at once.
  bench.store.is_late = false;
  EXPECT_EQ(bench.send("ECHO x\r\n" + throttle("d")), "");
  bench.store.answer(0);
  EXPECT_EQ(bench.wakes, 2);
  EXPECT_EQ(readable(bench.take()),
            "[0 10 8 -1 2] (ERR unknown command 'nonsense', with args beginning with: ) [0 10 9 -1 1] \"x\" "
            "[0 10 9 -1 1]");
  EXPECT_EQ(bench.session->waiting(), Session::Waiting::kIdle);
  EXPECT_EQ(bench.run("PING"), "PONG");
}

TEST(RespSession, ALateAnswerSpeaksTheVersionOfItsQuestion) {
  RespBench bench;
  bench.store.is_late = true;
  const std::string ask = "RATEL.RENEW LIMIT '1 concurrent' k id\r\n";
  bench.send(ask + "HELLO 3\r\n" + ask);
  bench.store.answer();
  bench.store.answer();
  const std::string output = bench.take();
  EXPECT_EQ(output.substr(0, 4), "*4\r\n");
  EXPECT_NE(output.find("%4\r\n$2\r\nok"), std::string::npos);
}

TEST(RespSession, QuestionsOwnWhatTheyPointTo) {
  RespBench bench("rules: { login: { limit: 5/min } }");
  bench.store.is_late = true;
  {
    std::string bytes =
        throttle("a-key-too-long-to-stand-in-the-string-itself") +
        encode({"RATEL.ALLOW", "login", "another-key-too-long-to-stand-in-the-string"}) +
        encode({"RATEL.ACQUIRE", "LIMIT", "2 concurrent", "k", "ID", "a-lease-with-a-rather-long-name"});
    bench.send(bytes);
    bytes.assign(bytes.size(), 'x');
  }
  bench.resolver.use(std::make_shared<const RuleBook>());
  for (int i = 0; i < 3; ++i) bench.store.answer();
  EXPECT_EQ(readable(bench.take()),
            "[0 10 9 -1 1] [1 5 4 0 12000 \"exact\" \"login\"] [1 2 1 0 30000 \"exact\" \"2 concurrent\" "
            "\"a-lease-with-a-rather-long-name\"]");
}

TEST(RespSession, AnAnswerMayComeWhenTheConnectionIsGone) {
  RespBench bench;
  bench.store.is_late = true;
  bench.send(throttle("a") + throttle("b") + "PING\r\n");
  bench.store.answer(1);
  bench.session.reset();
  bench.store.answer(0);
  EXPECT_EQ(bench.wakes, 0);
  bench.store.is_late = false;
  bench.connect();
  EXPECT_EQ(readable(bench.send(throttle("a") + throttle("b") + throttle("c"))),
            "[0 10 8 -1 2] [0 10 8 -1 2] [0 10 9 -1 1]");
}

TEST(RespSession, QuestionsUnderWayAreBounded) {
  RespBench bench;
  bench.store.is_late = true;
  EXPECT_EQ(bench.send(repeat(throttle("a"), kRespAwaitedMax + 10)), "");
  EXPECT_EQ(bench.store.held.size(), kRespAwaitedMax);
  EXPECT_FALSE(bench.session->wants_input());
  EXPECT_EQ(bench.send(""), "");
  EXPECT_EQ(bench.store.held.size(), kRespAwaitedMax);
  for (int i = 0; i < 4; ++i) bench.store.answer();
  EXPECT_EQ(bench.send("").size(), 4 * std::string("*5\r\n:0\r\n:2\r\n:1\r\n:-1\r\n:1\r\n").size() + 4);  // `:10`
  EXPECT_EQ(bench.store.held.size(), kRespAwaitedMax);
  EXPECT_FALSE(bench.session->wants_input());
  while (!bench.store.held.empty()) bench.store.answer();
  bench.send("");
  EXPECT_EQ(bench.store.held.size(), 6U);
  EXPECT_TRUE(bench.session->wants_input());
}

TEST(RespSession, UnsentOutputIsBounded) {
  RespBench bench;
  const std::string text(8'000, 'e');
  const std::string echo = encode({"ECHO", text});
  const std::size_t sent = 2 * kRespUnsentBytesMax / text.size();
  bench.session->receive(repeat(echo, sent), bench.clock.now());
  EXPECT_GT(bench.session->output().size(), kRespUnsentBytesMax);
  EXPECT_LT(bench.session->output().size(), kRespUnsentBytesMax + 2 * text.size());
  EXPECT_FALSE(bench.session->wants_input());
  EXPECT_EQ(bench.session->waiting(), Session::Waiting::kAnswer);
  std::string output = bench.take();
  output += bench.send("");
  EXPECT_TRUE(bench.session->wants_input());
  EXPECT_EQ(output, repeat("$8000\r\n" + text + "\r\n", sent));
}

TEST(RespSession, LateAnswersFillTheOutputToItsBoundOnly) {
  std::string limits;
  for (int i = 0; i < 16; ++i) limits += "{ name: " + std::string(100, 'n') + std::to_string(i) + ", limit: 0/min }, ";
  RespBench bench("rules: { login: { limit: [" + limits + "] } }");
  const std::string ask = encode({"RATEL.ALLOW", "login", "u", "VIOLATED"});
  const std::string reply = bench.send(ask);
  ASSERT_GT(reply.size() * kRespAwaitedMax, 2 * kRespUnsentBytesMax);
  for (const bool ends : {false, true}) {
    bench.connect();
    bench.store.is_late = true;
    bench.send(repeat(ask, kRespAwaitedMax) + (ends ? "QUIT\r\n" : ""));
    ASSERT_EQ(bench.store.held.size(), kRespAwaitedMax);
    while (!bench.store.held.empty()) bench.store.answer(bench.store.held.size() - 1);
    std::string output;
    while (!bench.session->output().empty()) {
      const bool finished = bench.session->finished();
      EXPECT_LE(bench.session->output().size(), kRespUnsentBytesMax + reply.size());
      output += bench.take();
      bench.session->receive("", bench.clock.now());
      EXPECT_TRUE(!finished || bench.session->output().empty());
    }
    EXPECT_EQ(output, repeat(reply, kRespAwaitedMax) + (ends ? "+OK\r\n" : ""));
    EXPECT_EQ(bench.session->finished(), ends);
    EXPECT_EQ(bench.session->wants_input(), !ends);
  }
}

TEST(RespSession, RepliesBehindALateAnswerAreBoundedToo) {
  RespBench bench;
  bench.store.is_late = true;
  const std::string text(8'000, 'e');
  const std::size_t sent = 2 * kRespUnsentBytesMax / text.size();
  EXPECT_EQ(bench.send(throttle("a") + repeat(encode({"ECHO", text}), sent)), "");
  EXPECT_FALSE(bench.session->wants_input());
  bench.store.answer();
  std::string output = bench.take();
  EXPECT_LT(output.size(), kRespUnsentBytesMax + 2 * text.size());
  output += bench.send("");
  EXPECT_EQ(output, "*5\r\n:0\r\n:10\r\n:9\r\n:-1\r\n:1\r\n" + repeat("$8000\r\n" + text + "\r\n", sent));
  EXPECT_TRUE(bench.session->wants_input());
}

TEST(RespSession, AProtocolErrorAnswersThenCloses) {
  RespBench bench;
  EXPECT_EQ(readable(bench.send(throttle("a") + "*1\r\n+PING\r\n" + throttle("a"))),
            "[0 10 9 -1 1] (ERR Protocol error: expected '$', got '+')");
  EXPECT_TRUE(bench.session->finished());
  EXPECT_FALSE(bench.session->wants_input());
  EXPECT_EQ(bench.send(throttle("a")), "");
  EXPECT_EQ(bench.metrics.rejections(Rejected::kProtocol), 1U);
}

TEST(RespSession, ACloseWaitsForWhatIsOwed) {
  RespBench bench;
  bench.store.is_late = true;
  EXPECT_EQ(bench.send(throttle("a") + "QUIT\r\n" + throttle("a")), "");
  EXPECT_EQ(bench.store.held.size(), 1U);
  EXPECT_FALSE(bench.session->finished());
  bench.store.answer();
  EXPECT_EQ(readable(bench.take()), "[0 10 9 -1 1] OK");
  EXPECT_TRUE(bench.session->finished());
}

TEST(RespSession, ABrowserIsCutOffAtOnce) {
  const char* requests[] = {
      "POST / HTTP/1.1\r\nContent-Type: text/plain\r\n\r\nCL.THROTTLE k 0 1 1\r\n",
      "post\r\nCL.THROTTLE k 0 1 1\r\n",
      "GET / HTTP/1.1\r\nHost: 127.0.0.1:6390\r\nCL.THROTTLE k 0 1 1\r\n",
      "Host: x\r\nCL.THROTTLE k 0 1 1\r\n",
  };
  for (const char* request : requests) {
    RespBench bench;
    bench.send(request);
    EXPECT_TRUE(bench.session->finished()) << request;
    EXPECT_EQ(bench.store.prepared, 0U) << request;
    EXPECT_EQ(bench.metrics.rejections(Rejected::kForbiddenOrigin), 1U) << request;
  }
}

TEST(RespSession, KnowsWhatItWaitsFor) {
  RespBench bench;
  EXPECT_EQ(bench.session->waiting(), Session::Waiting::kGreeting);
  EXPECT_TRUE(bench.session->wants_input());
  bench.send("PI");
  EXPECT_EQ(bench.session->waiting(), Session::Waiting::kMessage);
  EXPECT_EQ(bench.send("NG\r\n"), "+PONG\r\n");
  EXPECT_EQ(bench.session->waiting(), Session::Waiting::kIdle);
}

TEST(RespSession, ExpiresInSilenceWhenIdleAndWithAWordInACommand) {
  RespBench idle;
  idle.session->expire(idle.clock.now());
  EXPECT_TRUE(idle.session->finished());
  EXPECT_EQ(idle.take(), "");
  RespBench slow;
  slow.send("*1\r\n$4\r\nPI");
  slow.session->expire(slow.clock.now());
  EXPECT_TRUE(slow.session->finished());
  EXPECT_EQ(readable(slow.take()), "(ERR timeout in the middle of a command)");
}

TEST(RespSession, AtTheEndOfInputWhatIsWholeIsAnswered) {
  for (bool drains : {false, true}) {
    RespBench bench;
    bench.store.is_late = true;
    bench.send(throttle("a") + throttle("b").substr(0, 20));
    drains ? bench.session->drain(bench.clock.now()) : bench.session->end_of_input(bench.clock.now());
    EXPECT_FALSE(bench.session->wants_input());
    EXPECT_FALSE(bench.session->finished());
    bench.store.answer();
    EXPECT_TRUE(bench.session->finished());
    EXPECT_EQ(readable(bench.take()), "[0 10 9 -1 1]");
  }
}

TEST(RespSession, AtTheEndOfInputWhatWasHeldBackIsAnsweredToo) {
  RespBench bench;
  const std::string text(8'000, 'e');
  const std::size_t sent = 2 * kRespUnsentBytesMax / text.size();
  bench.session->receive(repeat(encode({"ECHO", text}), sent), bench.clock.now());
  bench.session->end_of_input(bench.clock.now());
  EXPECT_FALSE(bench.session->finished());
  std::string output = bench.take();
  output += bench.send("");
  EXPECT_TRUE(bench.session->finished());
  EXPECT_EQ(output, repeat("$8000\r\n" + text + "\r\n", sent));
}

TEST(RespSession, NothingIsAllocatedOnceWarm) {
  const char* commands[] = {
      "CL.THROTTLE key-too-long-for-a-short-string 15 30 60",
      "CL.THROTTLE key-too-long-for-a-short-string 0 1 3600",
      "RATEL.ALLOW login,visitors 2001:db8::1 COST 1 ATMOST VIOLATED",
      "RATEL.PEEK login 192.0.2.1",
      "RATEL.RESERVE LIMIT '5/min burst 10' key-too-long-for-a-short-string",
      "PING",
  };
  std::string pipeline;
  for (const char* command : commands) {
    pipeline += std::string(command) + "\r\n";
    RespParser parser;
    const std::string line = std::string(command) + "\r\n";
    parser.parse(line);
    pipeline += encode({parser.arguments().begin(), parser.arguments().end()});
  }
  RespBench bench("rules: { login: { limit: 5/min }, visitors: { limit: 60/min, key: ip } }");
  MemoryStore store({.seed = 1, .start = bench.clock.now()});
  Gate gate(store);
  RespSessionFactory factory({.gate = gate,
                              .resolver = bench.resolver,
                              .metrics = bench.metrics,
                              .randomness = bench.prng,
                              .password = "",
                              .version = "",
                              .facts = nullptr});
  const std::unique_ptr<Session> session = factory.make("", bench);
  const auto turn = [&] {
    session->receive(pipeline, bench.clock.now());
    session->receive(std::string_view(pipeline).substr(0, 30), bench.clock.now());
    session->receive(std::string_view(pipeline).substr(30), bench.clock.now());
    EXPECT_EQ(session->output().find("ERR"), std::string::npos) << session->output();
    session->output().clear();
    bench.clock.advance_us(1'000);
  };
  for (int i = 0; i < 3; ++i) turn();
  const std::uint64_t before = allocations_so_far();
  EXPECT_GT(before, 0U);
  for (int i = 0; i < 100; ++i) turn();
  EXPECT_EQ(allocations_so_far() - before, 0U);
}

TEST(RespSession, AQuestionForReuseKeepsNoLargeTexts) {
  RespQuestionPool pool;
  RespQuestion* question = pool.take();
  question->key = std::string(kRespBulkBytesMax, 'k');
  question->tail = std::string(kRespUnsentBytesMax, 't');
  pool.give_back(question);
  ASSERT_EQ(pool.take(), question);
  EXPECT_EQ(question->tail, "");
  for (const std::string* text : {&question->key, &question->tail}) {
    EXPECT_LE(text->capacity(), RespQuestionPool::kPooledBytesMax);
  }
}

TEST(RespSession, WhatWaitsForReuseKeepsNoOldRules) {
  RespBench bench("rules: { login: { limit: 5/min } }");
  const std::weak_ptr<const RuleBook> old = bench.resolver.book();
  const std::string ask = encode({"RATEL.ALLOW", "login", "u"});
  bench.send(repeat(ask, 2) + encode({"RATEL.ALLOW", "login", "u", "NONSENSE"}));
  bench.store.is_late = true;
  bench.send(repeat(ask, 2));
  bench.use(std::make_shared<const RuleBook>());
  EXPECT_FALSE(old.expired()) << "two questions are still under way";
  bench.store.answer();
  EXPECT_FALSE(old.expired());
  bench.store.answer();
  EXPECT_TRUE(old.expired());
}

TEST(RespSession, ThereMayBeNoRoomForMore) {
  RespBench bench;
  bench.store.is_late = true;
  const std::string begun = encode({"ECHO", std::string(50'000, 'e')}).substr(0, 40'000);
  bench.send(throttle("a") + begun);
  EXPECT_GE(bench.session->held(), begun.size());
  bench.session->shed(bench.clock.now());
  EXPECT_FALSE(bench.session->finished());
  bench.store.answer();
  EXPECT_EQ(readable(bench.take()), "[0 10 9 -1 1] (ERR all connections together hold too much)");
  EXPECT_TRUE(bench.session->finished());
  EXPECT_LT(bench.session->held(), kBufferBytesKept);
}

TEST(RespSession, WhatIsHeldIsItsMemory) {
  RespBench bench;
  const std::string echo = encode({"ECHO", std::string(60'000, 'e')});
  bench.send(echo.substr(0, 30'000));
  EXPECT_GE(bench.session->held(), 30'000U);
  bench.send(echo.substr(30'000, 1));
  EXPECT_GE(bench.session->held(), 60'000U) << "a string that grows doubles";
  bench.session->receive(echo.substr(30'001) + "*", bench.clock.now());
  EXPECT_GE(bench.session->held(), bench.session->output().capacity());
  bench.take();
  EXPECT_LT(bench.session->held(), kBufferBytesKept) << "the next command has begun, but is small";
  bench.send("1\r\n$4\r\nPING\r\n" + std::string(10'000, 'x') + " y\r\n");
  EXPECT_GE(bench.session->held(), 10'000U) << "the words of a line";
}

TEST(RespSession, TextsOfQuestionsUnderWayAreBounded) {
  RespBench bench;
  bench.store.is_late = true;
  const std::string ask = throttle(std::string(kKeyBytesMax, 'k'));
  EXPECT_EQ(bench.send(repeat(ask, kRespAwaitedMax)), "");
  EXPECT_FALSE(bench.session->wants_input());
  EXPECT_GE(bench.session->held(), kRespUnsentBytesMax);
  EXPECT_LE(bench.store.held.size(), kRespUnsentBytesMax / kKeyBytesMax + kRespBatchMax);
  std::size_t answered = 0;
  while (!bench.store.held.empty()) {
    bench.store.answer();
    bench.take();
    ++answered;
    bench.send("");
  }
  EXPECT_EQ(answered, kRespAwaitedMax);
  EXPECT_TRUE(bench.session->wants_input());
  EXPECT_LT(bench.session->held(), kBufferBytesKept);
}

TEST(RespSession, RefusesInRedisWords) {
  RespBench bench;
  RespSessionFactory factory({.gate = bench.gate,
                              .resolver = bench.resolver,
                              .metrics = bench.metrics,
                              .randomness = bench.prng,
                              .password = "",
                              .version = "",
                              .facts = nullptr});
  EXPECT_EQ(factory.refusal(), "-ERR max number of clients reached\r\n");
}

}  // namespace
}  // namespace ratel
