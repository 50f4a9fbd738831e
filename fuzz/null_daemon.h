// A daemon without a socket, over a device of the test's choice: what sessions share.
#pragma once

#include <memory>
#include <string>

#include "policy/registry.h"
#include "runtime/device/device_limits.h"
#include "runtime/session/session.h"

namespace wm::fuzz {

struct NullDaemon {
  struct Options {
    std::string policy = "accelos";
    bool pass_through = false;
    double short_launch = 100'000;
    std::uint64_t memory = 64 << 20, client_memory = 64 << 20;
    bool wait_for_memory = false;
    rewrite::Rewriter* rewriter = nullptr;
  };
  NullDaemon(std::unique_ptr<runtime::Native> device, const Options& o)
      : native(std::move(device)),
        limits(o.memory, o.client_memory, o.wait_for_memory),
        forms(*native, census, compilers, o.rewriter, sandbox),
        scheduler(*native, census, device_limits(*native), made(o.policy), o.pass_through, o.short_launch) {}
  static std::unique_ptr<policy::Policy> made(const std::string& name) {
    auto policy = policy::make(*policy::choose(name), runtime::DeviceMachine::capabilities(), "device");
    return std::move(*policy);
  }
  [[nodiscard]] runtime::DaemonContext context() {
    return {*native, census, limits, scheduler, forms, precompilation, compilers, sandbox};
  }
  [[nodiscard]] bool idle() const {
    return census.memories == 0 && census.samplers == 0 && census.queues == 0 && census.programs == 0 &&
           census.kernels == 0 && census.events == 0 && census.commands == 0;
  }

  std::unique_ptr<runtime::Native> native;
  runtime::ObjectCounts census;
  runtime::MemoryLimits limits;
  runtime::Compilers compilers;
  runtime::sandbox::Sandbox sandbox{{}};
  runtime::WorkerPrograms forms;
  runtime::Precompilation precompilation{*native, forms, compilers, sandbox};
  runtime::Scheduler scheduler;
};

}  // namespace wm::fuzz
