// A GPU whose SMs CUDA programs own in groups, as a Machine: an SM of this machine is a group of SMs.
//
// A program is told its groups. One that launches into green contexts uses them from its next launch on; a group that
// it loses is reserved until it has launched without it, and launches before that may still run there for their length.
// Workers leave SMs at the end of their blocks; which of a program's SMs these are is not known, only how many it uses,
// and as many groups are reserved.
// After `kSilenceLimit` a group is given away even so. Instructions are spread over the groups of their program.
#pragma once

#include <optional>
#include <vector>

#include "runtime/arbiter/launch_count_machine.h"
#include "runtime/protocol/control_page.h"

namespace wm::runtime {

class ProgramMachine final : public LaunchCountMachine {
 public:
  static constexpr Cycles kSilenceLimit{10'000};
  static constexpr std::uint64_t kInstructions = 1000;  // that a launch counts as

  explicit ProgramMachine(std::uint32_t groups);

  static policy::Cans capabilities() {
    return {policy::Can::own_sms, policy::Can::drain, policy::Can::order_launches, policy::Can::count_instructions};
  }

  // The program's last launch uses these groups; empty: not known.
  void used(policy::KernelId kernel, const SmSet& groups);
  // The program's workers have not left so many of the groups that it has lost.
  void leaves(policy::KernelId kernel, std::uint32_t groups);
  // The groups that the program may use.
  [[nodiscard]] SmSet groups(policy::KernelId kernel) const;

  [[nodiscard]] policy::Cans cans() const override { return capabilities(); }
  void give(policy::SmId sm, policy::KernelId kernel, policy::Preempt how) override;
  void share(policy::SmId sm) override;

 private:
  void set_blocks(policy::Kernel& kernel, std::uint32_t blocks) override;
  void leave(policy::Kernel& kernel) override;
  // Programs use the groups that they own.
  void occupy() override;
  [[nodiscard]] std::optional<Event> next_change() override;
  void vacate(policy::Sm& sm, policy::Kernel& kernel);
  // The program has lost the group and was not known to have left it.
  [[nodiscard]] bool is_lost(policy::Sm& sm, policy::KernelId by);
  [[nodiscard]] bool is_silent(const policy::Sm& sm) const {
    return now() >= reserved_since_[sm.index] + kSilenceLimit;
  }

  std::vector<Cycles> reserved_since_;  // by group
  std::vector<Event> ready_;            // that the policy was not told yet
};

}  // namespace wm::runtime
