// Applications for rewritten kernels: the same launches with the arguments that a rewritten kernel takes.
#pragma once

#include <gtest/gtest.h>
#include <string>

#include "kernels/every_benchmark.h"
#include "ptx/ir.h"
#include "rewrite/machines.h"
#include "rewrite/ptx/opencl_adapter.h"

namespace wm::rewrite {

// The zoo's PTX as NVIDIA's OpenCL compiler would write it: block indices count from the group offset, and the number
// of blocks is read from %envreg6 to 8.
std::string as_nvidia_opencl(std::string_view ptx);

ptx::Module parsed(const std::string& text);

// The launches of adapted kernels: offsets for __local arguments, and the environment.
gpu::Application for_adapted(gpu::Application application, const AdaptedModule& adapted);

// Runs both and says where they differ; "" where they do not.
std::string compare_runs(const ptx::Module& original, const gpu::Application& application, const ptx::Module& rewritten,
                         const gpu::Application& rewritten_application);

}  // namespace wm::rewrite
