// A policy on a scripted machine, driven by the events that a test sends.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "policy/policy.h"
#include "policy/registry.h"
#include "policy/scripted_machine.h"

namespace wm::policy::test {

class Script {
 public:
  Script(const std::string& policy, std::uint32_t sms) : gpu(sms) {
    auto choice = choose(policy);
    if (!choice) throw std::runtime_error(choice.error().to_string());
    auto made = make(*choice, Cans::all(), "scripted");
    if (!made) throw std::runtime_error(made.error().to_string());
    policy_ = *std::move(made);
    policy_->on(Started{}, gpu);
  }

  template <class Event>
  void send(Event event) {
    policy_->on(event, gpu);
  }
  // A launch of a new client, and the division that follows.
  KernelId arrive(double goal, gpu::Resources footprint, double share = 1) {
    Kernel& k = gpu.add(goal, footprint);
    k.share = share;
    k.arrived = k.first_arrived = gpu.now();
    const KernelId id = k.id;
    send(KernelArrived{id});
    send(KernelSetChanged{});
    return id;
  }
  // The client's launch ends, and its next one arrives `later`.
  void relaunch(KernelId id, std::uint64_t later = 0) {
    Kernel k = gpu.kernel(id);
    gpu.remove(id);
    send(KernelDone{id});
    if (later != 0) {
      send(KernelSetChanged{});
      gpu.set_now(gpu.now().count + later);
    }
    ++k.launch;
    k.arrived = gpu.now();
    k.resident = 0;
    gpu.list(k);
    send(KernelArrived{id});
    send(KernelSetChanged{});
  }

  ScriptedMachine gpu;

 private:
  std::unique_ptr<Policy> policy_;
};

}  // namespace wm::policy::test
