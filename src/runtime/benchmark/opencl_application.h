// Runs a gpu::Application, such as a benchmark of the zoo, through OpenCL: as a client of the daemon or natively. Its
// launches can be repeated on the initial data, and timed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/application.h"
#include "runtime/device/opencl_native.h"

namespace wm::runtime {

class OpenclApplication {
 public:
  using Buffers = std::vector<std::vector<std::byte>>;

  // Builds the source and creates the buffers. `native` and `application` must outlive the object.
  static Result<std::unique_ptr<OpenclApplication>> make(const Native& native, const gpu::Application& application,
                                                         std::string_view source, const std::string& options);
  ~OpenclApplication();
  OpenclApplication(const OpenclApplication&) = delete;
  OpenclApplication& operator=(const OpenclApplication&) = delete;

  // Sets every buffer to its contents before the first launch; the data is on the device when it returns.
  Result<void> prepare();

  // The times of a run from its first launch to its end, on the process's monotonic clock and on the device's clock.
  struct Run {
    std::uint64_t began = 0, ended = 0;  // nanoseconds: the first call, and the return of clFinish
    std::uint64_t device_began = 0, device_ended = 0;
    std::uint64_t device_busy = 0;  // the sum over the launches that have an event
    std::uint32_t launches = 0;
  };
  // Events cost time, in particular while other clients are present: a run that must be fast has them only for its
  // first and its last launch.
  enum class Timed { every_launch, ends };
  // `times`: runs in a row as one program, which copies the first contents of changed buffers back before each but the
  // first. Where there are several, the first call after `prepare` also finds out which buffers a run changes.
  Result<Run> run(Timed timed = Timed::every_launch, std::uint32_t times = 1);

  // Runs again and again until that time, on the data that the run before left, with a few runs queued at once, as
  // batch programs do: the times at which runs ended, in nanoseconds of the monotonic clock.
  Result<std::vector<std::uint64_t>> repeat(std::uint64_t until);

  // The contents of all buffers, by index.
  Result<Buffers> contents();

 private:
  OpenclApplication(const Native& native, const gpu::Application& application)
      : native_(native), application_(application) {}
  Result<void> build(std::string_view source, const std::string& options);
  Result<void> create_buffers();
  Result<void> perform(const gpu::Transfer& transfer);
  Result<void> perform(const gpu::Fill& fill);
  Result<void> perform(const gpu::Launch& launch);
  Result<void> enqueue(std::size_t from, std::size_t to);
  Result<void> steps(std::size_t from, std::size_t to);
  Result<void> find_changed_buffers();
  Result<void> restore();
  Result<cl_kernel> kernel(const std::string& name);
  cl_int set(cl_kernel kernel, cl_uint index, const gpu::Argument& argument) const;
  Result<void> collect(Run& run);

  const Native& native_;
  const gpu::Application& application_;
  std::size_t first_launch_ = 0;
  std::uint32_t launches_ = 0, sent_ = 0;  // launches of a run, and those sent in this run so far
  Timed timed_ = Timed::every_launch;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  std::map<std::string, cl_kernel> kernels_;
  std::vector<cl_mem> memory_;
  // A buffer that a run changes, and its contents before.
  struct Changed {
    std::size_t buffer = 0;
    cl_mem initial = nullptr;
  };
  std::optional<std::vector<Changed>> changed_;  // once it is known
  std::vector<cl_event> events_;                 // one for each launch of this run
};

}  // namespace wm::runtime
