// A launch as the CUDA driver takes it: the grid, the parameters of an adapted kernel, and how it shares the device.
#pragma once

#include "rewrite/ptx/persistent.h"
#include "runtime/device/cuda/objects.h"

namespace wm::runtime::cuda {

class Launcher {
 public:
  explicit Launcher(Device& device) : device_(device) {}
  ~Launcher() { device_.free_words(words_); }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  // Allocates the gate words. False: the driver has no memory that streams can write, and no launch yields.
  bool prepare_gates();

  struct Shape {
    bool valid = false;
    Status status = status::kSuccess;
    unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  };
  [[nodiscard]] Shape shape(const KernelLaunch& launch) const;
  // Puts the launch on the stream; with `holds_gates`, the gate is closed before it and stays so until `open_gate`.
  Status launch(Stream stream, const KernelLaunch& launch, const Shape& shape);
  void open_gate(Stream stream) const;

  static Status check(const CudaKernel& kernel, std::uint32_t index, const KernelArgument& argument);

  // Dynamic shared memory with which a group occupies `group_bytes` of shared memory: at least what the launch needs.
  [[nodiscard]] unsigned padded_shared(const CudaKernel& kernel, unsigned needed, std::size_t group_bytes) const;
  // The shared memory of a group with which an SM holds at most `groups` of them.
  [[nodiscard]] std::size_t limiting_bytes(std::uint32_t groups) const;

 private:
  struct Parameters;
  [[nodiscard]] rewrite::PersistentGrid persistent_grid(const WorkerLaunch& workers, const Shape& shape) const;
  // Groups of the launch that an SM may hold; 0: as many as fit.
  [[nodiscard]] std::uint32_t group_limit(const LaunchSharing& sharing, Function function, const Shape& shape,
                                          unsigned shared) const;
  // Kernels that share SMs must agree on how an SM's memory is divided between L1 and shared memory: an SM changes it
  // only when it is empty. All of them take the largest part for shared memory.
  void divide_memory_as_others(const CudaKernel& kernel, Function function) const;
  static Status set_image(const rewrite::KernelImages::Parameter& parameter, const CudaImage& image, std::size_t index,
                          Parameters& parameters);
  static Status set_textures(const CudaKernel& kernel, const KernelLaunch& launch, Parameters& parameters);
  Status set(const CudaKernel& kernel, const KernelLaunch& launch, const Shape& shape, Parameters& parameters) const;

  Device& device_;
  Address words_ = 0;  // the gate, and a word that is always zero
};

}  // namespace wm::runtime::cuda
