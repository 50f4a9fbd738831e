// Runs an application on an OpenCL device, from the benchmark's source: an execution of the zoo that shares no code
// with ours. Built where OpenCL is found; a device is looked for at run time.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/application.h"

namespace wm::zoo {

bool have_opencl_device();

using Buffers = std::vector<std::vector<std::byte>>;

// Options of a launch that an application does not give.
struct Placement {
  std::array<std::size_t, 3> offset{0, 0, 0};
  unsigned dimensions = 3;
};

// A program built once, for any number of runs.
class OpenClProgram {
 public:
  // `platform`: part of its name; empty: the first one with a device.
  static Result<OpenClProgram> build(std::string_view source, const std::string& options = "-cl-std=CL1.2",
                                     const std::string& platform = "");
  OpenClProgram(OpenClProgram&&) noexcept;
  OpenClProgram& operator=(OpenClProgram&&) noexcept;
  ~OpenClProgram();

  // Final contents of every buffer, by index.
  Result<Buffers> run(const gpu::Application& app, const Placement& placement = {});

  struct Parts;

 private:
  explicit OpenClProgram(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// Both at once.
Result<Buffers> run_on_opencl(std::string_view source, const gpu::Application& app);

}  // namespace wm::zoo
