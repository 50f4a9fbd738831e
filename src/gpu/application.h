// An application as data: its buffers, and its transfers and launches in order.
//
// The description holds everything that depends on the input (a breadth-first search knows its levels), so any machine
// can run it: the functional executor, the simulators, a CUDA or OpenCL device. It owns its buffers' initial contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace wm::gpu {

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;

  [[nodiscard]] constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  friend constexpr bool operator==(const Dim3&, const Dim3&) = default;
};

// Index into Application::buffers.
struct BufferId {
  std::uint32_t index = 0;
  friend constexpr bool operator==(const BufferId&, const BufferId&) = default;
};

// Device memory of one application. `initial` is the data of a host-to-device transfer; where it is shorter than
// `bytes`, and before any transfer, the content is unspecified (the executor poisons it).
struct Buffer {
  std::string name;
  std::size_t bytes = 0;
  std::vector<std::byte> initial;
};

// Kernel arguments, in the order of the kernel's parameters.
struct Scalar {
  std::vector<std::byte> bytes;  // exactly the parameter's size, little endian

  // A place in `bytes` that holds the address of a buffer, eight bytes wide.
  struct Address {
    std::size_t at = 0;
    BufferId buffer;
    std::size_t offset = 0;  // from the buffer's first byte
  };
  std::vector<Address> addresses{};
};
struct BufferArgument {
  BufferId buffer;
  std::size_t offset = 0;
};
struct LocalMemory {  // an OpenCL __local pointer argument: that many bytes of each block's shared memory
  std::size_t bytes = 0;
};
using Argument = std::variant<Scalar, BufferArgument, LocalMemory>;

template <typename T>
requires std::is_trivially_copyable_v<T> Argument scalar(const T& value) {
  Scalar s;
  s.bytes.resize(sizeof(T));
  std::memcpy(s.bytes.data(), &value, sizeof(T));
  return s;
}
inline Argument buffer(BufferId id, std::size_t offset = 0) { return BufferArgument{id, offset}; }

struct Launch {
  std::string kernel;  // the entry's name in the module
  Dim3 grid;           // in blocks
  Dim3 block;          // in threads
  std::vector<Argument> arguments;
  std::size_t dynamic_shared_bytes = 0;
  bool cooperative = false;  // all blocks are resident at once and may wait for each other
};

struct Transfer {
  enum class Direction { to_device, to_host };
  Direction direction = Direction::to_device;
  BufferId buffer;
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

// Fills a range of a buffer with one byte value, on the device.
struct Fill {
  BufferId buffer;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  std::byte value{0};
};

using Step = std::variant<Transfer, Fill, Launch>;

// The content of a __constant__ or __device__ variable of the module, which replaces its initial value.
struct VariableContent {
  std::string name;
  std::vector<std::byte> bytes;
};

struct Application {
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::vector<VariableContent> variables{};  // written before the first step
  // Kernels, by entry, whose read-only loads are texture fetches in the program that they stand for.
  std::vector<std::string> texture_kernels{};

  // A buffer whose initial content is `values`.
  template <typename T>
  BufferId add(std::string name, const std::vector<T>& values) {
    Buffer b{std::move(name), values.size() * sizeof(T), {}};
    b.initial.resize(b.bytes);
    if (b.bytes != 0) std::memcpy(b.initial.data(), values.data(), b.bytes);
    buffers.push_back(std::move(b));
    return {static_cast<std::uint32_t>(buffers.size() - 1)};
  }
  // A buffer the host never writes.
  BufferId add_uninitialized(std::string name, std::size_t bytes) {
    buffers.push_back({std::move(name), bytes, {}});
    return {static_cast<std::uint32_t>(buffers.size() - 1)};
  }

  void upload(BufferId id) {
    steps.push_back(Transfer{Transfer::Direction::to_device, id, 0, buffers[id.index].bytes});
  }
  void download(BufferId id) {
    steps.push_back(Transfer{Transfer::Direction::to_host, id, 0, buffers[id.index].bytes});
  }
  void fill(BufferId id, std::byte value) { steps.push_back(Fill{id, 0, buffers[id.index].bytes, value}); }
  void launch(Launch l) { steps.push_back(std::move(l)); }
};

}  // namespace wm::gpu
