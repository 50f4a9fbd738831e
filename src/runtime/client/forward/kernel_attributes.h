// Attributes of a kernel on the device of the current context, whatever kind of handle the program has.
#pragma once

#include <optional>

#include "runtime/client/cuda/interface/types.h"
#include "runtime/client/forward/function_table.h"

namespace wm::forward {

class KernelOnDevice {
 public:
  KernelOnDevice(CUfunction function, HandleKind kind, CUdevice device)
      : function_(function), kind_(kind), device_(device) {}
  // Empty: the kernel did not come from a call that tells the kind of its handle, or the driver cannot be asked.
  [[nodiscard]] static std::optional<KernelOnDevice> find(CUfunction function);
  // Whether the driver has the functions that are used here.
  [[nodiscard]] static bool can_query();

  [[nodiscard]] std::optional<int> attribute(CUfunction_attribute attribute) const;
  // False: the driver refuses it.
  [[nodiscard]] bool set(CUfunction_attribute attribute, int value) const;
  // Blocks that fit on an SM at once; 0: not known.
  [[nodiscard]] int occupancy(unsigned threads, unsigned shared_bytes) const;
  [[nodiscard]] bool runs_in_clusters() const;
  [[nodiscard]] CUdevice device() const { return device_; }

 private:
  const CUfunction function_;
  const HandleKind kind_;
  const CUdevice device_;
};

}  // namespace wm::forward
