// A machine for unit tests: blocks progress at a rate given by how many of their kernel are on the SM, and nothing
// else.
//
// It has every capability unless told otherwise. Time moves in steps; between steps events go to the policy and blocks
// are dispatched, as machine.h says. Tests may also play the hardware by hand: `spend` instructions, `end_epoch`.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/record.h"
#include "policy/registry.h"

namespace wm::policy::test {

struct FakeKernel {
  std::string name = "a";
  std::uint32_t blocks = 64;
  gpu::BlockDemand block = {.threads = 128, .registers_per_thread = 16, .shared_bytes = 0};
  std::uint64_t block_instructions = 100'000;
  // Thread instructions a cycle on one SM with 1, 2, … blocks there, the last for all above. Empty: 32 a block.
  std::vector<double> ipc = {};
  double max_ipc = 0;  // over the whole GPU, as where memory is the limit; 0: none
  double goal = 0;
  double isolated_ipc = 0;
  std::uint32_t process = ~0U;  // ~0: one of its own
  int priority = 0;
  double share = 1;
  std::uint32_t launches = 1;                       // 0: again and again
  std::optional<gpu::BlockDemand> next_block = {};  // launches after the first are of a function with such blocks
  bool alternates = false;                          // its launches are of two functions in turn
  double idle_warps = 0;                            // result of sampling on each SM
  double memory_stalls = 0;                         // share of cycles
  double lsu_blocked = 0;                           // the same
  double dram_bytes = 0;                            // bytes per thread instruction
};

struct FakeSpec {
  std::uint32_t sms = 4;
  gpu::SmLimits limits = {.total = {.threads = 2048, .registers = 65536, .shared_bytes = 98304, .blocks = 32}};
  double sm_ipc = 1e9;  // thread instructions a cycle an SM can issue, for all its kernels together
  Cycles step = {100};
  Cycles switch_time = {500};
  Cycles wake_time = {1000};
  Cans cans = Cans::all();
  std::uint64_t seed = 1;
  double dram_bytes_per_cycle = 0;
};

class FakeMachine final : public Machine {
 public:
  explicit FakeMachine(FakeSpec spec = {});

  // Starts a policy, written as a user would; the test fails where it cannot.
  void start(const std::string& policy);
  void start(const Choice& choice);
  KernelId arrive(FakeKernel kernel);
  void arrive_together(std::vector<FakeKernel> kernels);  // in one instant
  void run(Cycles length);
  void run_until_done(Cycles at_most);
  // Counters that the hardware would report, set by hand.
  void spend(SmId sm, KernelId kernel, std::int64_t instructions);
  void end_epoch();
  void pass(Cycles time) { now_ += time; }  // without progress
  void become(KernelId kernel, std::vector<double> ipc) { clients_[kernel.index].spec.ipc = std::move(ipc); }
  void finish(KernelId kernel);    // all its blocks end now, and no launch follows
  void relaunch(KernelId kernel);  // one more launch of a kernel that has finished
  void after_each_step(std::function<void(const FakeMachine&)> check) { check_ = std::move(check); }

  // One letter an SM: the heir's name, '.' shared, '-' off.
  [[nodiscard]] std::string owners() const;
  // The caps of a kernel over the SMs: "3333", '*' for none.
  [[nodiscard]] std::string caps(KernelId kernel) const;
  [[nodiscard]] std::uint32_t resident(SmId sm, KernelId kernel) const {
    return residents_[sm.index][kernel.index].resident;
  }
  [[nodiscard]] std::uint64_t blocks_done(KernelId kernel) const { return clients_[kernel.index].blocks_done; }
  [[nodiscard]] std::uint64_t instructions(KernelId kernel) const { return clients_[kernel.index].instructions; }
  [[nodiscard]] double ipc(KernelId kernel) const;
  [[nodiscard]] bool all_done() const { return kernels_.empty(); }
  [[nodiscard]] const Recorder& recorder() const { return *recorder_; }
  [[nodiscard]] Policy& policy() { return *policy_; }

  [[nodiscard]] Cans cans() const override { return spec_.cans; }
  [[nodiscard]] Cycles now() const override { return now_; }
  [[nodiscard]] const gpu::SmLimits& limits() const override { return spec_.limits; }
  [[nodiscard]] std::span<const Sm> sms() const override { return sms_; }
  [[nodiscard]] std::span<const Kernel> kernels() const override { return kernels_; }
  [[nodiscard]] std::span<const ResidentKernel> residents(SmId sm) const override { return residents_[sm.index]; }
  [[nodiscard]] Cycles epoch_began() const override { return epoch_began_; }
  [[nodiscard]] double dram_bytes_per_cycle() const override { return spec_.dram_bytes_per_cycle; }
  Random& random() override { return random_; }
  void give(SmId sm, KernelId kernel, Preempt how) override;
  void share(SmId sm) override;
  void cap(SmId sm, KernelId kernel, std::uint32_t blocks) override { residents_[sm.index][kernel.index].cap = blocks; }
  void preempt(SmId sm, KernelId kernel, std::uint32_t blocks) override;
  void set_quota(SmId sm, KernelId kernel, std::int64_t quota) override {
    residents_[sm.index][kernel.index].quota = quota;
  }
  void add_quota(SmId sm, KernelId kernel, std::int64_t quota) override;
  void gate(SmId sm) override;
  void order(std::span<const KernelId> first) override { order_.assign(first.begin(), first.end()); }
  void set_epoch(Cycles length) override;
  void wake_at(Cycles when, std::uint64_t tag) override;

 private:
  struct Block {
    std::int64_t left = 0;   // instructions
    Cycles leaves = kNever;  // when its context has been saved
    bool asked = false;      // by preempt(), which ends with Preempted
  };
  struct Client {
    FakeKernel spec;
    Kernel view;
    std::uint32_t launches = 0;
    std::uint64_t instructions = 0;
    std::uint64_t blocks_done = 0;
    std::vector<Block> preempted;
  };
  struct Timer {
    Cycles when;
    std::uint64_t tag = 0;
  };

  template <typename Event>
  void post(const Event& event);
  void settle();  // events to the policy, blocks to the SMs, until both are quiet
  void deliver();
  void launch(KernelId kernel);
  void dispatch();
  bool start_block(SmId sm, KernelId kernel);
  void remove_block(SmId sm, KernelId kernel, std::size_t at);
  void end_block(SmId sm, KernelId kernel, std::size_t at);
  void check_reserved(SmId sm);
  void switch_out(SmId sm, KernelId kernel, std::uint32_t count, bool asked);
  void step();
  void progress();
  [[nodiscard]] double rate(SmId sm, KernelId kernel) const;
  void advance(SmId sm, KernelId kernel, std::int64_t instructions);
  Kernel* view(KernelId kernel);
  std::vector<KernelId> dispatch_order() const;
  void begin_epoch();

  FakeSpec spec_;
  Cycles now_;
  Random random_;
  std::vector<Sm> sms_;
  std::vector<Kernel> kernels_;
  std::vector<std::vector<ResidentKernel>> residents_;
  std::vector<std::vector<std::vector<Block>>> blocks_;  // by SM and kernel
  std::vector<Client> clients_;
  std::vector<bool> idle_told_;
  std::vector<Cycles> wakes_up_;  // by SM
  std::vector<KernelId> order_;
  std::vector<Timer> wakes_;
  Cycles epoch_began_;
  Cycles epoch_length_;
  std::deque<std::function<void()>> events_;
  bool kernel_set_changed_ = false;
  std::function<void(const FakeMachine&)> check_;
  std::unique_ptr<Policy> policy_;
  std::unique_ptr<Recorder> recorder_;
};

// One thing that happens in a scenario.
using Happening = std::function<void(FakeMachine&)>;
inline Happening arrive(FakeKernel kernel) {
  return [kernel](FakeMachine& gpu) { gpu.arrive(kernel); };
}
inline Happening arrive(const char* name) { return arrive(FakeKernel{.name = name}); }
inline Happening arrive_together(std::vector<FakeKernel> kernels) {
  return [kernels](FakeMachine& gpu) { gpu.arrive_together(kernels); };
}
inline Happening run(std::uint64_t cycles) {
  return [cycles](FakeMachine& gpu) { gpu.run({cycles}); };
}
inline Happening done(std::uint32_t kernel) {
  return [kernel](FakeMachine& gpu) { gpu.finish({kernel}); };
}
inline void drive(FakeMachine& gpu, const std::string& policy, const std::vector<Happening>& story) {
  gpu.start(policy);
  for (const Happening& h : story) h(gpu);
}

}  // namespace wm::policy::test
