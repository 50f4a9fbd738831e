// One form of a compared kernel, executed in this process. Objects are released when the process ends.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/device/opencl_native.h"
#include "runtime/sandbox/comparison_inputs.h"
#include "runtime/sandbox/guarded_memory.h"
#include "runtime/sandbox/request.h"

namespace wm::runtime::sandbox {

class FormRun {
 public:
  enum class Form : std::uint8_t { unmodified, workers };

  FormRun(const Native& native, const Comparison& comparison, Form form)
      : native_(native), cl_(native.cl), comparison_(comparison), form_(form), buffers_(buffers_of(comparison)) {}

  // False: the driver refuses the program.
  bool build(const Program& program);
  // Executes the kernel on these inputs and copies the first bytes of each buffer to `results`, at the buffer's place.
  // With `guarded` buffers an access outside of them ends the process. False: the driver refuses a call.
  bool run(InputSet set, bool guarded, std::span<std::byte> results);

 private:
  [[nodiscard]] cl_program create(const Program& program) const;
  bool create_buffers(InputSet set, bool guarded);
  [[nodiscard]] cl_mem create_buffer(std::uint64_t size, std::span<const std::byte> content) const;
  cl_mem create_guarded(std::uint64_t size, std::span<const std::byte> content);
  bool set_arguments();
  bool set_argument(std::size_t size, const void* value);
  [[nodiscard]] bool launch_unmodified() const;
  bool launch_workers();

  const Native& native_;
  const NativeCalls& cl_;
  const Comparison& comparison_;
  const Form form_;
  const std::vector<ComparedBuffer> buffers_;
  std::vector<cl_mem> memory_;
  std::vector<std::unique_ptr<GuardedMemory>> guarded_;
  cl_command_queue queue_ = nullptr;
  cl_kernel kernel_ = nullptr;
  cl_uint next_argument_ = 0;
};

}  // namespace wm::runtime::sandbox
