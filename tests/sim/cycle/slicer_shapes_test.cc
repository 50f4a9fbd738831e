// Warped-Slicer's figure 3: how a kernel's speed follows the number of its blocks on an SM, on the paper's machine,
// from real kernels. Its algorithm depends on these shapes.
#include <fmt/format.h>

#include "kernels/benchmark.h"
#include "sim/cycle/bench_kernel.h"

namespace wm::sim {
namespace {

constexpr std::uint64_t kCycles = 30'000;

// Instructions per cycle with 1, 2, … blocks an SM, as many as fit.
std::vector<double> curve(const char* name) {
  const zoo::Entry& entry = **zoo::find(name);
  const auto application = std::make_shared<gpu::Application>(entry.benchmark.make(zoo::Size::large).application);
  const auto module = std::make_shared<ptx::Module>(*ptx::parse(entry.ptx, name));
  std::vector<double> ipc;
  for (std::uint32_t blocks = 1, max_blocks = 1; blocks <= max_blocks; ++blocks) {
    auto machine = *CycleMachine::make(test_gpu("slicer16"), 1, 1);
    ClientSpec spec;
    spec.name = name;
    spec.module = module;
    spec.application = application;
    spec.launches = 0;
    spec.blocks_per_sm = blocks;
    EXPECT_TRUE(machine->add(spec).ok());
    const auto policy = *policy::make(*policy::choose("left_over"), machine->cans(), "cycle");
    EXPECT_TRUE(machine->run(*policy, {.cycles = kCycles, .instructions = {}}).ok());
    ipc.push_back(static_cast<double>(machine->totals(0).sm.thread_instructions) / kCycles);
    max_blocks = gpu::max_blocks(machine->client(0).current().demand, machine->limits()).operator*();
  }
  return ipc;
}

// The SDK's image denoising reads its picture as a texture; of the other benchmarks of the paper's pairs none does.
TEST(SlicerTextures, OnlyThePictureOfDenoiseTakesTheTextureCache) {
  for (const char* name : {"denoise", "lbm"}) {
    const zoo::Entry& entry = **zoo::find(name);
    auto machine = *CycleMachine::make(test_gpu("slicer16"), 1, 1);
    ClientSpec spec;
    spec.name = name;
    spec.module = std::make_shared<ptx::Module>(*ptx::parse(entry.ptx, name));
    spec.application = std::make_shared<gpu::Application>(entry.benchmark.make(zoo::Size::small).application);
    EXPECT_TRUE(machine->add(spec).ok());
    const auto policy = *policy::make(*policy::choose("left_over"), machine->cans(), "cycle");
    EXPECT_TRUE(machine->run(*policy, {.cycles = 3'000, .instructions = {}}).ok());
    const SmCounters c = machine->totals(0).sm;
    const bool has_textures = std::string_view(name) == "denoise";
    EXPECT_EQ(c.texture_sectors != 0, has_textures) << name;
    EXPECT_EQ(c.l1_sectors != 0, !has_textures) << name;
  }
}

std::string text_of(const std::vector<double>& curve) {
  std::string all;
  for (const double ipc : curve) all += fmt::format(" {:.0f}", ipc);
  return all;
}

TEST(SlicerShapes, HotspotRisesToItsLastBlock) {
  const auto c = curve("hotspot");
  ASSERT_GE(c.size(), 3U);
  for (std::size_t i = 1; i < c.size(); ++i) EXPECT_GT(c[i], 1.1 * c[i - 1]) << text_of(c);
}

TEST(SlicerShapes, DenoiseRisesAndThenSaturates) {
  const auto c = curve("denoise");
  ASSERT_EQ(c.size(), 8U);
  for (std::size_t i = 1; i < c.size(); ++i) EXPECT_GT(c[i], c[i - 1]) << text_of(c);
  EXPECT_GT(c[3], 1.9 * c[1]) << "the first half all the way:" << text_of(c);
  EXPECT_LT(c[7] - c[5], 0.5 * (c[1])) << "the last blocks bring less than half of the first:" << text_of(c);
}

TEST(SlicerShapes, BlackScholesSaturatesEarly) {
  const auto c = curve("blackscholes");
  ASSERT_EQ(c.size(), 8U);
  EXPECT_GT(c[1], 1.7 * c[0]) << text_of(c);
  EXPECT_GT(c[3], 0.9 * c[7]) << "half of its blocks do:" << text_of(c);
  EXPECT_LT(c[7], 1.05 * c[4]) << text_of(c);
}

TEST(SlicerShapes, NeuralRisesAndFallsAsItsBlocksThrashTheL1) {
  const auto c = curve("neural");
  const auto best = std::max_element(c.begin(), c.end());
  EXPECT_GT(*best, 3 * c.front()) << text_of(c);
  EXPECT_GT(*best, 1.03 * c.back()) << text_of(c);
}

TEST(SlicerShapes, MvpRisesAndFallsAsItsBlocksThrashTheL1) {
  const auto c = curve("mvp");
  const auto best = std::max_element(c.begin(), c.end());
  EXPECT_GT(*best, 1.3 * c.front()) << text_of(c);
  EXPECT_GT(*best, 1.5 * c.back()) << text_of(c);
}

}  // namespace
}  // namespace wm::sim
