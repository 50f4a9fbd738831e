// The promises of every policy on every machine. A test program for a machine includes this, writes a Rig and
// instantiates the suite:
//
//   INSTANTIATE_TEST_SUITE_P(Fake, PolicyContract, every_policy_on(&make_fake_rig), contract_name);
//   INSTANTIATE_TEST_SUITE_P(Fake, PreemptionContract, preempting_policies_on(&make_fake_rig), contract_name);
//
// Every policy is tried with its defaults and with each option of its choices.
#pragma once

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "policy/fake_machine.h"
#include "policy/registry.h"

namespace wm::policy::test {

// A machine under test with a policy on it. Kernels are described as for the fake; another machine makes them from its
// own means (synthetic kernels of as many instructions, say).
class Rig {
 public:
  virtual ~Rig() = default;
  virtual void start(const std::string& policy) = 0;
  virtual void arrive(const std::vector<FakeKernel>& kernels) = 0;
  // Runs on, and calls `check` wherever the machine's views are consistent, at least once every few hundred cycles.
  virtual void run(Cycles length, const std::function<void(const Machine&)>& check) = 0;
  [[nodiscard]] virtual const Machine& machine() const = 0;
  [[nodiscard]] virtual std::uint64_t blocks_done(KernelId kernel) const = 0;
  [[nodiscard]] virtual std::string log() const = 0;
  // Events told and actions taken so far.
  [[nodiscard]] virtual std::size_t happened() const = 0;
};
using MakeRig = std::unique_ptr<Rig> (*)(std::uint32_t sms);

struct Contract {
  MakeRig make;
  std::string policy;  // with parameters

  friend void PrintTo(const Contract& contract, std::ostream* out) { *out << contract.policy; }
};

inline std::vector<Contract> contracts(MakeRig make) {
  std::vector<Contract> all;
  for (const Entry& e : entries()) {
    all.push_back({make, std::string(e.info.name)});
    for (const Parameter& p : e.info.parameters) {
      for (std::size_t i = 1; i < p.options.size(); ++i) {
        all.push_back(
            {make, std::string(e.info.name) + ":" + std::string(p.name) + "=" + std::string(p.options[i].name)});
      }
    }
  }
  return all;
}
// The policies under which a kernel of higher priority preempts others at once.
// Policies that preempt, of which the machine has the mechanism.
inline auto preempting_policies_on(MakeRig make, Cans cans = Cans::all()) {
  std::vector<Contract> some;
  for (const Contract& c : contracts(make))
    if (c.policy.starts_with("ppq") && fits(*choose(c.policy), cans, "machine").ok()) some.push_back(c);
  return testing::ValuesIn(some);
}
inline auto every_policy_on(MakeRig make) { return testing::ValuesIn(contracts(make)); }
// Those whose needs a machine with these capabilities meets.
inline auto every_policy_on(MakeRig make, Cans cans) {
  std::vector<Contract> some;
  for (const Contract& c : contracts(make))
    if (fits(*choose(c.policy), cans, "machine").ok()) some.push_back(c);
  return testing::ValuesIn(some);
}
inline std::string contract_name(const testing::TestParamInfo<Contract>& info) {
  std::string name = info.param.policy;
  for (char& c : name) c = c == ':' || c == '=' ? '_' : c;
  return name;
}

// Rules that hold between any two moments close together, whatever the policy does.
class Invariants {
 public:
  // `happened`: events and actions so far. Where there was none since the last check, no quota was given either.
  void check(const Machine& gpu, std::size_t happened) {
    quiet_ = happened == happened_;
    happened_ = happened;
    for (const Sm& sm : gpu.sms()) {
      std::uint32_t resident = 0;
      gpu::Resources used;
      for (const Kernel& k : gpu.kernels()) {
        const ResidentKernel& on_sm = gpu.residents(sm.id)[k.id.index];
        resident += on_sm.resident;
        used = {used.threads + k.footprint.threads * on_sm.resident,
                used.registers + k.footprint.registers * on_sm.resident,
                used.shared_bytes + k.footprint.shared_bytes * on_sm.resident, used.blocks + on_sm.resident};
        check_resident(gpu, sm, k, on_sm);
      }
      const gpu::Resources& total = gpu.limits().total;
      ASSERT_EQ(resident, sm.resident) << "SM " << sm.index << " holds blocks of no active kernel";
      ASSERT_EQ(used.threads + sm.free.threads, total.threads);
      ASSERT_EQ(used.registers + sm.free.registers, total.registers);
      ASSERT_EQ(used.shared_bytes + sm.free.shared_bytes, total.shared_bytes);
      ASSERT_EQ(used.blocks + sm.free.blocks, total.blocks);
      ASSERT_TRUE(sm.state != Sm::State::off || sm.resident == 0) << "SM " << sm.index << " is off";
    }
    for (const Kernel& k : gpu.kernels()) {
      ASSERT_EQ(k.done + k.resident + k.waiting, k.blocks) << "a block of kernel " << k.id.index << " is lost";
    }
    remember(gpu);
  }

 private:
  void check_resident(const Machine& gpu, const Sm& sm, const Kernel& k, const ResidentKernel& now) const {
    if (before_.empty() || before_[sm.index].residents.size() <= k.id.index) return;
    const Before& was = before_[sm.index];
    const ResidentKernel& then = was.residents[k.id.index];
    const std::uint32_t cap = std::max(then.cap, now.cap);
    ASSERT_LE(now.resident, std::max(then.resident, cap))
        << "k" << k.id.index << " started blocks above its cap on SM " << sm.index << " at " << gpu.now().count;
    const bool others = was.sm.state == Sm::State::on && sm.state == Sm::State::on && was.sm.owner == sm.owner &&
                        sm.owner != kNoKernel && sm.owner != k.id;
    ASSERT_TRUE(!others || now.resident <= then.resident) << "a block started on another's SM";
    if (quiet_ && then.quota <= 0) {
      ASSERT_EQ(now.counters.thread_instructions, then.counters.thread_instructions)
          << "k" << k.id.index << " executed without a quota on SM " << sm.index << " at " << gpu.now().count
          << ", quota " << now.quota;
    }
  }

  void remember(const Machine& gpu) {
    before_.clear();
    for (const Sm& sm : gpu.sms()) {
      const auto residents = gpu.residents(sm.id);
      before_.push_back({sm, {residents.begin(), residents.end()}});
    }
  }

  struct Before {
    Sm sm;
    std::vector<ResidentKernel> residents;
  };
  std::vector<Before> before_;
  std::size_t happened_ = 0;
  bool quiet_ = false;
};

class PolicyContract : public testing::TestWithParam<Contract> {
 protected:
  std::unique_ptr<Rig> rig(std::uint32_t sms = 4) {
    auto made = GetParam().make(sms);
    made->start(GetParam().policy);
    return made;
  }
  void run(Rig& rig, std::uint64_t cycles) {
    rig.run({cycles}, [&](const Machine& gpu) { invariants_.check(gpu, rig.happened()); });
  }
  void run_until_done(Rig& rig, std::uint64_t at_most) {
    for (std::uint64_t t = 0; t < at_most && !rig.machine().kernels().empty(); t += 10'000) run(rig, 10'000);
  }
  static Waits waits() {
    return find(GetParam().policy.substr(0, GetParam().policy.find(':'))).operator*()->info.waits;
  }

  // Three kernels that differ in everything a policy looks at.
  static FakeKernel service() {
    return {.name = "s",
            .blocks = 90,
            .block = {256, 32, 8192},
            .block_instructions = 200'000,
            .ipc = {40, 75, 100, 110},
            .goal = 200,
            .isolated_ipc = 420,
            .priority = 2,
            .launches = 3};
  }
  static FakeKernel batch() {
    return {.name = "b",
            .blocks = 300,
            .block = {128, 40, 0},
            .block_instructions = 90'000,
            .ipc = {30, 55, 70, 75, 75, 60},
            .isolated_ipc = 280,
            .launches = 2,
            .idle_warps = 3,
            .memory_stalls = 0.5};
  }
  static FakeKernel small() {
    return {.name = "t",
            .blocks = 5,
            .block = {64, 16, 1024},
            .block_instructions = 30'000,
            .isolated_ipc = 100,
            .priority = 1};
  }

  Invariants invariants_;
};

TEST_P(PolicyContract, NoBlockIsLost) {
  auto r = rig();
  r->arrive({service(), batch()});
  run(*r, 30'000);
  r->arrive({small()});
  run_until_done(*r, 20'000'000);
  EXPECT_TRUE(r->machine().kernels().empty()) << "kernels did not end";
  EXPECT_EQ(r->blocks_done({0}), 3U * 90);
  EXPECT_EQ(r->blocks_done({1}), 2U * 300);
  EXPECT_EQ(r->blocks_done({2}), 5U);
}

TEST_P(PolicyContract, NoKernelStarvesLongerThanStated) {
  auto r = rig();
  FakeKernel first = batch();
  first.priority = 1;
  first.blocks = waits() == Waits::for_blocks ? 1'000'000 : 1'000;  // a policy that waits for it must see it end
  FakeKernel second = small();
  second.block = {256, 32, 0};  // does not fit beside the first kernel
  second.priority = 0;
  r->arrive({first});
  run(*r, 50'000);
  r->arrive({second});
  for (int i = 0; i < 300 && r->blocks_done({1}) < 5; ++i) run(*r, 10'000);
  EXPECT_EQ(r->blocks_done({1}), 5U);
}

TEST_P(PolicyContract, SameEventsSameDecisions) {
  std::string logs[2];
  for (std::string& log : logs) {
    invariants_ = {};
    auto r = rig(6);
    r->arrive({service(), batch()});
    run(*r, 120'000);
    r->arrive({small()});
    run(*r, 120'000);
    log = r->log();
  }
  EXPECT_FALSE(logs[0].empty());
  EXPECT_EQ(logs[0], logs[1]);
}

class PreemptionContract : public PolicyContract {};

// How long an urgent kernel waits for blocks in its way is bounded by the mechanism: by the rest of a block where they
// drain, and where contexts are switched by the time of a switch, however long blocks are. The first urgent kernel
// meets blocks that run; those after it come while blocks of the other kernel are on their way back to the SMs.
TEST_P(PreemptionContract, PreemptionTakesABoundedTime) {
  const bool switches = GetParam().policy.find("preemption=switch") != std::string::npos;
  auto r = rig();
  FakeKernel first = batch();
  first.priority = 0;
  first.blocks = 100'000;  // without preemption the urgent kernel would wait for longer than the test does
  first.block_instructions *= switches ? 40 : 1;
  FakeKernel urgent = small();
  urgent.block = {256, 32, 0};
  urgent.priority = 1;
  r->arrive({first});
  run(*r, 20'000);
  std::uint64_t bound = 0;  // twice the time of the first one, and a margin
  std::uint32_t number = 1;
  for (const std::uint64_t pause : {0, 0, 500, 1'000, 2'000, 4'000}) {
    run(*r, pause);
    r->arrive({urgent});
    const std::uint64_t begin = r->machine().now().count;
    const auto took = [&] { return r->machine().now().count - begin; };
    while (r->blocks_done({number}) < urgent.blocks && took() < 2'000'000 && (bound == 0 || took() <= bound))
      run(*r, 500);
    ASSERT_EQ(r->blocks_done({number}), urgent.blocks)
        << "arrived " << pause << " cycles after the end of the last one";
    if (bound == 0) bound = 2 * took() + 5'000;
    ++number;
  }
}

TEST_P(PolicyContract, AnIsolatedKernelGetsEverySm) {
  auto r = rig();
  FakeKernel only = batch();
  only.launches = 0;
  r->arrive({only});
  run(*r, 60'000);
  for (const Sm& sm : r->machine().sms()) EXPECT_GT(sm.resident, 0U) << "SM " << sm.index;
}

}  // namespace wm::policy::test
