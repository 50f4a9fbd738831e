// A policy written in Python, as a policy of the simulator: events become calls of the object's methods, and the object
// acts through a view of the machine that is valid during one event.
#pragma once

#include <memory>
#include <pybind11/pybind11.h>
#include <string>
#include <vector>

#include "policy/registry.h"

namespace wm::python {

// The machine during one event. Any use after the event raises RuntimeError.
class MachineView {
 public:
  MachineView(policy::Machine& machine, policy::Cans declared) : machine_(&machine), declared_(declared) {}
  void end() { machine_ = nullptr; }

  // The machine; with a capability: only where the policy has declared it.
  [[nodiscard]] policy::Machine& get() const;
  [[nodiscard]] policy::Machine& get(policy::Can needed) const;
  // Checked ids.
  [[nodiscard]] policy::SmId sm(std::uint32_t index) const;
  [[nodiscard]] policy::KernelId kernel(std::uint32_t index) const;

 private:
  policy::Machine* machine_;
  policy::Cans declared_;
};

// The registry entry of a Python policy. The policy object is made by `factory` when a run begins. One at a time may
// exist in a process, because an entry's `make` is a plain function.
class PythonPolicyEntry {
 public:
  PythonPolicyEntry(pybind11::object factory, std::string name, const std::vector<std::string>& needs);
  ~PythonPolicyEntry();
  PythonPolicyEntry(const PythonPolicyEntry&) = delete;
  PythonPolicyEntry& operator=(const PythonPolicyEntry&) = delete;

  [[nodiscard]] policy::Choice choice() const { return {&entry_, {}}; }

 private:
  const std::string name_;
  policy::Entry entry_;
};

// Adds the classes that a policy in Python sees.
void add_policy_classes(pybind11::module_& m);

}  // namespace wm::python
