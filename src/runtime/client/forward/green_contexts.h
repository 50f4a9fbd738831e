// The sets of SMs on which this process may run its kernels: the device is split into groups of SMs, and a green
// context stands for a set of groups. Green contexts belong to the device's primary context.
//
// A green context takes more than a millisecond to create. The thread that keeps the connection to the daemon creates
// it as soon as the daemon asks for its set; until then launches use the set before.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/client/cuda/interface/types.h"

namespace wm::forward {

// Calls that a capture in another thread would forbid are allowed in this thread meanwhile.
class AllowedInCaptures {
 public:
  AllowedInCaptures();
  ~AllowedInCaptures();
  AllowedInCaptures(const AllowedInCaptures&) = delete;
  AllowedInCaptures& operator=(const AllowedInCaptures&) = delete;

 private:
  int mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

class GreenContexts {
 public:
  static GreenContexts& get();

  // The program has the primary context of a device, or has given back one of its references to it.
  void primary_retained(CUdevice device, CUcontext context);
  // Before the driver's call: the last reference of the program ends the green contexts too.
  void primary_released(CUdevice device);
  void forget(CUdevice device);

  // Creates the green context of these groups, if there is a primary context and the driver can. Called by one thread.
  void prepare(std::uint64_t groups, std::uint32_t sms_of_group);
  // Whether the calling thread's current context is the primary context that the green contexts belong to.
  [[nodiscard]] bool is_current() const;

  struct Set {
    std::uint64_t groups = 0;
    CUgreenCtx context = nullptr;
  };
  // The set of these groups if it is ready, else the one that was used last; null: none is ready.
  [[nodiscard]] Set find(std::uint64_t groups);
  // Increases whenever green contexts were forgotten.
  [[nodiscard]] std::uint64_t generation() const;

 private:
  static constexpr CUdevice kDevice = 0;  // the GPU that the daemon arbitrates
  [[nodiscard]] bool split(std::uint32_t sms_of_group);
  void forget_locked();

  mutable std::mutex mutex_;
  CUcontext primary_ = nullptr;
  std::uint32_t retained_ = 0;  // references of the program to the primary context
  std::uint64_t generation_ = 0;
  std::uint32_t sms_of_group_ = 0;
  std::vector<CUdevResource> groups_;  // with the SMs left over as the last one
  std::map<std::uint64_t, CUgreenCtx> contexts_;
  std::uint64_t last_ = 0;
};

}  // namespace wm::forward
