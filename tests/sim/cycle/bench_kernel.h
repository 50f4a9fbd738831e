// Small kernels made for one measurement, run in isolation on a GPU under test.
#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "gpu/load_gpu.h"
#include "policy/registry.h"
#include "ptx/parse.h"
#include "sim/cycle/machine.h"
#include "tree.h"

namespace wm::sim {

inline gpu::GpuConfig test_gpu(const std::string& name) {
  auto g = gpu::load_gpu(name, source_path("configs/gpus"));
  EXPECT_TRUE(g.ok()) << g.error().to_string();
  return *g;
}

// A kernel `k` with one pointer parameter; `body` may use %rd1 (the pointer), %r1 (the global thread number).
inline std::string kernel_text(const std::string& body) {
  return ".version 7.0\n.target sm_75\n.address_size 64\n"
         ".visible .entry k(.param .u64 p) {\n"
         ".reg .pred %p<8>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<64>;\n.reg .f32 %f<64>;\n"
         "ld.param.u64 %rd1, [p];\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
         "mad.lo.s32 %r1, %r2, %r3, %r4;\n" +
         body + "\nret;\n}\n";
}

struct Measured {
  std::uint64_t cycles = 0;
  ClientTotals totals;
};

// Runs the kernel once over a buffer with the given content.
inline Measured measure(const gpu::GpuConfig& config, const std::string& text, std::uint32_t blocks,
                        std::uint32_t threads, const std::vector<std::uint64_t>& content,
                        std::uint32_t host_threads = 1, const RunLimits& limits = {}) {
  auto module = ptx::parse(text, "k.ptx");
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  auto application = std::make_shared<gpu::Application>();
  const gpu::BufferId buffer = application->add("data", content);
  application->upload(buffer);
  application->launch({.kernel = "k",
                       .grid = {blocks},
                       .block = {threads},
                       .arguments = {gpu::buffer(buffer)},
                       .dynamic_shared_bytes = 0});
  auto machine = CycleMachine::make(config, host_threads, 1);
  EXPECT_TRUE(machine.ok()) << machine.error().to_string();
  ClientSpec spec;
  spec.name = "k";
  spec.module = std::make_shared<ptx::Module>(*std::move(module));
  spec.application = application;
  const auto added = (*machine)->add(spec);
  EXPECT_TRUE(added.ok()) << (added.ok() ? "" : added.error().to_string());
  const auto policy = policy::make(*policy::choose("left_over"), (*machine)->cans(), "cycle");
  const auto ran = (*machine)->run(**policy, limits);
  EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().to_string());
  return {(*machine)->now().count, (*machine)->totals(0)};
}

}  // namespace wm::sim
