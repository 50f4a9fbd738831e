// Same run, same events: blocks that begin and leave, and the state that a policy reads after every quantum, are as
// written down in golden_timing.csv.
#include <array>
#include <fmt/format.h>

#include "policy/recorded_policy.h"
#include "sim/cycle/golden_run.h"
#include "sim/cycle/timeline.h"

namespace wm::sim {
namespace {

class EventDigest final : public Observer {
 public:
  void began(const SeenBlock& block, std::uint64_t at, bool resumed) override {
    timeline_.began(block, at, resumed);
    add(block);
    add(at, resumed);
  }
  void left(const SeenBlock& block, std::uint64_t at, Left how) override {
    timeline_.left(block, at, how);
    add(block);
    add(at, how);
    ++left_[static_cast<std::size_t>(how)];
  }
  void quantum(const CycleMachine& machine) override {
    timeline_.quantum(machine);
    add(machine.now().count, machine.epoch_began().count, machine.gated_cycles());
    for (const policy::Kernel& k : machine.kernels())
      add(k.id.index, k.process, k.function, k.launch, k.first_arrived.count, k.arrived.count, k.instructions,
          k.warps_per_block, k.max_blocks_per_sm, k.blocks, k.done, k.resident, k.waiting);
    for (const policy::Sm& sm : machine.sms()) {
      add(sm.state, sm.owner.index, sm.next.index, sm.resident, sm.leaving, sm.free.threads, sm.free.registers,
          sm.free.shared_bytes, sm.free.blocks);
      for (const policy::ResidentKernel& r : machine.residents(sm.id)) {
        const policy::Counters& c = r.counters;
        add(r.resident, r.leaving, r.cap, r.quota, c.thread_instructions, c.warp_instructions, c.idle_warps * 1000,
            c.memory_stall_cycles, c.lsu_blocked_cycles, c.l2_accesses, c.l2_misses, c.dram_bytes);
      }
    }
  }

  void finish(const CycleMachine& machine) {
    timeline_.finish(machine);
    for (const BlockSpan& s : timeline_.blocks()) add(s.row, s.begin, s.end, s.resumed, s.how);
    for (const SmSpan& s : timeline_.sms()) add(s.sm, s.state, s.owner.index, s.begin, s.end);
    for (const Interval& i : timeline_.intervals()) {
      add(i.begin, i.cycles, i.gated);
      for (const KernelInterval& k : i.kernels)
        add(k.sm.thread_instructions, k.sm.requests, k.memory.l2_sectors, k.resident, k.quota.value_or(-1));
    }
  }

  // Blocks that left by each way, and the digest.
  [[nodiscard]] std::string text() const {
    return fmt::format("{} done {} preempted {} dropped {} running,{:016x}", left_[0], left_[1], left_[2], left_[3],
                       hash_);
  }

 private:
  template <typename... Numbers>
  void add(Numbers... numbers) {  // FNV-1a, of words
    ((hash_ = (hash_ ^ static_cast<std::uint64_t>(numbers)) * 0x100000001b3ULL, hash_ ^= hash_ >> 32), ...);
  }
  void add(const SeenBlock& b) { add(b.sm, b.client, b.launch, b.number, b.max_blocks_per_sm); }

  Timeline timeline_{1000};
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
  std::array<std::uint64_t, 4> left_{};
};

constexpr const char* kShort =
    "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r5, [%rd3];\nmad.lo.u32 %r5, %r5, 3, %r1;\n"
    "st.global.u32 [%rd3], %r5;\n";
constexpr const char* kLong =
    ".shared .align 4 .b32 tile[512];\nmov.u32 %r5, %r1;\nmov.u32 %r6, 0;\nLOOP:\nmad.lo.u32 %r5, %r5, 1664525, "
    "1013904223;\n"
    "and.b32 %r7, %r1, 32767;\nmul.wide.u32 %rd2, %r7, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r8, [%rd3];\n"
    "add.u32 %r5, %r5, %r8;\nst.shared.u32 [tile+4], %r5;\nbar.sync 0;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, "
    "12;\n"
    "@%p1 bra LOOP;\nst.global.u32 [%rd3], %r5;\n";

struct EventRun {
  const char* gpu;
  const char* policy;
  std::uint64_t instructions = 0;  // the limit of the first client; 0: none
};
class GoldenEvents : public testing::TestWithParam<EventRun> {};

TEST_P(GoldenEvents, AreAsWrittenDown) {
  const EventRun& run = GetParam();
  const auto machine = *CycleMachine::make(test_gpu(run.gpu), 1, 1);
  ClientSpec first = golden_client("long", kLong, 300, 0), second = golden_client("short", kShort, 150, 3);
  ClientSpec third = golden_client("again", kLong, 40, 2);
  first.goal = 40;
  first.isolated_ipc = 100;
  second.arrive = {900};
  second.priority = 2;
  second.process = 7;
  third.arrive = {2500};
  third.process = 7;
  third.blocks_per_sm = 2;
  for (const ClientSpec* spec : {&first, &second, &third}) ASSERT_TRUE(machine->add(*spec).ok());
  EventDigest events;
  machine->observe(events);
  const auto choice = *policy::choose(run.policy);
  policy::test::RecordedPolicy policy(*machine, choice, "cycle");
  const auto ran = machine->run(policy, {.cycles = 12000, .instructions = {run.instructions, 0, 0}});
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();
  events.finish(*machine);
  expect_golden(fmt::format("events {} {} {}", run.gpu, run.policy, run.instructions), events.text());
}

INSTANTIATE_TEST_SUITE_P(
    Policies, GoldenEvents,
    testing::Values(EventRun{"k20c", "left_over"}, EventRun{"k20c", "left_over", 60'000},
                    EventRun{"k20c", "ppq:preemption=switch"}, EventRun{"k20c", "ppq"},
                    EventRun{"k20c", "dss:preemption=switch"}, EventRun{"qos16", "even"},
                    EventRun{"qos16", "quota:epoch=500"}, EventRun{"qos16", "smk:epoch=700", 90'000},
                    EventRun{"qos16-free-switch", "quota:epoch=500"}, EventRun{"smqos24", "smqos:epoch=800"},
                    EventRun{"smqos24", "spart:preemption=switch"},
                    EventRun{"slicer16", "warped_slicer:warmup=300:sample=300"}, EventRun{"slicer16", "spatial"},
                    EventRun{"slicer16-lrr", "mps"}, EventRun{"v100", "time_slice"}, EventRun{"h200", "fcfs"},
                    EventRun{"a100", "moving_shares"}),
    [](const auto& info) { return fmt::format("Run{}", info.index); });

}  // namespace
}  // namespace wm::sim
