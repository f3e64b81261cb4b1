#include "net/worker.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <thread>

#include "net/worker_testing.h"
#include "wire/buffer.h"

namespace ratel {
namespace {

TEST_F(WorkerTest, AnswersAPipelineInOrderHoweverItIsCut) {
  const std::string text = "one\ntwo\nthree\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Peer peer = connect();
    peer.send(text.substr(0, cut));
    turns();
    peer.send(text.substr(cut));
    EXPECT_EQ(read(peer, text.size()), text);
  }
  EXPECT_EQ(factory_.peers.front(), "127.0.0.1");
}

TEST_F(WorkerTest, ForgetsAPeerThatLeaves) {
  Peer leaving = connect();
  Peer resetting = connect();
  EXPECT_EQ(counts_.open, 2U);
  leaving.close();
  resetting.reset();
  turns();
  EXPECT_EQ(counts_.open, 0U);
  EXPECT_EQ(totals_.open, 0U);
}

TEST_F(WorkerTest, ForgetsAPeerThatLeavesWhileItIsOwedSomething) {
  small_buffers_ = true;
  Peer unread = connect();
  unread.send("big 2000000\n");
  Peer waiting = connect();
  waiting.send("later\n");
  turns();
  ASSERT_EQ(factory_.waiting.size(), 1U);
  unread.close();
  waiting.close();
  factory_.waiting[0]->answer("nobody hears this\n");  // in the very turn that finds the peer gone
  turns();
  EXPECT_EQ(counts_.open, 0U);
}

TEST_F(WorkerTest, SendsWhatTheSocketDidNotTakeAtOnce) {
  small_buffers_ = true;
  Peer peer = connect();
  peer.send("big 1000000\nend\n");
  EXPECT_TRUE(read(peer, 1'000'004, 7'777) == std::string(1'000'000, 'x') + "end\n");
}

TEST_F(WorkerTest, AnIdlePeerKeepsNoLargeBuffer) {
  Peer peer = connect();
  peer.send("big 1000000\n");
  EXPECT_EQ(read(peer, 1'000'000).size(), 1'000'000U);
  turns();
  EXPECT_LE(factory_.last->output().capacity(), kBufferBytesKept);
}

TEST_F(WorkerTest, ASlowReaderKeepsNoMemoryForWhatItHasTaken) {
  small_buffers_ = true;
  Peer peer = connect();
  peer.send("big 1000000\n");
  for (std::size_t taken = 0; taken < 1'000'000;) {
    const std::size_t n = read(peer, 10'000, 10'000).size();
    ASSERT_GT(n, 0U);
    taken += n;
    const std::string& output = factory_.last->output();
    ASSERT_LE(output.capacity(), std::max(kBufferBytesKept, 4 * output.size() + 4)) << taken;
  }
}

TEST_F(WorkerTest, AReaderThatIsBehindIsNotReadFrom) {
  small_buffers_ = true;
  Peer peer = connect();
  std::string commands;
  for (int i = 0; i < 200; ++i) commands += "big 10000\n";
  peer.send(commands);
  turns();
  // The session is above its bound now, and a further megabyte is left to the kernel, which stops taking it.
  std::size_t sent = 0;
  const std::string more(1 << 16, '\n');
  for (int i = 0; i < 1'000; ++i) {
    const std::size_t n = peer.send(more);
    sent += n;
    turns();
    if (n == 0) break;
  }
  EXPECT_LT(sent, 1'000U << 16);
  EXPECT_TRUE(read(peer, 2'000'000 + sent) == std::string(2'000'000, 'x') + std::string(sent, '\n'));
}

TEST_F(WorkerTest, ASlowSenderHasTenSecondsForAMessage) {
  Peer peer = connect();
  for (int i = 0; i < 9; ++i) {
    peer.send("a");  // a byte a second does not buy more time
    pass(kSecond_us);
  }
  EXPECT_EQ(counts_.open, 1U);
  pass(2 * kSecond_us);
  EXPECT_EQ(read_to_end(peer), "too slow\n");
  EXPECT_EQ(counts_.timed_out, 1U);
}

TEST_F(WorkerTest, AMessageCutByEachReadIsNotSlow) {
  Peer peer = connect();
  peer.send("a");
  for (int i = 0; i < 40; ++i) {
    pass(kSecond_us);
    peer.send("b\na");  // always in the middle of a message, but never of the same
    EXPECT_EQ(read(peer, 3), "ab\n");
  }
  EXPECT_EQ(counts_.timed_out, 0U);
  pass(12 * kSecond_us);
  EXPECT_EQ(counts_.timed_out, 1U);
}

TEST_F(WorkerTest, ASlowReaderHasTenSecondsToTakeSomething) {
  small_buffers_ = true;
  Peer peer = connect();
  peer.send("big 2000000\n");
  std::size_t size = 0;
  for (int i = 0; i < 5; ++i) {
    pass(9 * kSecond_us);
    size += read(peer, 200'000, 200'000).size();
  }
  EXPECT_EQ(counts_.open, 1U);
  EXPECT_LT(size, 2'000'000U);
  pass(12 * kSecond_us);
  EXPECT_EQ(counts_.open, 0U);
  EXPECT_EQ(counts_.timed_out, 1U);
}

TEST_F(WorkerTest, ASlowReaderIsNotSavedByWhatItSends) {
  small_buffers_ = true;
  Peer peer = connect();
  peer.send("big 60000\n");  // less than the session's bound, so that it still reads
  turns();
  for (int i = 0; i < 3; ++i) {
    peer.send("x");
    pass(5 * kSecond_us);
  }
  EXPECT_EQ(counts_.open, 0U);
  EXPECT_EQ(counts_.timed_out, 1U);
}

TEST_F(WorkerTest, ASlowReaderIsNotSavedByTakingNextToNothing) {
  small_buffers_ = true;
  Peer peer = connect();
  peer.send("big 2000000\n");
  for (int i = 0; i < 4 && counts_.open != 0; ++i) {
    peer.receive(1);
    pass(5 * kSecond_us);
  }
  EXPECT_EQ(counts_.open, 0U);
}

TEST_F(WorkerTest, AMessageMustCompleteThoughOutputWaits) {
  small_buffers_ = true;
  limits_.stalled_us = 1'000 * kSecond_us;
  Peer peer = connect();
  peer.send("big 60000\nhalf a li");
  pass(9 * kSecond_us);
  EXPECT_EQ(counts_.open, 1U);
  pass(4 * kSecond_us);
  EXPECT_EQ(counts_.open, 0U);
}

TEST_F(WorkerTest, WhoeverDoesNotGreetGoesHoweverMuchItSays) {
  limits_.greeting_us = ConnectionLimits{}.greeting_us;
  Peer silent = connect();
  Peer stranger = connect();
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(counts_.open, 2U);
    stranger.send("stranger\n");
    pass(4 * kSecond_us);
  }
  pass(4 * kSecond_us);
  EXPECT_EQ(counts_.open, 0U);
  EXPECT_EQ(counts_.timed_out, 2U);
}

TEST_F(WorkerTest, OneThatIsNeverDoneLeavesOthersTheirTurn) {
  small_buffers_ = true;
  Peer greedy = connect();
  Peer other = connect();
  std::string work;
  const std::string line = "big " + std::to_string(LineSession::kUnsentMax + 1) + "\n";
  for (int i = 0; i < 200; ++i) work += line;
  greedy.send(work);
  // Takes all it is sent at once, so that the server is never blocked.
  std::size_t taken = 0;
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) taken += greedy.receive(1 << 20).size();
  });
  other.send("a\n");
  std::string answer;
  for (int i = 0; i < 3 && answer.empty(); ++i) {
    worker().loop().turn(false);
    answer = other.receive(16);
  }
  done = true;
  reader.join();
  EXPECT_EQ(answer, "a\n");
  EXPECT_LT(taken, 200 * (LineSession::kUnsentMax + 1));
}

TEST_F(WorkerTest, WhatOneTurnDidNotFinishGoesOnInTheNext) {
  Peer peer = connect();
  const std::size_t size = LineSession::kUnsentMax + 1;
  std::string work;
  for (int i = 0; i < 50; ++i) work += "big " + std::to_string(size) + "\n";
  peer.send(work + "quit\n");
  EXPECT_EQ(read_to_end(peer).size(), 50 * size + 4);
}

TEST_F(WorkerTest, ADrainAnswersAllThatHasArrived) {
  Peer peer = connect();
  std::string text;
  while (text.size() < 3 * EventLoop::kScratchBytes) text += "a\n";
  text.resize(peer.send(text) & ~std::size_t{1});
  ASSERT_GT(text.size(), 2 * EventLoop::kScratchBytes);
  worker().drain();
  EXPECT_TRUE(read_to_end(peer) == text);  // too long to be shown
}

TEST_F(WorkerTest, AnIdlePeerIsToldAndClosed) {
  Peer peer = connect();
  for (int i = 0; i < 4; ++i) {
    pass(kIdle_us - 2 * kSecond_us);
    peer.send("a\n");
    EXPECT_EQ(read(peer, 2), "a\n");
  }
  pass(kIdle_us + 2 * kSecond_us);
  EXPECT_EQ(read_to_end(peer), "too slow\n");
  EXPECT_EQ(counts_.timed_out, 1U);
}

TEST_F(WorkerTest, WithoutAnIdleTimeoutAPeerMayStay) {
  limits_.idle_us = 0;
  Peer peer = connect();
  peer.send("a\n");
  EXPECT_EQ(read(peer, 2), "a\n");
  clock_.advance_us(100 * kDay_us);
  turns();
  peer.send("a\n");
  EXPECT_EQ(read(peer, 2), "a\n");
}

TEST_F(WorkerTest, AnAnswerUnderWayHasNoTimeout) {
  Peer peer = connect();
  peer.send("later\nthen\n");
  turns();
  pass(3 * kIdle_us);
  ASSERT_EQ(factory_.waiting.size(), 1U);
  peer.send("next\n");  // waits for its turn
  turns();
  factory_.waiting[0]->answer("now\n");
  EXPECT_EQ(read(peer, 14), "now\nthen\nnext\n");
}

TEST_F(WorkerTest, TooManyConnectionsAreToldSo) {
  limits_.connections_max = 2;
  Peer one = connect();
  Peer two = connect();
  Peer three = connect();
  EXPECT_EQ(read_to_end(three), "full\n");
  EXPECT_FALSE(three.was_reset());
  EXPECT_EQ(counts_.refused, 1U);
  three.close();
  two.close();
  turns();
  Peer four = connect();
  four.send("a\n");
  EXPECT_EQ(read(four, 2), "a\n");
}

TEST_F(WorkerTest, RefusedOnesKeepNoPlace) {
  limits_.connections_max = 2;
  Peer one = connect();
  Peer two = connect();
  std::vector<Peer> refused;
  for (int i = 0; i < 4; ++i) refused.push_back(connect());  // and none of them closes
  one.close();
  two.close();
  turns();
  Peer next = connect();
  next.send("a\n");
  EXPECT_EQ(read(next, 2), "a\n");
  EXPECT_EQ(counts_.refused, 4U);
}

TEST_F(WorkerTest, ACrowdOfRefusedIsClosedWithoutAWord) {
  limits_.connections_max = 1;
  Peer one = connect();
  std::vector<Peer> crowd;
  for (std::size_t i = 0; i < kRefusalsMax + 3; ++i) crowd.push_back(connect());
  std::size_t told = 0;
  for (Peer& peer : crowd) told += read_to_end(peer) == "full\n" ? 1 : 0;
  EXPECT_EQ(told, kRefusalsMax);
  EXPECT_EQ(counts_.open, 1 + kRefusalsMax);
  pass(kLinger_us + 2 * kSecond_us);
  EXPECT_EQ(counts_.open, 1U);
  EXPECT_EQ(totals_.open, 1U);
}

TEST_F(WorkerTest, AnswersAPeerThatHasEndedItsSide) {
  Peer now = connect();
  now.send("a\n");
  now.end_of_input();
  EXPECT_EQ(read_to_end(now), "a\n");

  Peer later = connect();
  later.send("later\n");
  later.end_of_input();
  turns();
  factory_.waiting[0]->answer("b\n");
  EXPECT_EQ(read_to_end(later), "b\n");
  EXPECT_EQ(counts_.open, 0U);
}

TEST_F(WorkerTest, TheLastAnswerIsNotOvertakenByAReset) {
  Peer peer = connect();
  peer.send("quit\n" + std::string(100'000, 'x'));
  turns();
  peer.send("still talking");
  turns();
  EXPECT_EQ(read_to_end(peer), "bye\n");
  EXPECT_FALSE(peer.was_reset());
  EXPECT_EQ(counts_.open, 1U);
  pass(kLinger_us + 2 * kSecond_us);
  EXPECT_EQ(counts_.open, 0U);
}

TEST_F(WorkerTest, ADrainAnswersWhatHasArrived) {
  Peer idle = connect();
  Peer busy = connect();
  busy.send("later\n");
  turns();
  Peer unread = connect();
  unread.send("a\n");
  Peer unaccepted(address_);
  unaccepted.send("b\n");
  worker().drain();
  EXPECT_FALSE(worker().drained());
  EXPECT_EQ(read_to_end(idle), "");
  EXPECT_EQ(read_to_end(unread), "a\n");
  EXPECT_EQ(read_to_end(unaccepted), "b\n");
  EXPECT_FALSE(Peer(address_).connected());
  factory_.waiting[0]->answer("c\n");
  EXPECT_EQ(read_to_end(busy), "c\n");
  for (Peer* peer : {&idle, &busy, &unread, &unaccepted}) peer->close();
  turns();
  EXPECT_TRUE(worker().drained());
  worker().run();  // ends at once
}

TEST_F(WorkerTest, ADrainEndsInBoundedTime) {
  Peer never = connect();
  never.send("later\n");
  turns();
  worker().drain();
  pass(4 * kSecond_us);
  EXPECT_FALSE(worker().drained());
  pass(3 * kSecond_us);
  EXPECT_TRUE(worker().drained());
}

TEST_F(WorkerTest, ADrainGoesOnForAWhileForWhatQuestionsLeftBehind) {
  for (const bool in_time : {true, false}) {
    settled_ = false;
    drains_ = 0;
    worker_ = nullptr;
    worker().drain();
    worker().drain();
    EXPECT_EQ(drains_, 1);
    pass(kSecond_us);
    EXPECT_FALSE(worker().drained());
    if (in_time) settled_ = true;
    if (!in_time) pass(2 * kSecond_us);
    turns();
    ASSERT_TRUE(worker().drained());
    worker().run();  // ends at once
  }
}

TEST_F(WorkerTest, OutOfDescriptorsItPausesAndGoesOn) {
  worker();
  // The sanitizer needs descriptors for each type that it sees first.
  Peer first(address_);
  first.send("a\n");
  EXPECT_EQ(read(first, 2), "a\n");
  Peer peer(address_);
  peer.send("a\n");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  turns();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(failures_, std::vector<int>{EMFILE});  // once, not once a turn
  EXPECT_EQ(counts_.accept_failures, 1U);
  turns();
  EXPECT_EQ(counts_.open, 1U);
  pass(2 * kSecond_us);
  EXPECT_EQ(read(peer, 2), "a\n");
}

TEST_F(WorkerTest, EventsBeyondOneTurnsAreHandledInTheNext) {
  worker();
  std::vector<Peer> peers;
  for (int i = 0; i < 300; ++i) peers.emplace_back(address_);  // a turn takes 256
  for (int i = 0; i < 300 / kAcceptsPerTurn + 1; ++i) turns();
  ASSERT_EQ(counts_.open, peers.size());
  for (Peer& peer : peers) peer.send("a\n");
  for (Peer& peer : peers) EXPECT_EQ(read(peer, 2), "a\n");
}

TEST_F(WorkerTest, AStormOfConnectionsIsAcceptedOverSeveralTurns) {
  worker();
  std::vector<Peer> peers;
  for (int i = 0; i < kAcceptsPerTurn + 10; ++i) peers.emplace_back(address_);
  worker().loop().turn(false);
  EXPECT_EQ(counts_.open, static_cast<std::uint64_t>(kAcceptsPerTurn));
  turns();
  EXPECT_EQ(counts_.open, peers.size());
}

}  // namespace
}  // namespace ratel
