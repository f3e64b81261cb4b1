// What all connections together hold of input and output.

#include "net/worker_testing.h"

namespace ratel {
namespace {

TEST_F(WorkerTest, WhatAllHoldIsBounded) {
  limits_.held_bytes_max = 4 * kHeldStepBytes;
  const std::string half(2 * kHeldStepBytes + 100, 'i');
  Peer first = connect();
  first.send(half);
  turns();
  Peer second = connect();
  second.send(half);
  turns();
  EXPECT_EQ(totals_.held_bytes, 4 * kHeldStepBytes);

  // Who wants more is told, and the others are not touched.
  Peer third = connect();
  third.send(std::string(kHeldStepBytes, 'i'));
  EXPECT_EQ(read_to_end(third), "no room\n");
  EXPECT_EQ(counts_.shed, 1U);
  EXPECT_EQ(totals_.held_bytes, 4 * kHeldStepBytes);
  // Small questions always have room.
  Peer small = connect();
  small.send("ping\n");
  EXPECT_EQ(read(small, 5), "ping\n");
  first.send("\n");
  EXPECT_EQ(read(first, half.size() + 1), half + "\n");
  EXPECT_EQ(totals_.held_bytes, 2 * kHeldStepBytes);
  // What is gone is given back.
  second.close();
  turns();
  EXPECT_EQ(totals_.held_bytes, 0U);
}

TEST_F(WorkerTest, WhoDoesNotReadIsClosedWhenTooMuchIsHeld) {
  limits_.held_bytes_max = 1'000'000;
  small_buffers_ = true;
  Peer peer = connect();
  peer.send("big 2000000\n");
  turns();
  EXPECT_EQ(counts_.shed, 1U);
  EXPECT_EQ(counts_.open, 0U);
  EXPECT_EQ(totals_.held_bytes, 0U);
}

}  // namespace
}  // namespace ratel
