// A policy under test that records what its machine tells it and what it does, for the contract suite over simulators.
#pragma once

#include <memory>
#include <string_view>

#include "policy/record.h"
#include "policy/registry.h"

namespace wm::policy::test {

class RecordedPolicy final : public Policy {
 public:
  RecordedPolicy(Machine& gpu, const Choice& choice, std::string_view machine)
      : inner_(*make(choice, gpu.cans(), machine)), log_(gpu, choice.needs() | choice.entry->info.uses) {}
  void on(const Started& e, Machine&) override { log_.tell(*inner_, e); }
  void on(const KernelArrived& e, Machine&) override { log_.tell(*inner_, e); }
  void on(const KernelDone& e, Machine&) override { log_.tell(*inner_, e); }
  void on(const KernelSetChanged& e, Machine&) override { log_.tell(*inner_, e); }
  void on(const BlockDone& e, Machine&) override { log_.tell(*inner_, e); }
  void on(const SmIdle& e, Machine&) override { log_.tell(*inner_, e); }
  void on(const SmReady& e, Machine&) override { log_.tell(*inner_, e); }
  void on(const Preempted& e, Machine&) override { log_.tell(*inner_, e); }
  void on(const QuotaSpent& e, Machine&) override { log_.tell(*inner_, e); }
  void on(const Epoch& e, Machine&) override { log_.tell(*inner_, e); }
  void on(const Wake& e, Machine&) override { log_.tell(*inner_, e); }
  [[nodiscard]] const Recorder& record() const { return log_; }

 private:
  std::unique_ptr<Policy> inner_;
  Recorder log_;
};

}  // namespace wm::policy::test
