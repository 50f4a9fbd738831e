// A launch made ready to run: the decoded kernel, its client's memory, the bytes of its parameters, its shape.
//
// A Grid is immutable while its blocks run; blocks of any number of grids can run interleaved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/address_space.h"
#include "exec/image.h"
#include "exec/program.h"
#include "gpu/application.h"

namespace wm::exec {

// Receives the output of kernels, in the order of blocks, then warps, then lanes: one call per vprintf of a thread.
using PrintSink = std::function<void(std::string_view)>;

struct Grid {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const Constants> constants;  // the program's pool, linked to the client's addresses
  AddressSpace* memory = nullptr;
  gpu::Dim3 blocks;
  gpu::Dim3 threads;
  std::vector<std::byte> parameters;
  std::uint32_t dynamic_shared_bytes = 0;  // dynamic shared memory of the launch
  std::uint32_t shared_bytes = 0;          // per block, static and dynamic
  // Memory of a block for the system's own use, as of cooperative groups larger than a warp: behind the kernel's, so
  // that it has no place where a kernel's own begins. Only kernels that ask where it is have it. It is zero at first.
  static constexpr std::uint32_t kReservedShared = 1024;
  std::uint32_t reserved_shared = 0;  // its first byte
  std::uint64_t id = 0;               // %gridid
  std::uint64_t workspace = 0;        // address in %envreg1 (high half) and %envreg2, for cooperative launches
  std::mutex* atomics = nullptr;      // locked for every atomic where host threads share the memory
  PrintSink print;                    // without one, printed text is dropped

  [[nodiscard]] std::uint32_t threads_per_block() const { return static_cast<std::uint32_t>(threads.count()); }
  [[nodiscard]] std::uint32_t warps_per_block() const { return (threads_per_block() + kLanes - 1) / kLanes; }
  // Host memory of a block that runs: registers, local and shared memory.
  [[nodiscard]] std::uint64_t block_bytes() const {
    const std::uint64_t local = std::uint64_t{program->local_bytes} * kLanes;
    return shared_bytes + (program->functions[0].frame_bytes() + local) * warps_per_block();
  }
  // The index of the `n`th block, x fastest.
  [[nodiscard]] gpu::Dim3 block_index(std::uint64_t n) const {
    return {static_cast<std::uint32_t>(n % blocks.x), static_cast<std::uint32_t>(n / blocks.x % blocks.y),
            static_cast<std::uint32_t>(n / blocks.x / blocks.y)};
  }
};

// A grid of `program` for `launch`. `buffers` are the addresses of the application's buffers. A mismatch (the
// number or size of arguments, a block too large) is an error that names the kernel.
Result<Grid> make_grid(std::shared_ptr<const Program> program, std::shared_ptr<const Constants> constants,
                       AddressSpace& memory, const gpu::Launch& launch, std::span<const std::uint64_t> buffers);

}  // namespace wm::exec
