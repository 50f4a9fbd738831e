// The two machines on which programs are compared with their rewritten form.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/opencl_runner.h"
#include "rewrite/program.h"
#include "rewrite/worker_here.h"

namespace wm::rewrite {

// OpenCL C to PTX as the build does it for the zoo.
Result<std::string> compile_to_ptx(const std::string& source);

// Runs an application's PTX in the executor.
Result<zoo::Buffers> run_ptx(const std::string& ptx, const gpu::Application& application);

// "" where the application's buffers are the same in both; otherwise the first that differs and where.
std::string difference(const gpu::Application& application, const zoo::Buffers& expected, const zoo::Buffers& got);

// The offset goes into the range of every worker launch; the launch itself has none.
void set_offset(gpu::Application& application, const std::array<std::size_t, 3>& offset);

}  // namespace wm::rewrite
