// Inputs with short blocks (zoo::Size::short_blocks): on the SMQoS paper's machine every SM has finished blocks within
// 100,000 or 200,000 cycles, so that a policy that waits for blocks to end can give SMs to another kernel.
#include "kernels/benchmark.h"
#include "sim/cycle/bench_kernel.h"

namespace wm::sim {
namespace {

struct Case {
  const char* name;
  const char* kernel;
  std::uint64_t cycles = 100'000;
};

// Blocks that end within the case's cycles, of as many as fit, on 24 SMs.
std::uint64_t blocks_done(const Case& c, zoo::Size size) {
  const zoo::Entry& entry = **zoo::find(c.name);
  auto machine = *CycleMachine::make(test_gpu("smqos24"), 1, 1);
  ClientSpec spec;
  spec.name = c.name;
  spec.entry = c.kernel;
  spec.module = std::make_shared<ptx::Module>(*ptx::parse(entry.ptx, c.name));
  spec.application = std::make_shared<gpu::Application>(entry.benchmark.make(size).application);
  spec.launches = 0;
  EXPECT_TRUE(machine->add(spec).ok());
  const auto policy = *policy::make(*policy::choose("left_over"), machine->cans(), "cycle");
  EXPECT_TRUE(machine->run(*policy, {.cycles = c.cycles, .instructions = {}}).ok());
  return machine->totals(0).blocks;
}

class ShortBlocks : public testing::TestWithParam<Case> {};

TEST_P(ShortBlocks, EndInTimeWhereLongOnesDoNot) {
  EXPECT_GE(blocks_done(GetParam(), zoo::Size::short_blocks), 24U);
  EXPECT_LT(blocks_done(GetParam(), zoo::Size::large), 24U);
}

INSTANTIATE_TEST_SUITE_P(Zoo, ShortBlocks,
                         testing::Values(Case{"atax", "atax_1"}, Case{"bicg", "bicg_1"}, Case{"gesummv", ""},
                                         Case{"binomial", ""}, Case{"cutcp", ""}, Case{"tpacf", ""},
                                         Case{"libor", "", 200'000}, Case{"mri-gridding", "mri_gridding_binning"}),
                         [](const auto& test) {
                           std::string text = test.param.name;
                           std::replace(text.begin(), text.end(), '-', '_');
                           return text;
                         });

}  // namespace
}  // namespace wm::sim
