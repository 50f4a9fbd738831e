// Runs an application on an OpenCL device, from the benchmark's source: an execution of the zoo that shares no code
// with ours. Built where OpenCL is found; a device is looked for at run time.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/application.h"

namespace wm::zoo {

bool have_opencl_device();

// Final contents of every buffer, by index.
Result<std::vector<std::vector<std::byte>>> run_on_opencl(std::string_view source, const gpu::Application& app);

}  // namespace wm::zoo
