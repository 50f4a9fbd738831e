// An application of the zoo's kind as an OpenCL host program: what a client of the daemon does, and what it would do
// natively. Its launches can be run again and again, on the data it began with, and timed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/application.h"
#include "runtime/device/opencl_native.h"

namespace wm::runtime {

class HostProgram {
 public:
  using Buffers = std::vector<std::vector<std::byte>>;

  // Builds the source and makes the buffers. `native` and `application` outlive it.
  static Result<std::unique_ptr<HostProgram>> make(const Native& native, const gpu::Application& application,
                                                   std::string_view source, const std::string& options);
  ~HostProgram();
  HostProgram(const HostProgram&) = delete;
  HostProgram& operator=(const HostProgram&) = delete;

  // Every buffer as it is before the first launch; on the device when it returns.
  Result<void> prepare();

  // From the first launch to the end, on this process's monotonic clock, and what its launches did on the device's.
  struct Run {
    std::uint64_t began = 0, ended = 0;  // nanoseconds: the first call, and when all was seen to have ended
    std::uint64_t device_began = 0, device_ended = 0;
    std::uint64_t device_busy = 0;  // sum over the launches that were timed
    std::uint32_t launches = 0;
  };
  // Events cost time, most of all among others: of a run that is to be fast only the first launch and the last have
  // one.
  enum class Timed { every_launch, ends };
  Result<Run> run(Timed timed = Timed::every_launch);

  // Final contents, by index.
  Result<Buffers> contents();

 private:
  HostProgram(const Native& native, const gpu::Application& application) : native_(native), application_(application) {}
  Result<void> build(std::string_view source, const std::string& options);
  Result<void> make_buffers();
  Result<void> perform(const gpu::Transfer& transfer);
  Result<void> perform(const gpu::Fill& fill);
  Result<void> perform(const gpu::Launch& launch);
  Result<void> steps(std::size_t from, std::size_t to);
  Result<cl_kernel> kernel(const std::string& name);
  cl_int set(cl_kernel kernel, cl_uint index, const gpu::Argument& argument) const;
  Result<void> collect(Run& run);

  const Native& native_;
  const gpu::Application& application_;
  std::size_t first_launch_ = 0;
  std::uint32_t launches_ = 0, sent_ = 0;  // of a run, and of this one so far
  Timed timed_ = Timed::every_launch;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  std::map<std::string, cl_kernel> kernels_;
  std::vector<cl_mem> memory_;
  std::vector<cl_event> events_;  // of the run's launches
};

}  // namespace wm::runtime
