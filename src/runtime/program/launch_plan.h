// A launch as its client requested it: everything that its submission to the device needs.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/device/backend.h"
#include "runtime/device/memory.h"
#include "runtime/program/program.h"

namespace wm::runtime {

struct LaunchPlan {
  std::shared_ptr<Kernel> kernel;
  std::shared_ptr<const KernelForm> form;
  std::uint32_t dimensions = 1;
  Size3 offset{}, global{1, 1, 1}, local{};
  bool local_given = false;
  struct Value {
    ArgumentKind kind{};
    std::size_t size = 0;
    std::vector<std::byte> bytes;
    std::shared_ptr<Memory> memory;
    std::shared_ptr<Sampler> sampler;
    [[nodiscard]] KernelArgument argument() const {
      return {kind, size, bytes.data(), memory ? memory->handle.get() : nullptr,
              sampler ? sampler->handle.get() : nullptr};
    }
  };
  std::vector<Value> arguments;
  std::uint32_t local_bytes = 0;   // per group
  bool may_run_unmodified = true;  // the device's compiler has the original ready, or there is no other form
  bool prints = false;
  std::span<std::byte> printed;  // receives the output, while `printed_region` is held
  std::shared_ptr<void> printed_region;
};

// Items of a group; where the device chooses the size, the maximum it may choose.
[[nodiscard]] std::uint64_t group_items(const LaunchPlan& plan);
[[nodiscard]] std::uint64_t group_count(const LaunchPlan& plan);

// The expected time of the launch with the device to itself; nothing if its kernel has not run yet.
[[nodiscard]] std::optional<double> expected_nanoseconds(const LaunchPlan& plan);
// Updates the kernel's estimate. A launch that `was_shared` may have waited for others and only shortens it.
void note_duration(const LaunchPlan& plan, std::uint64_t nanoseconds, bool was_shared);

// The group size of its workers; nothing if the launch cannot run as workers.
[[nodiscard]] std::optional<Size3> worker_local_size(const LaunchPlan& plan);

}  // namespace wm::runtime
