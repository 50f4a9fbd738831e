// Launches of several programs on one machine: places, abandoned launches, faults.
#include <algorithm>
#include <gtest/gtest.h>

#include "gpu/load_gpu.h"
#include "runtime/simulated/block_launch_machine.h"
#include "runtime/simulated/cycle_launch_machine.h"
#include "tree.h"

namespace wm::runtime {
namespace {

constexpr const char* kMachineKernels = R"(
.version 7.5
.target sm_75
.address_size 64
.visible .entry store(.param .u64 out)
{
.reg .b32 %r<4>; .reg .b64 %d<4>;
mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; ld.param.u64 %d2, [out]; add.s64 %d2, %d2, %d1;
st.global.u32 [%d2], %r1; ret;
}
.visible .entry endless(.param .u64 out)
{
.reg .b32 %r<4>;
again: add.u32 %r1, %r1, 1; bra again;
}
.visible .entry work(.param .u64 out)
{
.reg .b32 %r<4>; .reg .pred %p<2>;
mov.u32 %r1, 0;
again: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 50; @%p1 bra again;
ret;
}
.visible .entry count_block(.param .u64 out)
{
.reg .b32 %r<4>; .reg .b64 %d<4>;
mov.u32 %r1, %ctaid.x; mul.wide.u32 %d1, %r1, 4; ld.param.u64 %d2, [out]; add.s64 %d2, %d2, %d1;
red.global.add.u32 [%d2], 1; ret;
}
)";

struct MachineFixture {
  MachineFixture() {
    module = *LoadedModule::load(kMachineKernels, "kernels.ptx", config, memory, nullptr);
    out = *memory.allocate(4096, "out", nullptr);
    machine = *CycleLaunchMachine::make(config, "left_over", 1);
  }
  MachineLaunch launch(const std::string& name, std::uint32_t process, std::uint64_t address,
                       std::uint32_t blocks = 4) {
    const LoadedKernel* kernel = *module->kernel(name);
    const gpu::Launch shape{name, {blocks}, {64}, {gpu::scalar(address)}, 0};
    return {.grid = *exec::make_grid(kernel->program, kernel->constants, memory.space(), shape, {}),
            .registers_per_thread = kernel->registers_per_thread,
            .arrive = {},
            .terms = {.client = "p" + std::to_string(process), .process = process}};
  }
  // Steps until `count` launches are over.
  std::vector<FinishedLaunch> finish(std::size_t count) {
    std::vector<FinishedLaunch> done;
    for (int i = 0; i < 100'000 && done.size() < count; ++i) {
      EXPECT_TRUE(machine->step());
      for (FinishedLaunch& f : machine->take_finished()) done.push_back(std::move(f));
    }
    EXPECT_EQ(done.size(), count);
    return done;
  }

  gpu::GpuConfig config = *gpu::load_gpu("qos16", source_path("configs/gpus"));
  DeviceMemory memory{1 << 24};
  std::unique_ptr<LoadedModule> module;
  std::uint64_t out = 0;
  std::unique_ptr<CycleLaunchMachine> machine;
};

TEST(LaunchMachine, AStreamKeepsItsPlaceAndProgramsHaveTheirOwn) {
  MachineFixture f;
  for (int i = 0; i < 3; ++i) {
    f.machine->start(f.launch("store", 1, f.out));
    f.machine->start(f.launch("store", 2, f.out));
    for (const FinishedLaunch& done : f.finish(2)) {
      EXPECT_FALSE(done.result.fault);
      EXPECT_GT(done.result.cycles, 0U);
      EXPECT_EQ(done.thread_instructions % 256, 0U);
    }
  }
  EXPECT_EQ(f.machine->place_names(), (std::vector<std::string>{"p1", "p2"}));
  EXPECT_EQ(f.machine->unfinished(), 0U);
}

TEST(LaunchMachine, ALaunchBeginsWhenItArrives) {
  MachineFixture f;
  MachineLaunch late = f.launch("store", 1, f.out);
  late.arrive = Cycles{5000};
  f.machine->start(std::move(late));
  const auto done = f.finish(1);
  EXPECT_GT(done[0].ended, Cycles{5000});
  EXPECT_LT(done[0].result.cycles, 5000U);
}

TEST(LaunchMachine, AnAbandonedLaunchLeavesAndItsPlaceIsUsedAgain) {
  MachineFixture f;
  const LaunchTicket endless = f.machine->start(f.launch("endless", 1, f.out));
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(f.machine->step());
  f.machine->abandon(endless);
  EXPECT_TRUE(f.finish(1)[0].result.fault);
  f.machine->start(f.launch("store", 1, f.out));
  const auto done = f.finish(1);
  EXPECT_FALSE(done[0].result.fault);
  EXPECT_EQ(done[0].place, 0U);
}

TEST(LaunchMachine, ALaunchInThePlaceOfAnAbandonedOneRunsEachOfItsBlocksOnce) {
  constexpr std::uint32_t kBlocks = 1000;
  MachineFixture f;
  const LaunchTicket endless = f.machine->start(f.launch("endless", 1, f.out, 4000));
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(f.machine->step());
  f.machine->abandon(endless);
  f.finish(1);
  std::vector<std::uint32_t> times(kBlocks);
  ASSERT_TRUE(f.memory.fill(f.out, 0, 4, kBlocks));
  f.machine->start(f.launch("count_block", 1, f.out, kBlocks));
  f.finish(1);
  ASSERT_TRUE(f.memory.space().read(f.out, reinterpret_cast<std::byte*>(times.data()), kBlocks * sizeof(times[0])));
  EXPECT_EQ(std::count(times.begin(), times.end(), 64U), kBlocks);
}

TEST(LaunchMachine, AnAbandonedLaunchThatHadNoPlaceIsForgotten) {
  MachineFixture f;
  std::vector<LaunchTicket> tickets;
  for (std::uint32_t program = 0; program <= sim::kMaxKernels; ++program)
    tickets.push_back(f.machine->start(f.launch("endless", program, f.out)));
  ASSERT_TRUE(f.machine->step());
  EXPECT_FALSE(f.machine->abandon(tickets.back()));
  EXPECT_EQ(f.machine->unfinished(), sim::kMaxKernels);
  EXPECT_TRUE(f.machine->abandon(tickets.front()));
  EXPECT_EQ(f.finish(1)[0].ticket, tickets.front());
}

TEST(LaunchMachine, FaultsDoNotUseUpThePlaces) {
  MachineFixture f;
  for (int i = 0; i < 40; ++i) {
    f.machine->start(f.launch("store", 1, 0x7e0000000000));
    f.machine->start(f.launch("store", 2, f.out));
    for (const FinishedLaunch& done : f.finish(2)) EXPECT_EQ(done.result.fault.has_value(), done.place == 0);
  }
  EXPECT_EQ(f.machine->place_names().size(), 2U);
}

TEST(LaunchMachine, ManyProgramsOneAfterTheOtherFitIntoItsPlaces) {
  MachineFixture f;
  for (std::uint32_t program = 1; program <= 40; ++program) {
    f.machine->start(f.launch("store", program, f.out));
    EXPECT_FALSE(f.finish(1)[0].result.fault);
  }
  EXPECT_EQ(f.machine->place_names().size(), sim::kMaxKernels);
}

TEST(LaunchMachine, APolicySeesNoChangeWhenALaunchFollowsInTheSameInstant) {
  MachineFixture f;
  f.machine = *CycleLaunchMachine::make(f.config, "spatial", 1);
  f.machine->start(f.launch("endless", 2, f.out));
  f.machine->start(f.launch("store", 1, f.out));
  const std::uint32_t place = f.finish(1)[0].place;
  const auto owned = [&] { return f.machine->machine().owned({place}); };
  EXPECT_EQ(owned(), 8U);
  const Cycles first = f.machine->now();
  f.machine->start(f.launch("store", 1, f.out));
  ASSERT_TRUE(f.machine->step());
  EXPECT_EQ(owned(), 8U);
  EXPECT_EQ(f.machine->machine().find({place})->arrived, first);
  EXPECT_LT(f.machine->machine().find({place})->first_arrived, first);
}

TEST(LaunchMachine, TheProgressOfAProgramBeginsWithItsFirstLaunch) {
  MachineFixture f;
  for (std::uint32_t program = 1; program <= sim::kMaxKernels; ++program) {
    f.machine->start(f.launch("store", program, f.out));
    f.finish(1);
  }
  const Cycles before = f.machine->now();
  f.machine->start(f.launch("store", 40, f.out));  // in the place of another program
  ASSERT_TRUE(f.machine->step());
  const policy::Kernel& kernel = f.machine->machine().kernels()[0];
  EXPECT_EQ(kernel.first_arrived, before);
  EXPECT_LE(kernel.instructions, 256U * 8U);
}

// The mean rate of a program that launches again and again beside another one, as a part of its isolated rate.
double rate_beside_another(MachineFixture& f, LaunchMachine& machine, double goal) {
  const auto launch = [&](std::uint32_t process, double goal_ipc) {
    MachineLaunch made = f.launch("work", process, f.out);
    made.grid.blocks = {256, 1, 1};
    made.terms.goal_ipc = goal_ipc;
    return made;
  };
  const auto run = [&](LaunchTicket ticket, LaunchTicket other, auto&& on_other) {
    while (true) {
      EXPECT_TRUE(machine.step());
      std::optional<FinishedLaunch> mine;
      for (FinishedLaunch& done : machine.take_finished()) {
        if (done.ticket == ticket) mine = done;
        if (done.ticket == other) other = on_other();
      }
      if (mine) return std::pair{*mine, other};
    }
  };
  const FinishedLaunch isolated = run(machine.start(launch(1, 0)), 0, [] { return LaunchTicket{0}; }).first;
  const double isolated_ipc =
      static_cast<double>(isolated.thread_instructions) / static_cast<double>(isolated.result.cycles);
  const auto start_batch = [&] { return machine.start(launch(3, 0)); };
  LaunchTicket batch = start_batch();
  std::uint64_t cycles = 0;
  constexpr int kLaunches = 8;
  for (int i = 0; i < kLaunches; ++i) {
    const auto [done, other] = run(machine.start(launch(2, goal * isolated_ipc)), batch, start_batch);
    batch = other;
    cycles += done.result.cycles;
  }
  return static_cast<double>(isolated.result.cycles) * kLaunches / static_cast<double>(cycles);
}

TEST(LaunchMachine, SmqosMeetsAGoalOverManyShortLaunches) {
  MachineFixture f;
  constexpr double kGoal = 0.65;
  EXPECT_GE(rate_beside_another(f, **CycleLaunchMachine::make(f.config, "smqos:epoch=200", 1), kGoal), kGoal);
  EXPECT_GE(rate_beside_another(f, **BlockLaunchMachine::make(f.config, "smqos:epoch=200", 1), kGoal), kGoal);
}

TEST(LaunchMachine, TheBlockMachineCountsTheLaunchLatencyOnce) {
  MachineFixture f;
  f.config.launch_latency = 3000;
  const auto cycles = [&](LaunchMachine& machine) {
    machine.start(f.launch("store", 1, f.out));
    while (machine.unfinished() != 0) EXPECT_TRUE(machine.step());
    return machine.take_finished()[0].result.cycles;
  };
  const std::uint64_t cycle = cycles(**CycleLaunchMachine::make(f.config, "left_over", 1));
  const auto block_machine = *BlockLaunchMachine::make(f.config, "left_over", 1);
  EXPECT_GT(cycle, 3000U);
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(static_cast<double>(cycles(*block_machine)), static_cast<double>(cycle), 2.0);
}

}  // namespace
}  // namespace wm::runtime
