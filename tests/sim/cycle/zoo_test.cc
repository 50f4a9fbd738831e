// Real kernels in time: every benchmark of the zoo ends with the right output, on any number of threads the same run.
#include "kernels/benchmark.h"
#include "sim/cycle/bench_kernel.h"

namespace wm::sim {
namespace {

class Zoo : public ::testing::TestWithParam<std::string> {};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const zoo::Entry& e : zoo::entries()) all.push_back(e.benchmark.name);
  return all;
}

struct Outcome {
  std::uint64_t cycles = 0;
  ClientTotals totals;
};

Outcome run(const zoo::Entry& entry, const zoo::Case& c, const std::string& gpu, const std::string& policy_text,
            std::uint32_t threads) {
  auto machine = CycleMachine::make(test_gpu(gpu), threads, 1);
  ClientSpec spec;
  spec.name = entry.benchmark.name;
  spec.module = std::make_shared<ptx::Module>(*ptx::parse(entry.ptx, entry.benchmark.name));
  spec.application = std::make_shared<gpu::Application>(c.application);
  EXPECT_TRUE((*machine)->add(spec).ok());
  const auto policy = policy::make(*policy::choose(policy_text), (*machine)->cans(), "cycle");
  const auto ran = (*machine)->run(**policy, {});
  EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().to_string());
  const auto buffers = (*machine)->client(0).buffers();
  const auto right =
      zoo::verify(c, [&](gpu::BufferId id) -> const std::vector<std::byte>& { return (*buffers)[id.index]; });
  EXPECT_TRUE(right.ok()) << (right.ok() ? "" : right.error().to_string());
  return {(*machine)->now().count, (*machine)->totals(0)};
}

TEST_P(Zoo, EndsWithTheRightOutputOnOneThreadAndOnTwo) {
  const zoo::Entry& entry = **zoo::find(GetParam());
  const zoo::Case c = entry.benchmark.make(zoo::Size::small);
  const Outcome one = run(entry, c, "qos16", "left_over", 1);
  const Outcome two = run(entry, c, "qos16", "left_over", 2);
  EXPECT_EQ(one.cycles, two.cycles);
  EXPECT_EQ(one.totals.sm.issued, two.totals.sm.issued);
  EXPECT_EQ(one.totals.sm.stalls, two.totals.sm.stalls);
  EXPECT_EQ(one.totals.memory.l2_misses, two.totals.memory.l2_misses);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Zoo, ::testing::ValuesIn(names()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
});

}  // namespace
}  // namespace wm::sim
