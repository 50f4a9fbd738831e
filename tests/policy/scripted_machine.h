// A machine whose state a test writes by hand and whose events a test sends: for the rules of a policy, one at a time.
#pragma once

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "policy/machine.h"

namespace wm::policy::test {

// Nothing runs: residents change only when the test says so. Actions are kept as text.
class ScriptedMachine final : public Machine {
 public:
  explicit ScriptedMachine(std::uint32_t sms) {
    for (std::uint32_t i = 0; i < sms; ++i) sms_.push_back({.id = {i}, .index = i, .free = limits_.total});
    on_.resize(sms);
  }

  Kernel& add(double goal, gpu::Resources footprint = {128, 2048, 0, 1}) {
    Kernel k;
    k.id = {static_cast<std::uint32_t>(on_.front().size())};
    k.goal = goal;
    k.warps_per_block = footprint.threads / 32;
    k.footprint = footprint;
    k.max_blocks_per_sm = gpu::fit(footprint, limits_.total);
    k.waiting = k.blocks = 1000;
    kernels_.push_back(k);
    for (auto& residents : on_) residents.emplace_back();
    return kernels_.back();
  }

  // Every kernel has the blocks that its caps allow.
  void settle() {
    for (std::uint32_t sm = 0; sm < sms_.size(); ++sm)
      for (const Kernel& k : kernels_) on_[sm][k.id.index].resident = on_[sm][k.id.index].cap;
    count();
    taken_actions();
  }
  void place(SmId sm, KernelId k, std::uint32_t blocks) {
    on_[sm.index][k.index].resident = blocks;
    count();
  }
  void count() {
    for (Kernel& k : kernels_) k.resident = 0;
    for (Sm& sm : sms_) {
      sm.free = limits_.total;
      sm.resident = 0;
      for (Kernel& k : kernels_) {
        const std::uint32_t here = on_[sm.index][k.id.index].resident;
        sm.free = gpu::less(sm.free, k.footprint, here);
        sm.resident += here;
        k.resident += here;
      }
    }
  }
  Kernel& kernel(KernelId k) {
    return *std::find_if(kernels_.begin(), kernels_.end(), [k](const Kernel& other) { return other.id == k; });
  }
  Sm& sm(std::uint32_t i) { return sms_[i]; }
  ResidentKernel& on(std::uint32_t sm, KernelId k) { return on_[sm][k.index]; }
  void list_backwards() { std::reverse(kernels_.begin(), kernels_.end()); }
  void set_now(std::uint64_t cycles) { now_ = {cycles}; }
  void remove(KernelId id) {
    std::erase_if(kernels_, [id](const Kernel& k) { return k.id == id; });
    for (auto& residents : on_) residents[id.index].resident = 0;
  }
  void list(const Kernel& k) { kernels_.push_back(k); }
  std::vector<std::uint64_t> taken_wakes() { return std::exchange(wakes_, {}); }
  void set_cans(Cans cans) { cans_ = cans; }
  std::string taken_actions() { return std::exchange(actions_, {}); }
  std::string owners() const {
    std::string text;
    for (const Sm& sm : sms_) text += sm.owner == kNoKernel ? '-' : static_cast<char>('a' + sm.owner.index);
    return text;
  }
  std::string caps(KernelId k) const {
    std::string text;
    for (const auto& residents : on_) text += fmt::format("{} ", residents[k.index].cap);
    return text;
  }

  [[nodiscard]] Cans cans() const override { return cans_; }
  [[nodiscard]] Cycles now() const override { return now_; }
  [[nodiscard]] const gpu::SmLimits& limits() const override { return limits_; }
  [[nodiscard]] std::span<const Sm> sms() const override { return sms_; }
  [[nodiscard]] std::span<const Kernel> kernels() const override { return kernels_; }
  [[nodiscard]] std::span<const ResidentKernel> residents(SmId sm) const override { return on_[sm.index]; }
  [[nodiscard]] Cycles epoch_began() const override { return {0}; }
  Random& random() override { return random_; }
  void give(SmId sm, KernelId k, Preempt) override { sms_[sm.index].owner = k; }
  void share(SmId) override {}
  void cap(SmId sm, KernelId k, std::uint32_t blocks) override {
    on_[sm.index][k.index].cap = blocks;
    actions_ += fmt::format("cap sm {} k{} at {}; ", sm.index, k.index, blocks);
  }
  void preempt(SmId sm, KernelId k, std::uint32_t blocks) override {
    actions_ += fmt::format("preempt sm {} k{} {}; ", sm.index, k.index, blocks);
  }
  void set_quota(SmId, KernelId, std::int64_t) override {}
  void add_quota(SmId, KernelId, std::int64_t) override {}
  void gate(SmId) override {}
  void order(std::span<const KernelId>) override {}
  void set_epoch(Cycles) override {}
  void wake_at(Cycles when, std::uint64_t) override { wakes_.push_back(when.count); }

 private:
  gpu::SmLimits limits_ = {.total = {.threads = 2048, .registers = 65536, .shared_bytes = 98304, .blocks = 32}};
  std::vector<Sm> sms_;
  std::vector<Kernel> kernels_;
  std::vector<std::vector<ResidentKernel>> on_;
  Cans cans_ = Cans::all();
  Cycles now_{1000};
  std::vector<std::uint64_t> wakes_;
  Random random_{1};
  std::string actions_;
};

}  // namespace wm::policy::test
