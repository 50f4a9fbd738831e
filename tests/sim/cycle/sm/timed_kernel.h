// A kernel decoded and timed for one GPU, and blocks of it, for tests of the parts of an SM.
#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>

#include "exec/image.h"
#include "sim/cycle/bench_kernel.h"
#include "sim/cycle/memory/timing.h"
#include "sim/cycle/sm/block_run.h"

namespace wm::sim {

class TimedKernel {
 public:
  TimedKernel(const gpu::GpuConfig& config, const std::string& text, std::uint32_t blocks, std::uint32_t threads) {
    auto module = ptx::parse(text, "k.ptx");
    EXPECT_TRUE(module.ok()) << module.error().to_string();
    const std::uint64_t buffers[] = {*memory_.allocate(4096, "data")};
    image_ = *exec::Image::load(*module, memory_);
    auto program = exec::decode(*module, "k", "k.ptx");
    EXPECT_TRUE(program.ok()) << program.error().to_string();
    const gpu::Launch launch{"k", {blocks}, {threads}, {gpu::buffer({0})}, 0};
    auto grid = exec::make_grid(*program, *image_->link(**program), memory_, launch, buffers);
    EXPECT_TRUE(grid.ok()) << grid.error().to_string();
    grid_ = *std::move(grid);
    timed_ = time_program(*program, config);
  }

  [[nodiscard]] std::unique_ptr<BlockRun> block(std::uint64_t number, std::uint8_t kernel_index = 0) const {
    auto run = std::make_unique<BlockRun>();
    run->kernel = {.program = &timed_, .grid = &*grid_, .client = 0, .kernel_index = kernel_index};
    run->number = number;
    return run;
  }
  [[nodiscard]] const TimedProgram& timed() const { return timed_; }

 private:
  exec::AddressSpace memory_;
  std::optional<exec::Image> image_;
  std::optional<exec::Grid> grid_;
  TimedProgram timed_;
};

}  // namespace wm::sim
