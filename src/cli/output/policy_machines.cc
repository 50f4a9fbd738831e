#include "cli/output/policy_machines.h"

#include <utility>

#include "sim/block/machine.h"
#ifdef WM_RUNTIME
#include "runtime/arbiter/program_machine.h"
#include "runtime/arbiter/quota_machine.h"
#include "runtime/schedule/device_machine.h"
#include "runtime/schedule/sm_machine.h"
#endif

namespace wm::cli {

std::vector<std::string> machines_of(const policy::Info& info) {
  std::vector<std::pair<std::string, policy::Cans>> machines{{"cycle", policy::Cans::all()},
                                                             {"block", sim::BlockMachine::kCans}};
#ifdef WM_RUNTIME
  machines.emplace_back("device", runtime::DeviceMachine::capabilities());
  machines.emplace_back("cuda", runtime::SmMachine::capabilities());
#endif
  std::vector<std::string> names;
  const auto choice = policy::choose(info.name);
  for (const auto& [name, cans] : machines)
    if (choice && policy::fits(*choice, cans, name)) names.push_back(name);
  return names;
}

bool arbitrates_programs([[maybe_unused]] const policy::Info& info) {
#ifdef WM_RUNTIME
  const auto choice = policy::choose(info.name);
  // Programs have block limits, SMs of their own, or quotas.
  return choice && (policy::fits(*choice, runtime::DeviceMachine::capabilities(), "cuda") ||
                    policy::fits(*choice, runtime::ProgramMachine::capabilities(), "cuda") ||
                    policy::fits(*choice, runtime::QuotaMachine::capabilities(), "cuda"));
#else
  return false;
#endif
}

}  // namespace wm::cli
