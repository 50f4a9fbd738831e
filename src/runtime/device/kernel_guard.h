// Faults of kernels that run in this process, as PoCL's do: a wild pointer ends one group, not the daemon.
//
// PoCL looks up every compiled kernel with `dlsym`. That entry of its library is replaced, and the answer becomes an
// entry of `wm_guarded_entries`, which calls the kernel behind a saved point of return. A signal that says that an
// instruction could not be executed (a bad address, an illegal instruction, an overflowed stack) returns there: the
// group ends early, and the listener is told. A kernel shares the process's memory, so that a wrong write to an address
// which is mapped is not noticed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/device/kernel_fault.h"

namespace wm::runtime {

// One call of a kernel for a group, as PoCL makes it. The pointers are valid during the call.
struct GroupCall {
  const std::string& kernel;
  void* const* arguments;      // addresses of the values; of a buffer: of its address
  const std::size_t* context;  // groups, offset and items per group, three numbers each
};

class KernelGuardListener {
 public:
  virtual ~KernelGuardListener() = default;
  // Whether a launch that has faulted may still have groups to run. Called for every group.
  [[nodiscard]] virtual bool any_faulted() const = 0;
  // Whether the group runs. Called only where `any_faulted`.
  [[nodiscard]] virtual bool runs(const GroupCall& call) = 0;
  // Returns false if no submitted launch matches; the process then ends with the signal.
  virtual bool record_fault(const GroupCall& call, const KernelFault& fault) = 0;
};

// Guards the kernels that PoCL loads from now on; the listener lives as long as the process. False: this is another
// driver or another processor, and a fault ends the process.
bool guard_kernels(KernelGuardListener& listener);

// Whether `access` ends without a fault. For reads through pointers that may not be valid.
bool ends_without_fault(void (*access)(void*), void* data);

}  // namespace wm::runtime
