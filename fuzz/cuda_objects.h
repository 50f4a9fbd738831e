// The input, the objects made so far and the host memory of a sequence of calls of the CUDA driver API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/client/cuda/interface/functions.h"

namespace wm::fuzz {

// Numbers from the input; 0 after its end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  [[nodiscard]] bool more() const { return at_ < size_; }
  std::uint8_t byte() { return more() ? data_[at_++] : std::uint8_t{0}; }
  std::size_t size() { return std::size_t{byte()} << (byte() % 6); }
  // One of the handles made so far, perhaps destroyed meanwhile; or none.
  template <typename Handle>
  Handle of(const std::vector<Handle>& handles) {
    const std::uint8_t choice = byte();
    if (handles.empty() || choice % 8 == 7) return Handle{};
    return handles[choice % handles.size()];
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_, at_ = 0;
};

struct Objects {
  std::vector<CUcontext> contexts;
  std::vector<CUmodule> modules;
  std::vector<CUfunction> functions;
  std::vector<CUstream> streams;
  std::vector<CUevent> events;
  std::vector<CUgraph> graphs;
  std::vector<CUgraphNode> nodes;
  std::vector<CUgraphExec> executables;
  std::vector<CUmemoryPool> pools;
  std::vector<CUdeviceptr> memory;  // and handles of textures and surfaces
  std::vector<CUarray> arrays;
  std::vector<CUmipmappedArray> mipmapped;
  std::vector<CUtexref> references;
  std::vector<char> host = std::vector<char>(1U << 14);
};

// `made` is read when the call that makes it has returned, whatever the order in which a compiler evaluates arguments.
template <typename Handle>
void keep(CUresult result, std::vector<Handle>& handles, const Handle& made) {
  if (result == CUDA_SUCCESS && handles.size() < 64) handles.push_back(made);
}

}  // namespace wm::fuzz
