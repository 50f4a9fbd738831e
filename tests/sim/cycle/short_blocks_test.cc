// Inputs with short blocks (zoo::Size::short_blocks): on the SMQoS paper's machine every SM has finished blocks within
// 100,000 cycles, so that a policy that waits for blocks to end can give SMs to another kernel.
#include "kernels/benchmark.h"
#include "sim/cycle/bench_kernel.h"

namespace wm::sim {
namespace {

constexpr std::uint64_t kShortBlockCycles = 100'000;

// Blocks that end within kShortBlockCycles, of as many as fit, on 24 SMs.
std::uint64_t blocks_done(const char* name, const char* kernel, zoo::Size size) {
  const zoo::Entry& entry = **zoo::find(name);
  auto machine = *CycleMachine::make(test_gpu("smqos24"), 1, 1);
  ClientSpec spec;
  spec.name = name;
  spec.entry = kernel;
  spec.module = std::make_shared<ptx::Module>(*ptx::parse(entry.ptx, name));
  spec.application = std::make_shared<gpu::Application>(entry.benchmark.make(size).application);
  spec.launches = 0;
  EXPECT_TRUE(machine->add(spec).ok());
  const auto policy = *policy::make(*policy::choose("left_over"), machine->cans(), "cycle");
  EXPECT_TRUE(machine->run(*policy, {.cycles = kShortBlockCycles, .instructions = {}}).ok());
  return machine->totals(0).blocks;
}

class ShortBlocks : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(ShortBlocks, EndWithin100000CyclesWhereLongOnesDoNot) {
  const auto [name, kernel] = GetParam();
  EXPECT_GE(blocks_done(name, kernel, zoo::Size::short_blocks), 24U);
  EXPECT_LT(blocks_done(name, kernel, zoo::Size::large), 24U);
}

INSTANTIATE_TEST_SUITE_P(Zoo, ShortBlocks,
                         testing::Values(std::pair{"atax", "atax_1"}, std::pair{"bicg", "bicg_1"},
                                         std::pair{"gesummv", ""}, std::pair{"binomial", ""}, std::pair{"cutcp", ""},
                                         std::pair{"tpacf", ""}, std::pair{"libor", ""},
                                         std::pair{"mri-gridding", "mri_gridding_binning"}),
                         [](const auto& test) {
                           std::string text = test.param.first;
                           std::replace(text.begin(), text.end(), '-', '_');
                           return text;
                         });

}  // namespace
}  // namespace wm::sim
