// Launches of several programs on one machine: places, abandoned launches, faults.
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
)";

struct MachineFixture {
  MachineFixture() {
    module = *LoadedModule::load(kMachineKernels, "kernels.ptx", config, memory, nullptr);
    out = *memory.allocate(4096, "out", nullptr);
    machine = *CycleLaunchMachine::make(config, "left_over", 1);
  }
  MachineLaunch launch(const std::string& name, std::uint32_t process, std::uint64_t address) {
    const LoadedKernel* kernel = *module->kernel(name);
    const gpu::Launch shape{name, {4}, {64}, {gpu::scalar(address)}, 0};
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
