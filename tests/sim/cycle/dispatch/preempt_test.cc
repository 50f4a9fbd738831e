// Whatever is done to kernels while they run, they end with the right output: two kernels of the zoo share a small GPU,
// and at random cycles SMs change hands, blocks are switched out, quotas and caps come and go, SMs are switched off.
#include <fmt/format.h>

#include "kernels/benchmark.h"
#include "sim/cycle/bench_kernel.h"

namespace wm::sim {
namespace {

enum class Mechanism { drain, switch_context, switch_some, gate, quota, cap, all };
constexpr std::array kMechanisms{Mechanism::drain, Mechanism::switch_context, Mechanism::switch_some,
                                 Mechanism::gate,  Mechanism::quota,          Mechanism::cap,
                                 Mechanism::all};
constexpr std::array kNames{"drain", "switch_context", "switch_some", "gate", "quota", "cap", "all"};

// Does one thing at a time, at random, a hundred times; then lets go.
class Unrest final : public policy::Policy {
 public:
  Unrest(Mechanism mechanism, std::uint32_t pause) : mechanism_(mechanism), pause_(pause) {}

  void on(const policy::Started&, policy::Machine& gpu) override { wake(gpu); }
  void on(const policy::Wake&, policy::Machine& gpu) override {
    if (--left_ == 0) return let_go(gpu);
    if (!gpu.kernels().empty()) {
      Mechanism what = mechanism_;
      if (what == Mechanism::all) what = kMechanisms[gpu.random().below(6)];
      const auto kernels = gpu.kernels();
      act(what, {gpu.random().below(static_cast<std::uint32_t>(gpu.sms().size()))},
          kernels[gpu.random().below(static_cast<std::uint32_t>(kernels.size()))].id, gpu);
    }
    wake(gpu);
  }

 private:
  void wake(policy::Machine& gpu) const { gpu.wake_at(gpu.now() + Cycles{1 + gpu.random().below(pause_)}, 0); }

  static void act(Mechanism what, policy::SmId sm, policy::KernelId kernel, policy::Machine& gpu) {
    Random& random = gpu.random();
    const bool back = random.below(4) == 0;
    switch (what) {
      case Mechanism::drain:
      case Mechanism::switch_context:
        if (back) return gpu.share(sm);
        return gpu.give(sm, kernel,
                        what == Mechanism::drain ? policy::Preempt::drain : policy::Preempt::switch_context);
      case Mechanism::switch_some:
        return gpu.preempt(sm, kernel, 1 + random.below(3));
      case Mechanism::gate:
        return policy::powered(gpu.sms()[sm.index]) ? gpu.gate(sm) : gpu.share(sm);
      case Mechanism::quota:
        return back ? gpu.add_quota(sm, kernel, 1000) : gpu.set_quota(sm, kernel, random.below(3) * 1000);
      default:
        return gpu.cap(sm, kernel, back ? policy::kNoCap : random.below(3));
    }
  }

  static void let_go(policy::Machine& gpu) {
    for (const policy::Sm& sm : gpu.sms()) {
      gpu.share(sm.id);
      for (std::uint32_t k = 0; k < gpu.residents(sm.id).size(); ++k) {
        gpu.cap(sm.id, {k}, policy::kNoCap);
        gpu.set_quota(sm.id, {k}, policy::kNoQuota);
      }
    }
  }

  Mechanism mechanism_;
  std::uint32_t pause_;
  int left_ = 100;
};

struct Pair {
  const char* a;
  const char* b;
};
// Barriers and shared memory, divergence and atomics, long and short blocks, launches that follow each other.
constexpr std::array kPairs{Pair{"histo", "bfs"}, Pair{"mergesort", "hotspot"}, Pair{"pathfinder", "atomics"},
                            Pair{"sgemm", "blackscholes"}, Pair{"cutcp", "dxt"}};

class Preemption : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {};

TEST_P(Preemption, LeavesTheOutputRight) {
  const auto [mechanism, pair] = GetParam();
  gpu::GpuConfig config = test_gpu("qos16");
  config.sm.count = 3;
  auto machine = CycleMachine::make(config, 1, 7 * mechanism + pair);
  std::vector<zoo::Case> cases;
  std::vector<std::uint64_t> blocks;
  for (const char* name : {kPairs[pair].a, kPairs[pair].b}) {
    const zoo::Entry& entry = **zoo::find(name);
    zoo::Case& c = cases.emplace_back(entry.benchmark.make(zoo::Size::small));
    if (c.reference) c.reference(c);
    std::uint64_t sum = 0;
    for (const gpu::Step& s : c.application.steps)
      if (const auto* launch = std::get_if<gpu::Launch>(&s)) sum += launch->grid.count();
    blocks.push_back(sum);
    ClientSpec spec;
    spec.name = name;
    spec.module = std::make_shared<ptx::Module>(*ptx::parse(entry.ptx, name));
    spec.application = std::make_shared<gpu::Application>(c.application);
    ASSERT_TRUE((*machine)->add(spec).ok());
  }
  Unrest policy(kMechanisms[mechanism], 700);
  const auto ran = (*machine)->run(policy, {});
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();

  std::uint64_t preempted = 0;
  for (std::uint32_t i = 0; i < 2; ++i) {
    const auto buffers = (*machine)->client(i).buffers();
    const auto right =
        zoo::verify(cases[i], [&](gpu::BufferId id) -> const std::vector<std::byte>& { return (*buffers)[id.index]; });
    EXPECT_TRUE(right.ok()) << (right.ok() ? "" : right.error().to_string());
    EXPECT_EQ((*machine)->totals(i).blocks, blocks[i]);
    preempted += (*machine)->totals(i).preemptions;
  }
  const Mechanism what = kMechanisms[mechanism];
  const bool switches = what == Mechanism::switch_context || what == Mechanism::switch_some || what == Mechanism::all;
  EXPECT_EQ(preempted != 0, switches);
}

INSTANTIATE_TEST_SUITE_P(Each, Preemption,
                         ::testing::Combine(::testing::Range<std::size_t>(0, kMechanisms.size()),
                                            ::testing::Range<std::size_t>(0, kPairs.size())),
                         [](const auto& info) {
                           const Pair& p = kPairs[std::get<1>(info.param)];
                           return fmt::format("{}_{}_{}", kNames[std::get<0>(info.param)], p.a, p.b);
                         });

}  // namespace
}  // namespace wm::sim
