// Kernels that record their blocks compute the same and write one entry for each block.
#include "rewrite/ptx/block_times.h"

#include "exec/run.h"
#include "ptx/print.h"
#include "rewrite/ptx/rewritten.h"

namespace wm::rewrite {
namespace {

// Every launch gets an array of its own; the arrays follow the application's buffers.
gpu::Application with_times(gpu::Application app) {
  for (gpu::Step& step : app.steps) {
    auto* launch = std::get_if<gpu::Launch>(&step);
    if (launch == nullptr) continue;
    app.buffers.push_back({"times", launch->grid.count() * sizeof(BlockTime), {}});
    launch->arguments.push_back(gpu::buffer({static_cast<std::uint32_t>(app.buffers.size() - 1)}));
  }
  for (std::uint32_t i = 0; i < app.buffers.size(); ++i) {
    if (app.buffers[i].name == "times")
      app.steps.insert(app.steps.begin(), gpu::Fill{{i}, 0, app.buffers[i].bytes, std::byte{0}});
  }
  return app;
}

ptx::Module recording(const ptx::Module& original) {
  ptx::Module module = original;
  for (const ptx::Function& f : original.functions) {
    if (!f.entry) continue;
    const auto added = add_block_times(module, f.name);
    if (!added) throw std::invalid_argument(added.error().to_string());
  }
  return parsed(ptx::print(module));
}

// The entries of the launch whose array is the buffer.
std::vector<BlockTime> times(const exec::ApplicationResult& run, std::size_t buffer) {
  std::vector<BlockTime> all(run.buffers[buffer].size() / sizeof(BlockTime));
  std::memcpy(all.data(), run.buffers[buffer].data(), run.buffers[buffer].size());
  return all;
}

class RecordedZoo : public testing::TestWithParam<const char*> {};

TEST_P(RecordedZoo, LeavesTheSameBuffersAndAnEntryForEveryBlock) {
  const zoo::Entry* entry = *zoo::find(GetParam());
  ASSERT_NE(entry, nullptr);
  const ptx::Module original = parsed(std::string(entry->ptx));
  const ptx::Module module = recording(original);
  const zoo::Case c = entry->benchmark.make(zoo::Size::small);
  const gpu::Application recorded = with_times(c.application);
  EXPECT_EQ(compare_runs(original, c.application, module, recorded), "");
  const auto run = exec::run_application(module, recorded);
  ASSERT_TRUE(run.ok()) << run.error().to_string();
  for (std::size_t b = c.application.buffers.size(); b < recorded.buffers.size(); ++b) {
    for (const BlockTime& t : times(*run, b)) ASSERT_TRUE(t.start_ns != 0 && t.end_ns >= t.start_ns) << b;
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, RecordedZoo, testing::Values("bfs", "histo", "hotspot", "pathfinder", "sgemm", "tpacf"));

TEST(BlockTimes, EveryWayOutOfAKernelIsRecorded) {
  // Blocks 0 and 1 leave by a guarded exit, block 2 by ret in a branch, block 3 at the end of the body.
  const ptx::Module original = parsed(R"(
.version 7.8
.target sm_75
.address_size 64
.entry k(.param .u64 out)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.y;
  mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r1;
  setp.lt.u32 %p1, %r1, 2;
  @%p1 exit;
  setp.eq.u32 %p2, %r1, 3;
  @%p2 bra LAST;
  st.global.u32 [%rd1], 7;
  ret;
LAST:
  st.global.u32 [%rd1], 9;
}
)");
  const ptx::Module module = recording(original);
  gpu::Application app;
  const auto out = app.add("out", std::vector<std::uint32_t>(4));
  app.steps.push_back(gpu::Launch{"k", {1, 4, 1}, {48, 1, 1}, {gpu::buffer(out)}});
  const gpu::Application recorded = with_times(app);
  EXPECT_EQ(compare_runs(original, app, module, recorded), "");
  const auto run = exec::run_application(module, recorded);
  ASSERT_TRUE(run.ok()) << run.error().to_string();
  for (const BlockTime& t : times(*run, 1)) EXPECT_TRUE(t.start_ns != 0 && t.end_ns >= t.start_ns);
}

TEST(BlockTimes, AFunctionThatEndsThreadsIsRefused) {
  ptx::Module module = parsed(R"(
.version 7.8
.target sm_75
.address_size 64
.func f() { exit; }
.entry k() { call f; ret; }
)");
  const auto added = add_block_times(module, "k");
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().what, "'f' ends threads of the kernel that calls it");
  EXPECT_FALSE(add_block_times(module, "nope").ok());
}

}  // namespace
}  // namespace wm::rewrite
