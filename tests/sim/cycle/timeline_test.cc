// The promises of a timeline: it changes nothing, misses nothing, and its parts add up to the run.
#include "sim/cycle/timeline.h"

#include <algorithm>
#include <map>

#include "kernels/benchmark.h"
#include "sim/cycle/bench_kernel.h"

namespace wm::sim {
namespace {

ClientSpec client(const std::string& name, int priority, std::uint64_t arrive) {
  const zoo::Entry& entry = **zoo::find(name);
  ClientSpec spec;
  spec.name = name;
  spec.module = std::make_shared<ptx::Module>(*ptx::parse(entry.ptx, name));
  spec.application = std::make_shared<gpu::Application>(entry.benchmark.make(zoo::Size::small).application);
  spec.priority = priority;
  spec.arrive = Cycles{arrive};
  return spec;
}

// lbm is under way when a more important kernel comes and takes its SMs by context switch.
struct Watched {
  explicit Watched(Timeline* timeline, const std::string& policy_text = "ppq:preemption=switch")
      : machine(*CycleMachine::make(test_gpu("qos16"), 1, 1)) {
    EXPECT_TRUE(machine->add(client("lbm", 0, 0)).ok());
    EXPECT_TRUE(machine->add(client("mri-q", 1, 4000)).ok());
    if (timeline != nullptr) machine->observe(*timeline);
    const auto policy = policy::make(*policy::choose(policy_text), machine->cans(), "cycle");
    const auto ran = machine->run(**policy, {});
    EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().to_string());
    if (timeline != nullptr) timeline->finish(*machine);
  }
  std::unique_ptr<CycleMachine> machine;
};

std::size_t count(const Timeline& t, std::uint32_t client, Left how) {
  return static_cast<std::size_t>(std::count_if(t.blocks().begin(), t.blocks().end(), [&](const BlockSpan& s) {
    return s.block.client == client && s.how == how;
  }));
}

TEST(Timeline, ABlockTakesTheFirstFreeRowUntilItLeaves) {
  Timeline t(100);
  const auto block = [](std::uint64_t number) {
    return SeenBlock{.sm = 1, .client = 0, .launch = 2, .number = number, .max_blocks_per_sm = 3};
  };
  for (const std::uint64_t number : {0U, 1U, 2U}) t.began(block(number), 10 + number, false);
  t.left(block(1), 20, Left::preempted);
  t.began(block(3), 25, false);
  t.began(block(1), 30, true);
  t.left(block(9), 31, Left::done);  // not known: ignored
  t.left(block(1), 28, Left::done);  // reported with a time before its context came back
  t.left(block(0), 40, Left::dropped);
  t.finish(50, {});
  using Row = std::tuple<std::uint64_t, std::uint32_t, std::uint64_t, std::uint64_t, bool, Left>;
  std::vector<Row> got;
  for (const BlockSpan& s : t.blocks()) got.emplace_back(s.block.number, s.row, s.begin, s.end, s.resumed, s.how);
  EXPECT_EQ(got, (std::vector<Row>{{1, 1, 11, 20, false, Left::preempted},
                                   {1, 3, 30, 30, true, Left::done},
                                   {0, 0, 10, 40, false, Left::dropped},
                                   {2, 2, 12, 50, false, Left::running},
                                   {3, 1, 25, 50, false, Left::running}}));
}

TEST(Timeline, WatchingChangesNothing) {
  Timeline timeline(1000);
  const Watched seen(&timeline);
  const Watched unseen(nullptr);
  EXPECT_EQ(seen.machine->now(), unseen.machine->now());
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(seen.machine->totals(i).sm.stalls, unseen.machine->totals(i).sm.stalls);
    EXPECT_EQ(seen.machine->totals(i).memory.l2_misses, unseen.machine->totals(i).memory.l2_misses);
  }
}

TEST(Timeline, EveryBlockEndsOnceAndAPreemptedOneComesAgain) {
  Timeline timeline(1000);
  const Watched run(&timeline);
  for (std::uint32_t i = 0; i < 2; ++i) EXPECT_EQ(count(timeline, i, Left::done), run.machine->totals(i).blocks);
  const std::size_t preempted = count(timeline, 0, Left::preempted);
  EXPECT_GT(preempted, 0U);
  EXPECT_EQ(preempted, run.machine->totals(0).preemptions);
  const auto resumed =
      std::count_if(timeline.blocks().begin(), timeline.blocks().end(), [](const BlockSpan& s) { return s.resumed; });
  EXPECT_EQ(static_cast<std::size_t>(resumed), preempted);
}

TEST(Timeline, NoTwoBlocksShareALane) {
  Timeline timeline(1000);
  const Watched run(&timeline);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::pair<std::uint64_t, std::uint64_t>>> rows;
  for (const BlockSpan& s : timeline.blocks()) {
    EXPECT_LE(s.begin, s.end);
    EXPECT_LE(s.end, timeline.cycles());
    rows[{s.block.sm, s.row}].emplace_back(s.begin, s.end);
  }
  for (auto& [place, spans] : rows) {
    std::sort(spans.begin(), spans.end());
    for (std::size_t i = 1; i < spans.size(); ++i) EXPECT_LE(spans[i - 1].second, spans[i].first);
  }
}

TEST(Timeline, IntervalsAddUpToTheRun) {
  Timeline timeline(1000);
  const Watched run(&timeline);
  std::uint64_t cycles = 0;
  std::vector<std::uint64_t> instructions(2);
  std::vector<std::uint64_t> sectors(2);
  for (const Interval& i : timeline.intervals()) {
    EXPECT_EQ(i.begin, cycles);
    cycles += i.cycles;
    for (std::size_t k = 0; k < 2; ++k) {
      instructions[k] += i.kernels[k].sm.thread_instructions;
      sectors[k] += i.kernels[k].memory.dram_read_sectors;
      EXPECT_FALSE(i.kernels[k].quota) << "ppq gives none";
    }
  }
  EXPECT_EQ(cycles, timeline.cycles());
  EXPECT_GE(timeline.intervals().size(), timeline.cycles() / 1100);
  for (std::uint32_t k = 0; k < 2; ++k) {
    EXPECT_EQ(instructions[k], run.machine->totals(k).sm.thread_instructions);
    EXPECT_EQ(sectors[k], run.machine->totals(k).memory.dram_read_sectors);
  }
}

TEST(Timeline, AnSmIsAlwaysInOneState) {
  Timeline timeline(1000);
  const Watched run(&timeline);
  std::map<std::uint32_t, std::uint64_t> end;
  bool owned = false;
  for (const SmSpan& s : timeline.sms()) {
    EXPECT_EQ(s.begin, end[s.sm]);
    end[s.sm] = s.end;
    owned = owned || s.owner == policy::KernelId{1};
  }
  EXPECT_EQ(end.size(), 16U);
  for (const auto& [sm, at] : end) EXPECT_EQ(at, timeline.cycles());
  EXPECT_TRUE(owned) << "the kernel that came later never owned an SM";
}

TEST(Timeline, QuotasAreSeen) {
  Timeline timeline(1000);
  const Watched run(&timeline, "smk");
  EXPECT_TRUE(std::any_of(timeline.intervals().begin(), timeline.intervals().end(),
                          [](const Interval& i) { return i.kernels[0].quota.has_value(); }));
}

}  // namespace
}  // namespace wm::sim
