// The launches on a device that runs kernels in this process, and those of them that have faulted.
//
// The driver does not say which launch a faulting group belongs to. It is the one with the same kernel, range and
// arguments: buffers of clients differ in their addresses, and launches that agree in everything do the same.
#pragma once

#include <atomic>
#include <list>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/device/kernel_guard.h"
#include "runtime/device/opencl_objects.h"

namespace wm::runtime {

// A launch as it was submitted; copies what a group's call shows of it.
struct GuardedLaunch {
  explicit GuardedLaunch(const KernelLaunch& launch);
  // Whether the call is one of this launch. Reads the call's arguments, which must be those of a kernel of this name.
  [[nodiscard]] bool makes(const GroupCall& call) const;

  struct Argument {
    ArgumentKind kind{};
    std::size_t size = 0;
    std::size_t offset = 0;         // where `values` has the bytes of a value
    const void* address = nullptr;  // the place of a buffer; null: not known
  };
  std::string kernel;
  Size3 global{};
  std::vector<Argument> arguments;
  std::vector<std::byte> values;
  bool faulted = false;
};

class GuardedLaunches final : public KernelGuardListener {
 public:
  // The process has one set of signal handlers, and so one of these.
  static GuardedLaunches& instance();

  using Entry = std::list<GuardedLaunch>::iterator;
  // Before the launch is submitted, because it may fault before the call returns.
  [[nodiscard]] Entry add(const KernelLaunch& launch);
  void remove(Entry entry);
  // The submitted launch's event; the entry lives until `released`.
  void submitted(Entry entry, EventHandle event);
  void released(EventHandle event);
  [[nodiscard]] bool faulted(EventHandle event) const;
  [[nodiscard]] std::vector<KernelFault> take_faults();
  [[nodiscard]] std::uint64_t fault_count() const { return fault_count_.load(); }

  [[nodiscard]] bool any_faulted() const override { return faulted_launches_.load(std::memory_order_acquire) != 0; }
  [[nodiscard]] bool runs(const GroupCall& call) override;
  bool record_fault(const GroupCall& call, const KernelFault& fault) override;

 private:
  [[nodiscard]] std::vector<GuardedLaunch*> launches_that_make(const GroupCall& call);

  mutable std::mutex mutex_;
  std::list<GuardedLaunch> launches_;
  std::unordered_map<EventHandle, Entry> by_event_;
  std::vector<KernelFault> faults_;
  std::atomic<std::size_t> faulted_launches_{0};
  std::atomic<std::uint64_t> fault_count_{0};
};

}  // namespace wm::runtime
