// Generated kernels with volatile, generic, carry and atomic accesses leave in time the memory that they leave without.
//
// WM_GENERATED_KERNELS chooses another number than the one of the default suite.
#include <cstdlib>

#include "exec/generated_kernel.h"
#include "exec/run.h"
#include "sim/cycle/bench_kernel.h"

namespace wm::sim {
namespace {

using Bytes = std::vector<std::byte>;

gpu::Application application() {
  gpu::Application made;
  const auto out = made.add("out", std::vector<std::uint32_t>(exec::kGeneratedOutWords, 0));
  made.upload(out);
  made.launch({"k", {exec::kGeneratedBlocks, 1, 1}, {exec::kGeneratedThreads, 1, 1}, {gpu::buffer(out)}, 0});
  return made;
}

Bytes without_time(const ptx::Module& module) {
  exec::RunOptions options;
  options.max_instructions = 1'000'000;
  const gpu::Application app = application();
  auto ran = exec::run_application(module, app, options, "k.ptx");
  EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().to_string());
  return ran.ok() ? ran->buffers[0] : Bytes();
}

Bytes in_time(const ptx::Module& module, const gpu::GpuConfig& config) {
  auto machine = CycleMachine::make(config, 1, 1);
  ClientSpec spec;
  spec.name = "k";
  spec.module = std::make_shared<ptx::Module>(module);
  spec.application = std::make_shared<gpu::Application>(application());
  EXPECT_TRUE((*machine)->add(spec).ok());
  const auto policy = policy::make(*policy::choose("left_over"), (*machine)->cans(), "cycle");
  const auto ran = (*machine)->run(**policy, {});
  EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().to_string());
  return (*(*machine)->client(0).buffers())[0];
}

// h200 runs the assembler's order of instructions, qos16 that of the text.
TEST(Generated, KernelsLeaveTheSameMemoryInTimeAndWithout) {
  const char* text = std::getenv("WM_GENERATED_KERNELS");    // NOLINT(concurrency-mt-unsafe)
  const int count = text != nullptr ? std::atoi(text) : 25;  // NOLINT(cert-err34-c)
  const gpu::GpuConfig gpus[] = {test_gpu("h200"), test_gpu("qos16")};
  for (int seed = 0; seed < count && !testing::Test::HasFailure(); ++seed) {
    const std::string source = exec::generated_kernel(static_cast<std::uint64_t>(seed));
    const auto module = ptx::parse(source, "k.ptx");
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    const Bytes expected = without_time(*module);
    ASSERT_FALSE(expected.empty());
    for (const gpu::GpuConfig& config : gpus)
      ASSERT_TRUE(in_time(*module, config) == expected) << "seed " << seed << " on " << config.name << "\n" << source;
  }
}

}  // namespace
}  // namespace wm::sim
