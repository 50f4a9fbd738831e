// A GPU on which CUDA programs have quotas, as a Machine: a quota is a number of launches that may begin.
//
// Programs run where the driver places their blocks, so that SMs differ in name only: there are kSms of them, so that
// policies can divide them among programs, and a program's limit of blocks is the mean of its caps. A quota is spent by
// progress, that is by launches and the part of the last one that has passed, spread over the SMs by the program's
// blocks. The last launch may take it below 0, and that is taken from the next quota.
#pragma once

#include <optional>
#include <vector>

#include "runtime/arbiter/launch_count_machine.h"

namespace wm::runtime {

class QuotaMachine final : public LaunchCountMachine {
 public:
  static constexpr std::uint32_t kSms = 8, kBlocksPerSm = 32;
  // A launch counts as so many, because the lowest rate of a policy, about one instruction per cycle, is a launch in
  // ten seconds then.
  static constexpr std::uint64_t kInstructions = 1'000'000;

  QuotaMachine();

  static policy::Cans capabilities() {
    return {policy::Can::cap_blocks, policy::Can::quotas, policy::Can::count_instructions, policy::Can::order_launches};
  }

  // The launches of the program that its quotas still allow, or less than 0; empty: any number.
  [[nodiscard]] std::optional<double> launches_left(policy::KernelId kernel) const;
  // The blocks that the program may have, in percent of those that fit.
  [[nodiscard]] std::uint32_t occupancy_percent(policy::KernelId kernel) const;

  [[nodiscard]] policy::Cans cans() const override { return capabilities(); }
  void cap(policy::SmId sm, policy::KernelId kernel, std::uint32_t blocks) override;
  void set_quota(policy::SmId sm, policy::KernelId kernel, std::int64_t instructions) override;
  void add_quota(policy::SmId sm, policy::KernelId kernel, std::int64_t instructions) override;

 private:
  void set_blocks(policy::Kernel& kernel, std::uint32_t blocks) override;
  void leave(policy::Kernel& kernel) override;
  // Programs have as many blocks as they may, the oldest first.
  void occupy() override;
  void executed(const policy::Sm& sm, policy::KernelId kernel, std::uint64_t instructions) override;
  [[nodiscard]] std::optional<Event> next_change() override;
  // Adds blocks of the program to the SM, or takes them away.
  void change(policy::Sm& sm, policy::Kernel& kernel, int blocks);

  std::vector<policy::QuotaSpent> spent_;  // that the policy was not told yet
};

}  // namespace wm::runtime
