// The parts of an SM, each by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cycle/sm/copy_groups.h"
#include "sim/cycle/sm/issue_times.h"
#include "sim/cycle/sm/kernel_counters.h"
#include "sim/cycle/sm/quota_gate.h"
#include "sim/cycle/sm/reply_queue.h"
#include "sim/cycle/sm/scheduler_state.h"
#include "sim/cycle/sm/scoreboard.h"
#include "sim/cycle/sm/warp_table.h"

namespace wm::sim {
namespace {

TEST(QuotaGate, ClosesAKernelWhenTheInstructionThatSpendsItsQuotaCompletes) {
  QuotaGate gate;
  gate.set(1, 40, 0);
  EXPECT_TRUE(gate.has_quota(1));
  gate.spend(1, 32, 0, 10);
  EXPECT_EQ(gate.spent_at(), QuotaGate::kNever);
  gate.spend(1, 32, 1, 20);
  EXPECT_EQ(gate.left(1, 10), 40) << "nothing has completed before cycle 10";
  EXPECT_EQ(gate.left(1, 11), 8);
  EXPECT_EQ(gate.spent_at(), 20U);
  gate.close_spent(19);
  EXPECT_EQ(gate.closed(), 0U);
  gate.spend(1, 32, 19, 30);  // issued before it was closed
  gate.close_spent(20);
  EXPECT_EQ(gate.closed(), 0b10U);
  EXPECT_EQ(gate.spent_at(), QuotaGate::kNever);
  EXPECT_EQ(gate.left(1, 31), -56);
  EXPECT_EQ(gate.take_newly_closed(), 0b10U);
  EXPECT_EQ(gate.take_newly_closed(), 0U);
}

TEST(QuotaGate, InstructionsInFlightCountAgainstTheNextQuota) {
  QuotaGate gate;
  gate.set(0, 32, 0);
  gate.spend(0, 32, 0, 100);
  gate.set(0, 64, 50);
  EXPECT_EQ(gate.left(0, 100), 64);
  EXPECT_EQ(gate.left(0, 101), 32);
  gate.set(0, 16, 100);
  EXPECT_EQ(gate.spent_at(), 100U) << "in the cycle in which they complete";
}

TEST(QuotaGate, OpensAKernelThatGetsMoreOrLosesItsLimit) {
  QuotaGate gate;
  gate.set(0, 0, 0);
  EXPECT_TRUE(gate.is_closed(0));
  EXPECT_EQ(gate.take_newly_closed(), 0U) << "it was not spent but given";
  gate.set(0, 1, 0);
  EXPECT_FALSE(gate.is_closed(0));
  gate.set(0, -5, 0);
  gate.set(0, QuotaGate::kNoQuota, 0);
  EXPECT_FALSE(gate.is_closed(0));
  EXPECT_FALSE(gate.has_quota(0));
}

TEST(InFlight, CountsUntilTheGivenCycleAndWrapsAround) {
  InFlight in_flight;
  for (std::uint64_t now = 0; now < 1000; now += 100) {
    in_flight.add(4, now + 150);
    in_flight.add(3, now + 60);
    EXPECT_EQ(in_flight.count_before(now + 61) - in_flight.count_before(now + 60), 3U);
    EXPECT_EQ(in_flight.time_of(in_flight.count_before(now + 60) + 1), now + 60);
    const std::uint64_t due = in_flight.count_before(now + 100);
    EXPECT_EQ(in_flight.take_before(now + 100), due);
    EXPECT_EQ(in_flight.total(), 4U);
  }
}

// One operation of each kind that matters to an account: [0] folded, [1] issued in two slots.
TimedProgram two_operations() {
  TimedProgram program;
  program.ops.resize(2);
  program.ops[1].unit = gpu::Unit::sfu;
  program.ops[1].issue_slots = 2;
  program.ops[1].occupies = 8;
  program.ops[1].reads = 2;
  program.ops[1].writes = 1;
  return program;
}

TEST(KernelCounters, AddUpWhatFollowsFromExecutions) {
  const TimedProgram program = two_operations();
  KernelCounters counters;
  counters.set_program(3, program);
  counters.count(3, 0, 32, false);
  counters.count(3, 1, 20, true);
  counters.count(3, 1, 12, true);
  EXPECT_EQ(counters[3].thread_instructions, 64U);
  EXPECT_EQ(counters[3].warp_instructions, 0U) << "not yet added up";
  const SmCounters& c = counters.totals(3);
  EXPECT_EQ(c.warp_instructions, 3U);
  EXPECT_EQ(c.issued, 4U);
  EXPECT_EQ(c.unit_cycles[static_cast<std::size_t>(gpu::Unit::sfu)], 16U);
  EXPECT_EQ(c.unit_lanes[static_cast<std::size_t>(gpu::Unit::sfu)], 64U);
  EXPECT_EQ(c.register_lanes, 32U * 3);
  EXPECT_EQ(counters.totals(3).warp_instructions, 3U) << "each execution counts once";
  EXPECT_EQ(counters.totals(0).warp_instructions, 0U);
}

TEST(KernelCounters, KeepWhatAnEarlierProgramOfTheKernelDid) {
  const TimedProgram first = two_operations(), second = two_operations();
  KernelCounters counters;
  counters.set_program(0, first);
  counters.count(0, 1, 32, true);
  counters.set_program(0, second);
  counters.count(0, 1, 32, true);
  EXPECT_EQ(counters.totals(0).warp_instructions, 2U);
}

TEST(Scoreboard, ARegisterInFlightStaysUnknownAndOthersKeepTheirCycleInANewEpoch) {
  Scoreboard board(2);
  Scoreboard::Time* row = board.reset(1, 4);
  const std::uint64_t late = (std::uint64_t{1} << 31) + 100;
  row[0] = board.time(late + 7);
  row[1] = board.time(Scoreboard::kPending);
  row[2] = board.time(50);
  board.follow(late);
  EXPECT_EQ(board.cycle(row[0]), late + 7);
  EXPECT_EQ(row[1], Scoreboard::kUnknown);
  EXPECT_LE(board.cycle(row[2]), late) << "what could be used before can be used now";
}

TEST(Scoreboard, AnOperationWaitsForTheLatestOfItsOperands) {
  TimedOp op;
  op.few = false;
  op.operands = {0, 1, 2, 3};
  op.reads = 5;
  op.writes = 1;
  const std::uint32_t registers[] = {0, 1, 2, 3, 4, 5};
  Scoreboard::Time row[6] = {3, 9, 1, 0, 4, 2};
  EXPECT_EQ(Scoreboard::last_operand(row, registers, op), 9U);
  row[5] = 11;
  EXPECT_EQ(Scoreboard::last_operand(row, registers, op), 11U) << "what it writes counts, too";
  Scoreboard::set_written(row, registers, op, 20);
  EXPECT_EQ(row[5], 20U);
  EXPECT_EQ(row[4], 4U);
}

TEST(CopyGroups, AWaitNamesTheGroupsThatMayStayInFlight) {
  CopyGroups copies;
  const std::uint32_t first = copies.add(std::nullopt);
  copies.commit(0);
  copies.add(std::nullopt);
  copies.commit(0);
  TimedOp wait;
  wait.copies = CopyRole::wait_group;
  wait.groups = 1;
  std::uint64_t at = 0;
  EXPECT_TRUE(copies.must_wait(wait, at));
  copies.finish(first, 70);
  EXPECT_FALSE(copies.must_wait(wait, at));
  EXPECT_EQ(at, 70U);
  wait.copies = CopyRole::wait_all;
  EXPECT_TRUE(copies.must_wait(wait, at));
}

TEST(CopyGroups, AnEmptyGroupCountsLikeAnyOther) {
  CopyGroups copies;
  copies.add(40);
  copies.commit(10);
  copies.commit(10);
  TimedOp wait;
  wait.copies = CopyRole::wait_group;
  wait.groups = 1;
  std::uint64_t at = 0;
  EXPECT_FALSE(copies.must_wait(wait, at));
  EXPECT_EQ(at, 40U) << "the first group must be complete, the empty second may be in flight";
}

TEST(ReplyQueue, HandsRepliesOutByArrivalWhateverTheOrderTheyWereAddedIn) {
  ReplyQueue queue;
  EXPECT_EQ(queue.next_arrival(), ReplyQueue::kNever);
  queue.add({.time = 30, .token = 1});
  queue.add({.time = 10, .token = 2});
  queue.sort();
  EXPECT_EQ(queue.next_arrival(), 10U);
  EXPECT_EQ(queue.take().token, 2U);
  queue.add({.time = 20, .token = 3});
  queue.sort();
  EXPECT_EQ(queue.take().token, 3U);
  EXPECT_EQ(queue.take().token, 1U);
  EXPECT_EQ(queue.next_arrival(), ReplyQueue::kNever);
}

TEST(IssueTimes, WorkForTheLoadStoreUnitWaitsUntilTheUnitIsOpen) {
  IssueTimes times;
  EXPECT_EQ(times.earliest(), IssueTimes::kNever);
  times.no_later(1, kLoadStore, 10);
  times.open_lsu(25);
  EXPECT_EQ(times.earliest(), 25U);
  EXPECT_EQ(times.due_at(20, 0, 4).any, 0U);
  EXPECT_EQ(times.due_at(25, 0, 4).any, 0b0010U);
  times.no_later(2, 0, 15);
  EXPECT_EQ(times.earliest(), 15U);
  EXPECT_EQ(times.due_at(15, 0, 4).any, 0b0100U);
  EXPECT_EQ(times.due_at(25, 0, 4).any, 0b0110U);
  EXPECT_EQ(times.due_at(25, 0, 4).without_lsu, 0b0100U) << "the first needs the load/store unit";
}

TEST(IssueTimes, TurnsAreCountedFromTheSchedulerThatLooksFirst) {
  IssueTimes times;
  times.no_later(0, 0, 5);
  times.no_later(2, 0, 5);
  EXPECT_EQ(times.due_at(5, 0, 4).any, 0b0101U);
  EXPECT_EQ(times.due_at(5, 2, 4).any, 0b0101U);
  EXPECT_EQ(times.due_at(5, 3, 4).any, 0b1010U);
}

TEST(SchedulerState, KnowsWhichWarpsCameBeforeAnother) {
  SchedulerState s;
  s.add(4, 0, 100);
  s.add(1, 2, 110);
  EXPECT_EQ(s.now, 100U) << "nothing is accounted for before the first warp";
  EXPECT_EQ(s.older[1], WarpMask{1} << 4);
  EXPECT_EQ(s.older[4], 0U);
  EXPECT_EQ(s.warps_of(0b100), WarpMask{1} << 1);
  EXPECT_EQ(s.pick(0b10010), 4U);
}

TEST(SchedulerState, AWarpThatWantsAnotherUnitLeavesTheFirst) {
  SchedulerState s;
  WarpSlot w;
  w.bit = 0b100;
  s.wants[0] = w.bit;
  s.units = 1;
  s.want(w, gpu::Unit::sfu);
  EXPECT_EQ(s.units, 1U << static_cast<std::uint32_t>(gpu::Unit::sfu));
  EXPECT_EQ(s.wants[0], 0U);
  EXPECT_EQ(s.wants[static_cast<std::size_t>(gpu::Unit::sfu)], w.bit);
}

TEST(WarpTable, SpreadsNeighbouringSlotsOverTheSchedulers) {
  const WarpTable table(64, 4);
  EXPECT_EQ(table[0].scheduler, 0U);
  EXPECT_EQ(table[5].scheduler, 1U);
  EXPECT_EQ(table[5].bit, WarpMask{1} << 1);
  EXPECT_EQ(table.number_of(table.of(1, 1)), 5U);
  EXPECT_EQ(table.index_of(table[5]), 1U);
  EXPECT_EQ(table.free(), 64U);
}

}  // namespace
}  // namespace wm::sim
