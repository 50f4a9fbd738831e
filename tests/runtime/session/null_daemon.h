// A daemon without a socket, over a backend of the test's choice: the parts that sessions share.
#pragma once

#include <memory>
#include <string>

#include "policy/registry.h"
#include "runtime/schedule/device_machine.h"
#include "runtime/session/session.h"

namespace wm::runtime::test {

struct NullDaemon {
  struct Options {
    std::string policy = "accelos";
    bool pass_through = false;
    double short_launch = 100'000;
    std::uint64_t memory = 64 << 20, client_memory = 64 << 20;
    bool wait_for_memory = false;
    rewrite::Rewriter* rewriter = nullptr;
    std::string sandbox_program = {};
  };
  NullDaemon(std::unique_ptr<Backend> device, const Options& o)
      : backend(std::move(device)),
        limits(o.memory, o.client_memory, o.wait_for_memory),
        sandbox(sandbox_options(o.sandbox_program)),
        worker_programs(*backend, counts, compilers, o.rewriter, sandbox),
        scheduler(*backend, counts, make_policy(o.policy),
                  AdmissionOptions{.pass_through = o.pass_through, .short_launch = o.short_launch}) {}
  static std::unique_ptr<policy::Policy> make_policy(const std::string& name) {
    auto policy = policy::make(*policy::choose(name), DeviceMachine::capabilities(), "device");
    return std::move(*policy);
  }
  static sandbox::SandboxOptions sandbox_options(const std::string& program) {
    sandbox::SandboxOptions options;
    options.program = program;
    return options;
  }
  [[nodiscard]] DaemonContext context() {
    return {*backend, counts, limits, scheduler, worker_programs, precompilation, verification, compilers, sandbox};
  }
  [[nodiscard]] bool idle() const {
    return counts.memories == 0 && counts.samplers == 0 && counts.queues == 0 && counts.programs == 0 &&
           counts.kernels == 0 && counts.events == 0 && counts.commands == 0;
  }

  std::unique_ptr<Backend> backend;
  ObjectCounts counts;
  MemoryLimits limits;
  Compilers compilers;
  sandbox::Sandbox sandbox;
  WorkerPrograms worker_programs;
  Precompilation precompilation{backend->capabilities(), worker_programs, compilers, sandbox};
  sandbox::Comparisons comparisons{{}};
  Verification verification{backend->capabilities(), worker_programs, compilers, comparisons};
  Scheduler scheduler;
};

}  // namespace wm::runtime::test
