#include "python/python_policy.h"

#include <pybind11/stl.h>
#include <stdexcept>

#include "base/nearest.h"

namespace wm::python {
namespace {

namespace py = pybind11;

struct Current {
  py::object factory;
  policy::Cans needs;
};
// The factory that PythonPolicy's constructor calls; null: no Python policy runs.
Current* current = nullptr;

class PythonPolicy final : public policy::Policy {
 public:
  PythonPolicy() {
    const py::gil_scoped_acquire gil;
    object_ = current->factory();
    needs_ = current->needs;
  }
  ~PythonPolicy() override {
    const py::gil_scoped_acquire gil;
    object_ = py::object();
  }
  PythonPolicy(const PythonPolicy&) = delete;
  PythonPolicy& operator=(const PythonPolicy&) = delete;

  void on(const policy::Started&, policy::Machine& gpu) override { call("on_started", gpu); }
  void on(const policy::KernelArrived& e, policy::Machine& gpu) override {
    call("on_kernel_arrived", gpu, e.kernel.index);
  }
  void on(const policy::KernelDone& e, policy::Machine& gpu) override { call("on_kernel_done", gpu, e.kernel.index); }
  void on(const policy::KernelSetChanged&, policy::Machine& gpu) override { call("on_kernel_set_changed", gpu); }
  void on(const policy::BlockDone& e, policy::Machine& gpu) override {
    call("on_block_done", gpu, e.sm.index, e.kernel.index);
  }
  void on(const policy::SmIdle& e, policy::Machine& gpu) override { call("on_sm_idle", gpu, e.sm.index); }
  void on(const policy::SmReady& e, policy::Machine& gpu) override {
    call("on_sm_ready", gpu, e.sm.index, e.owner.index);
  }
  void on(const policy::Preempted& e, policy::Machine& gpu) override {
    call("on_preempted", gpu, e.sm.index, e.kernel.index, e.blocks);
  }
  void on(const policy::QuotaSpent& e, policy::Machine& gpu) override {
    call("on_quota_spent", gpu, e.sm.index, e.kernel.index);
  }
  void on(const policy::Epoch& e, policy::Machine& gpu) override { call("on_epoch", gpu, e.length.count); }
  void on(const policy::Wake& e, policy::Machine& gpu) override { call("on_wake", gpu, e.tag); }

 private:
  template <typename... Arguments>
  void call(const char* method, policy::Machine& gpu, Arguments... arguments) {
    const py::gil_scoped_acquire gil;
    const py::object handler = py::getattr(object_, method, py::none());
    if (handler.is_none()) return;
    const auto view = std::make_shared<MachineView>(gpu, needs_);
    try {
      handler(view, arguments...);
    } catch (...) {
      view->end();
      throw;
    }
    view->end();
  }

  py::object object_;
  policy::Cans needs_;
};

policy::Can can_of(const std::string& name) {
  for (unsigned i = 0; i <= static_cast<unsigned>(policy::kLastCan); ++i) {
    if (policy::name(static_cast<policy::Can>(i)) == name) return static_cast<policy::Can>(i);
  }
  std::vector<std::string> known;
  for (unsigned i = 0; i <= static_cast<unsigned>(policy::kLastCan); ++i)
    known.emplace_back(policy::name(static_cast<policy::Can>(i)));
  throw py::value_error("no capability '" + name + "'" + did_you_mean(name, known));
}

policy::Cans cans_of(const std::vector<std::string>& names) {
  policy::Cans cans;
  for (const std::string& name : names) cans = cans | policy::Cans{can_of(name)};
  return cans;
}

policy::Preempt preempt_of(const std::string& how) {
  if (how == "drain") return policy::Preempt::drain;
  if (how == "switch") return policy::Preempt::switch_context;
  throw py::value_error("blocks leave an SM by 'drain' or 'switch', not '" + how + "'");
}

// Ids are numbers in Python; -1 stands for no kernel.
std::int64_t number(policy::KernelId id) { return id == policy::kNoKernel ? -1 : std::int64_t{id.index}; }

void add_views(py::module_& m) {
  py::class_<gpu::Resources>(m, "Resources", "Threads, registers, shared memory and block slots.")
      .def_readonly("threads", &gpu::Resources::threads)
      .def_readonly("registers", &gpu::Resources::registers)
      .def_readonly("shared_bytes", &gpu::Resources::shared_bytes)
      .def_readonly("blocks", &gpu::Resources::blocks);
  py::class_<policy::Sm>(m, "Sm", "An SM as a policy sees it.")
      .def_property_readonly("id", [](const policy::Sm& s) { return s.id.index; })
      .def_property_readonly(
          "owner", [](const policy::Sm& s) { return number(s.owner); }, "-1: shared by all kernels")
      .def_property_readonly(
          "heir", [](const policy::Sm& s) { return number(eventual_owner(s)); },
          "the owner once blocks in the way have left; -1: none")
      .def_property_readonly("powered", [](const policy::Sm& s) { return powered(s); })
      .def_readonly("free", &policy::Sm::free)
      .def_readonly("resident", &policy::Sm::resident);
  py::class_<policy::Kernel>(m, "KernelView", "A kernel as a policy sees it: the current launch of one client.")
      .def_property_readonly("id", [](const policy::Kernel& k) { return k.id.index; })
      .def_readonly("process", &policy::Kernel::process)
      .def_readonly("launch", &policy::Kernel::launch)
      .def_readonly("priority", &policy::Kernel::priority)
      .def_readonly("share", &policy::Kernel::share)
      .def_readonly("goal", &policy::Kernel::goal)
      .def_readonly("isolated_ipc", &policy::Kernel::isolated_ipc)
      .def_property_readonly("arrived", [](const policy::Kernel& k) { return k.arrived.count; })
      .def_readonly("instructions", &policy::Kernel::instructions)
      .def_readonly("footprint", &policy::Kernel::footprint)
      .def_readonly("max_blocks_per_sm", &policy::Kernel::max_blocks_per_sm)
      .def_readonly("blocks", &policy::Kernel::blocks)
      .def_readonly("done", &policy::Kernel::done)
      .def_readonly("resident", &policy::Kernel::resident)
      .def_readonly("waiting", &policy::Kernel::waiting);
}

using View = MachineView;

std::vector<policy::Sm> sms(const View& v) { return {v.get().sms().begin(), v.get().sms().end()}; }
std::vector<policy::Kernel> kernels(const View& v) { return {v.get().kernels().begin(), v.get().kernels().end()}; }
const policy::ResidentKernel& resident(const View& v, std::uint32_t sm, std::uint32_t kernel) {
  return v.get().residents(v.sm(sm))[v.kernel(kernel).index];
}
void order(const View& v, const std::vector<std::uint32_t>& first) {
  std::vector<policy::KernelId> ids;
  for (const std::uint32_t k : first) ids.push_back(v.kernel(k));
  v.get(policy::Can::order_launches).order(ids);
}

void add_machine(py::module_& m) {
  using policy::Can;
  using namespace py::literals;
  py::class_<View, std::shared_ptr<View>>(m, "Machine", "The machine during one event of a policy.")
      .def_property_readonly(
          "now", [](const View& v) { return v.get().now().count; }, "cycles")
      .def_property_readonly("sms", &sms, "all SMs, by their numbers")
      .def_property_readonly("kernels", &kernels, "kernels with an active launch, oldest arrival first")
      .def(
          "can", [](const View& v, const std::string& name) { return v.get().can(can_of(name)); }, "capability"_a,
          "whether the machine has a capability")
      .def(
          "resident", [](const View& v, std::uint32_t sm, std::uint32_t k) { return resident(v, sm, k).resident; },
          "sm"_a, "kernel"_a, "blocks of a kernel on an SM")
      .def(
          "quota", [](const View& v, std::uint32_t sm, std::uint32_t k) { return resident(v, sm, k).quota; }, "sm"_a,
          "kernel"_a, "what is left of the kernel's instructions on the SM")
      .def(
          "epoch_ipc", [](const View& v, std::uint32_t k) { return v.get().epoch_ipc(v.kernel(k)); }, "kernel"_a,
          "thread instructions per cycle of a kernel since the epoch began")
      .def(
          "random",
          [](const View& v, std::uint32_t below) {
            if (below == 0) throw py::value_error("a random number below 0");
            return v.get().random().below(below);
          },
          "below"_a, "a random number of the run, from 0 to below - 1")
      .def(
          "give",
          [](const View& v, std::uint32_t sm, std::uint32_t k, const std::string& how) {
            v.get(Can::own_sms).give(v.sm(sm), v.kernel(k), preempt_of(how));
          },
          "sm"_a, "kernel"_a, "how"_a = "drain", "make a kernel the owner of an SM; other blocks 'drain' or 'switch'")
      .def(
          "share", [](const View& v, std::uint32_t sm) { v.get(Can::own_sms).share(v.sm(sm)); }, "sm"_a,
          "let all kernels start blocks on an SM")
      .def(
          "cap",
          [](const View& v, std::uint32_t sm, std::uint32_t k, std::uint32_t blocks) {
            v.get(Can::cap_blocks).cap(v.sm(sm), v.kernel(k), blocks);
          },
          "sm"_a, "kernel"_a, "blocks"_a, "limit the blocks of a kernel on an SM")
      .def(
          "preempt",
          [](const View& v, std::uint32_t sm, std::uint32_t k, std::uint32_t blocks) {
            v.get(Can::switch_some).preempt(v.sm(sm), v.kernel(k), blocks);
          },
          "sm"_a, "kernel"_a, "blocks"_a, "switch out so many blocks of a kernel")
      .def(
          "set_quota",
          [](const View& v, std::uint32_t sm, std::uint32_t k, std::int64_t n) {
            v.get(Can::quotas).set_quota(v.sm(sm), v.kernel(k), n);
          },
          "sm"_a, "kernel"_a, "instructions"_a, "set the thread instructions that a kernel may execute on an SM")
      .def(
          "add_quota",
          [](const View& v, std::uint32_t sm, std::uint32_t k, std::int64_t n) {
            v.get(Can::quotas).add_quota(v.sm(sm), v.kernel(k), n);
          },
          "sm"_a, "kernel"_a, "instructions"_a, "add to a quota")
      .def(
          "gate", [](const View& v, std::uint32_t sm) { v.get(Can::gate_power).gate(v.sm(sm)); }, "sm"_a,
          "switch an SM off")
      .def("order", &order, "first"_a, "the order in which launches start blocks on shared SMs")
      .def(
          "set_epoch", [](const View& v, std::uint64_t cycles) { v.get().set_epoch(Cycles{cycles}); }, "cycles"_a,
          "set the length of an epoch")
      .def(
          "wake_at", [](const View& v, std::uint64_t cycle, std::uint64_t tag) { v.get().wake_at(Cycles{cycle}, tag); },
          "cycle"_a, "tag"_a = 0, "ask for on_wake(gpu, tag)");
}

}  // namespace

policy::Machine& MachineView::get() const {
  if (machine_ == nullptr) throw std::runtime_error("the machine may be used only during an event");
  return *machine_;
}

policy::Machine& MachineView::get(policy::Can needed) const {
  if (!declared_.has(needed)) {
    throw py::value_error("the policy does not declare '" + std::string(policy::name(needed)) + "' in `needs`");
  }
  return get();
}

policy::SmId MachineView::sm(std::uint32_t index) const {
  if (index >= get().sms().size()) throw py::index_error("no SM " + std::to_string(index));
  return {index};
}

policy::KernelId MachineView::kernel(std::uint32_t index) const {
  if (index >= get().residents({0}).size()) throw py::index_error("no kernel " + std::to_string(index));
  return {index};
}

PythonPolicyEntry::PythonPolicyEntry(py::object factory, std::string name, const std::vector<std::string>& needs)
    : name_(std::move(name)) {
  if (current != nullptr) throw std::runtime_error("another run with a Python policy is active in this process");
  const policy::Cans cans = cans_of(needs);
  entry_.info.name = name_;
  entry_.info.needs = cans;
  entry_.make = [](const policy::Values&) -> std::unique_ptr<policy::Policy> {
    return std::make_unique<PythonPolicy>();
  };
  current = new Current{std::move(factory), cans};
}

PythonPolicyEntry::~PythonPolicyEntry() {
  const py::gil_scoped_acquire gil;
  delete current;
  current = nullptr;
}

void add_policy_classes(py::module_& m) {
  add_views(m);
  add_machine(m);
}

}  // namespace wm::python
