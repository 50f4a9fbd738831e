// Memory that a node of a graph allocates. It keeps its address as long as a graph or an executable graph has the node.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "runtime/simulated/device_memory.h"

namespace wm::cuda {

class GraphMemory {
 public:
  static Result<std::shared_ptr<GraphMemory>> allocate(runtime::DeviceMemory& memory, std::uint64_t bytes,
                                                       const void* owner);
  // The memory of a graph that starts at an address; empty: there is none.
  static std::shared_ptr<GraphMemory> find(std::uint64_t address);

  GraphMemory(runtime::DeviceMemory& memory, std::uint64_t address, std::uint64_t bytes);
  // Memory that a launch has allocated and nothing has freed stays, and is the application's to free.
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  [[nodiscard]] std::uint64_t address() const { return address_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  // Bytes of all graphs now, and at most since `forget_peak`.
  static std::uint64_t total_bytes();
  static std::uint64_t peak_bytes();
  static void forget_peak();

  // A launch whose graph does not free the memory takes it; false: it has not been freed since the last launch.
  bool take();
  // A graph, or the application, frees memory that a launch has taken; false: no launch has.
  bool give_back();

  // Which graph frees the memory: the graph that allocates it, another one, or none.
  enum class FreedBy : std::uint8_t { none, own_graph, other_graph };
  // Chooses it; false: another choice was made, or the same graph frees it already.
  bool choose_free(FreedBy by);

 private:
  runtime::DeviceMemory& memory_;
  const std::uint64_t address_, bytes_;
  std::uint64_t allocation_ = 0;  // number of the allocation: another one may have the address later
  bool is_taken_ = false;
  FreedBy freed_by_ = FreedBy::none;
};

}  // namespace wm::cuda
