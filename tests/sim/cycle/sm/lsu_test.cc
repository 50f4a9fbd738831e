// The load/store unit by itself: hits under misses, misses that join, and the texture path.
#include "sim/cycle/sm/lsu.h"

#include <gtest/gtest.h>

#include "gpu/load_gpu.h"
#include "tree.h"

namespace wm::sim {
namespace {

gpu::GpuConfig config(const std::string& name) {
  auto loaded = gpu::load_gpu(name, source_path("configs/gpus"));
  EXPECT_TRUE(loaded.ok());
  return *loaded;
}

struct Unit {
  explicit Unit(const gpu::GpuConfig& c) : timing(*derive_timing(c)), lsu(c, timing, 0) {}

  Lsu::Issued load(LineAddress line, std::uint64_t now, bool read_only = false) {
    return access(MessageKind::read, line, now, read_only);
  }
  Lsu::Issued access(MessageKind kind, LineAddress line, std::uint64_t now, bool read_only = false) {
    Coalesced lines;
    lines.count = 1;
    lines.lines[0] = {line, 0xf, 32};
    return lsu.access({.kind = kind, .returns = kind == MessageKind::read, .read_only = read_only}, lines, now,
                      counters);
  }
  // Answers the oldest request at `time`; the loads that are complete then.
  std::vector<std::uint32_t> answer(std::uint64_t time) {
    Message m = lsu.outbox().front();
    lsu.outbox().erase(lsu.outbox().begin());
    m.time = time;
    std::vector<std::uint32_t> done;
    lsu.replied(m, done, &counters);
    return done;
  }

  MemoryTiming timing;
  Lsu lsu;
  SmCounters counters;
};

TEST(HitUnderMiss, AHitTakesItsTimeWhileAMissIsOutstanding) {
  const gpu::GpuConfig c = config("qos16");
  Unit unit(c);
  const Lsu::Issued first = unit.load(1, 0);
  ASSERT_NE(first.load, kNoLoad);
  EXPECT_EQ(unit.answer(300), std::vector<std::uint32_t>{first.load});

  const Lsu::Issued miss = unit.load(2, 400);
  ASSERT_NE(miss.load, kNoLoad);
  const Lsu::Issued hit = unit.load(1, 401);
  EXPECT_EQ(hit.load, kNoLoad) << "the hit does not wait for the miss";
  EXPECT_EQ(hit.ready, 401U + c.l1.latency);
  EXPECT_EQ(unit.lsu.outbox().size(), 1U);
  EXPECT_EQ(unit.answer(700), std::vector<std::uint32_t>{miss.load});
}

TEST(HitUnderMiss, AHitBehindALookupWaitsForTheStageOnly) {
  const gpu::GpuConfig c = config("qos16");
  Unit unit(c);
  const Lsu::Issued first = unit.load(1, 0);
  EXPECT_EQ(unit.answer(300), std::vector<std::uint32_t>{first.load});
  (void)unit.load(2, 400);
  EXPECT_EQ(unit.load(1, 400).ready, 401U + c.l1.latency) << "one lookup a cycle";
}

TEST(HitUnderMiss, ASecondMissToALineJoinsTheFirst) {
  Unit unit(config("qos16"));
  const Lsu::Issued first = unit.load(1, 0);
  const Lsu::Issued second = unit.load(1, 5);
  EXPECT_NE(second.load, kNoLoad);
  EXPECT_EQ(unit.counters.requests, 1U);
  EXPECT_EQ(unit.counters.l1_misses, 8U) << "both waited";
  EXPECT_EQ(unit.answer(300), (std::vector<std::uint32_t>{first.load, second.load}));
  EXPECT_EQ(unit.load(1, 301).load, kNoLoad);
}

TEST(HitUnderMiss, WithoutAnMshrAMissBlocksTheUnitUntilAReply) {
  gpu::GpuConfig c = config("qos16");
  c.l1.mshrs = 2;
  Unit unit(c);
  (void)unit.load(1, 0);
  (void)unit.load(2, 1);
  EXPECT_FALSE(unit.lsu.blocked());
  const Lsu::Issued third = unit.load(3, 2);
  EXPECT_TRUE(unit.lsu.blocked());
  EXPECT_EQ(unit.counters.requests, 2U);
  (void)unit.answer(300);
  std::vector<std::uint32_t> done;
  unit.lsu.resume(300, &unit.counters, done);
  EXPECT_FALSE(unit.lsu.blocked());
  EXPECT_EQ(unit.counters.requests, 3U);
  (void)unit.answer(400);
  EXPECT_EQ(unit.answer(500), std::vector<std::uint32_t>{third.load});
}

// A launch ends when its client is quiet on every SM; a neighbour that always has something waiting must not put that
// off.
TEST(Quiet, DoesNotWaitForWhatAnotherKernelHasWaiting) {
  gpu::GpuConfig c = config("qos16");
  c.l1.mshrs = 1;
  Unit unit(c);
  (void)unit.load(1, 0);
  (void)unit.load(2, 1);
  ASSERT_TRUE(unit.lsu.blocked());
  EXPECT_FALSE(unit.lsu.quiet(0));
  EXPECT_TRUE(unit.lsu.quiet(1));
}

TEST(Texture, ReadOnlyLoadsHaveACacheOfTheirOwn) {
  const gpu::GpuConfig c = config("smqos24");
  ASSERT_NE(c.texture.bytes, 0U);
  Unit unit(c);
  const Lsu::Issued miss = unit.load(1, 0, true);
  ASSERT_NE(miss.load, kNoLoad);
  ASSERT_EQ(unit.lsu.outbox().size(), 1U);
  EXPECT_EQ(unit.answer(300), std::vector<std::uint32_t>{miss.load});

  const Lsu::Issued hit = unit.load(1, 400, true);
  EXPECT_EQ(hit.load, kNoLoad);
  EXPECT_EQ(hit.ready, 400U + c.texture.latency);
  EXPECT_NE(unit.load(1, 401).load, kNoLoad) << "L1 did not see it";
  EXPECT_EQ(unit.counters.texture_sectors, 8U);
  EXPECT_EQ(unit.counters.texture_misses, 4U);
  EXPECT_EQ(unit.counters.l1_sectors, 4U);
  EXPECT_EQ(unit.counters.l1_misses, 4U);
}

TEST(Texture, AFillOfL1FillsNothingThere) {
  Unit unit(config("smqos24"));
  (void)unit.load(1, 0);
  (void)unit.answer(300);
  EXPECT_EQ(unit.load(1, 301).load, kNoLoad);
  EXPECT_NE(unit.load(1, 302, true).load, kNoLoad);
}

TEST(Texture, NoStoreTouchesItAndALaunchForgetsIt) {
  Unit unit(config("smqos24"));  // stores drop their line of L1
  (void)unit.load(1, 0);
  (void)unit.load(1, 1, true);
  (void)unit.answer(300);
  (void)unit.answer(301);
  (void)unit.access(MessageKind::write, 1, 400);
  EXPECT_EQ(unit.load(1, 401, true).load, kNoLoad);
  EXPECT_NE(unit.load(1, 402).load, kNoLoad) << "L1 has lost it";
  unit.lsu.forget(0);
  EXPECT_NE(unit.load(1, 500, true).load, kNoLoad);
}

TEST(Texture, WithoutOneReadOnlyLoadsTakeL1) {
  const gpu::GpuConfig c = config("h200");
  ASSERT_EQ(c.texture.bytes, 0U);
  Unit unit(c);
  (void)unit.load(1, 0, true);
  (void)unit.answer(300);
  EXPECT_EQ(unit.load(1, 400).ready, 400U + c.l1.latency);
  EXPECT_EQ(unit.counters.texture_sectors, 0U);
  EXPECT_EQ(unit.counters.l1_sectors, 8U);
}

}  // namespace
}  // namespace wm::sim
