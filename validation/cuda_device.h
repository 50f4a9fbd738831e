// Runs an application on a real GPU through the CUDA driver, from PTX: the hardware side of every comparison.
//
// Buffers start poisoned, as in the executor, so that a kernel which reads unwritten memory is seen on either side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/application.h"

namespace wm::validation {

struct LaunchTime {
  std::string kernel;
  double microseconds = 0;  // between two events on the launch's stream
};

struct GpuRun {
  std::vector<std::vector<std::byte>> buffers;  // final contents, by BufferId; empty unless requested
  std::vector<LaunchTime> launches;             // in order
};

struct GpuRunOptions {
  std::byte poison{};    // contents of buffers before they are written
  bool evict = false;    // L2 holds none of the buffers when the first launch starts
  bool download = true;  // read the buffers back
};

class CudaDevice {
 public:
  // The first device of the machine, in a context of its own.
  static Result<CudaDevice> open();

  CudaDevice(CudaDevice&& other) noexcept;
  CudaDevice& operator=(CudaDevice&&) = delete;
  ~CudaDevice();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& driver() const { return driver_; }

  // How many blocks of the kernel the GPU holds at a time.
  Result<std::uint32_t> room_for(std::string_view ptx, const gpu::Launch& launch) const;
  Result<GpuRun> run(std::string_view ptx, const gpu::Application& application, const GpuRunOptions& options);

 private:
  CudaDevice() = default;

  void* context_ = nullptr;
  int ordinal_ = 0;
  std::string name_;
  std::string driver_;
};

}  // namespace wm::validation
