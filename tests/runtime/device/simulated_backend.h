// A test's own CUDA backend on the simulated CUDA driver of this build, with a queue.
#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "runtime/device/cuda/backend.h"
#include "runtime/device/ptx_front_end.h"
#include "tree.h"

namespace wm::runtime::cuda {

struct SimulatedBackend : testing::Test {
  SimulatedBackend() {
    const auto calls = load_driver(binary_path("lib/simulated/libcuda.so.1"));
    EXPECT_TRUE(calls) << calls.error().what;
    auto device = Device::open(*calls);
    EXPECT_TRUE(device) << device.error().what;
    backend = std::make_unique<CudaBackend>(std::move(*device), std::make_unique<PtxFrontEnd>());
    queue = backend->allocation().create_queue(true, true).object;
  }

  KernelHandle kernel(const std::string& text, const std::string& name) {
    Compilation& compiler = backend->compilation();
    program = compiler.program_from_source(opencl_ptx(text)).object;
    EXPECT_EQ(compiler.build(*program, ""), status::kSuccess) << compiler.build_log(*program);
    return compiler.create_kernel(*program, name).object;
  }

  std::unique_ptr<CudaBackend> backend;
  QueueHandle queue;
  ProgramHandle program;
};

}  // namespace wm::runtime::cuda
