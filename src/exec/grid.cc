#include "exec/grid.h"

#include <cstring>
#include <fmt/format.h>

namespace wm::exec {

namespace {

constexpr std::uint64_t kMaxThreads = 1024;   // limit of a block on any device
constexpr std::uint64_t kArgumentAlign = 16;  // alignment of each __local argument

std::uint64_t align_to(std::uint64_t n, std::uint64_t align) { return (n + align - 1) / align * align; }

std::string text(const gpu::Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

Result<void> check_shape(const Program& program, const gpu::Launch& launch) {
  const gpu::Dim3& block = launch.block;
  if (block.count() == 0 || launch.grid.count() == 0)
    return Error{fmt::format("kernel '{}': a grid of {} blocks of {} threads is empty", program.kernel,
                             text(launch.grid), text(block))};
  if (block.x > kMaxThreads || block.y > kMaxThreads || block.z > kMaxThreads || block.count() > kMaxThreads)
    return Error{
        fmt::format("kernel '{}': a block of {} threads is larger than {}", program.kernel, text(block), kMaxThreads)};
  if (launch.grid.x > 0x7fffffffU || launch.grid.y > 0xffffU || launch.grid.z > 0xffffU)
    return Error{fmt::format("kernel '{}': a grid of {} blocks is larger than a device takes", program.kernel,
                             text(launch.grid))};
  const auto& required = program.required_block;
  if (required[0] != 0 && gpu::Dim3{required[0], required[1], required[2]} != block)
    return Error{fmt::format("kernel '{}' runs with blocks of {} threads only (.reqntid), not {}", program.kernel,
                             text({required[0], required[1], required[2]}), text(block))};
  const auto& largest = program.largest_block;
  if (largest[0] != 0 && block.count() > std::uint64_t{largest[0]} * largest[1] * largest[2])
    return Error{fmt::format("kernel '{}' takes blocks of at most {} threads (.maxntid), not {}", program.kernel,
                             text({largest[0], largest[1], largest[2]}), text(block))};
  return {};
}

class Binder {
 public:
  Binder(const Program& program, std::span<const std::uint64_t> buffers, Grid& grid)
      : program_(program), buffers_(buffers), grid_(grid) {
    grid_.parameters.assign(program.parameter_bytes, std::byte{0});
  }

  Result<void> bind(std::size_t index, const gpu::Argument& argument) {
    const KernelParameter& p = program_.parameters[index];
    if (const auto* scalar = std::get_if<gpu::Scalar>(&argument)) {
      if (scalar->bytes.size() != p.bytes) return wrong(index, fmt::format("{} bytes", scalar->bytes.size()));
      if (!scalar->bytes.empty()) std::memcpy(grid_.parameters.data() + p.offset, scalar->bytes.data(), p.bytes);
      for (const gpu::Scalar::Address& a : scalar->addresses) {
        if (a.buffer.index >= buffers_.size() || a.at + sizeof(std::uint64_t) > p.bytes)
          return wrong(index, "an address outside of it");
        const std::uint64_t address = buffers_[a.buffer.index] + a.offset;
        std::memcpy(grid_.parameters.data() + p.offset + a.at, &address, sizeof address);
      }
      return {};
    }
    if (const auto* buffer = std::get_if<gpu::BufferArgument>(&argument)) {
      if (buffer->buffer.index >= buffers_.size())
        return Error{fmt::format("kernel '{}': argument {} is buffer {} of {}", program_.kernel, index,
                                 buffer->buffer.index, buffers_.size())};
      return put(index, buffers_[buffer->buffer.index] + buffer->offset, "a buffer");
    }
    const std::uint64_t bytes = std::get<gpu::LocalMemory>(argument).bytes;
    shared_ = align_to(shared_, kArgumentAlign);
    const std::uint64_t at = shared_;
    shared_ += std::min<std::uint64_t>(bytes, kWindowBytes + 1);
    return put(index, at, "__local memory");
  }

  std::uint64_t shared_ = 0;

 private:
  Result<void> put(std::size_t index, std::uint64_t value, const char* what) {
    const KernelParameter& p = program_.parameters[index];
    if (p.bytes != 8) return wrong(index, what);
    std::memcpy(grid_.parameters.data() + p.offset, &value, sizeof value);
    return {};
  }

  Error wrong(std::size_t index, const std::string& what) {
    const KernelParameter& p = program_.parameters[index];
    return {fmt::format("kernel '{}': argument {} is {}, parameter '{}' takes {} bytes", program_.kernel, index, what,
                        p.name, p.bytes)};
  }

  const Program& program_;
  std::span<const std::uint64_t> buffers_;
  Grid& grid_;
};

}  // namespace

Result<Grid> make_grid(std::shared_ptr<const Program> program, std::shared_ptr<const Constants> constants,
                       AddressSpace& memory, const gpu::Launch& launch, std::span<const std::uint64_t> buffers) {
  if (auto fits = check_shape(*program, launch); !fits) return fits.error();
  if (launch.arguments.size() != program->parameters.size())
    return Error{fmt::format("kernel '{}' takes {} arguments, the launch gives {}", program->kernel,
                             program->parameters.size(), launch.arguments.size())};
  Grid grid;
  grid.memory = &memory;
  grid.blocks = launch.grid;
  grid.threads = launch.block;
  Binder binder(*program, buffers, grid);
  // The kernel's own variables, then dynamic shared memory of the launch, then __local arguments.
  binder.shared_ = program->static_shared_bytes;
  if (launch.dynamic_shared_bytes != 0)
    binder.shared_ = align_to(binder.shared_, kArgumentAlign) +
                     std::min<std::uint64_t>(launch.dynamic_shared_bytes, kWindowBytes + 1);
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    if (auto bound = binder.bind(i, launch.arguments[i]); !bound) return bound.error();
    if (binder.shared_ > kWindowBytes) break;
  }
  if (binder.shared_ > kWindowBytes)
    return Error{
        fmt::format("kernel '{}': a block needs more than {} bytes of shared memory", program->kernel, kWindowBytes)};
  grid.shared_bytes = static_cast<std::uint32_t>(binder.shared_);
  grid.dynamic_shared_bytes = grid.shared_bytes - program->static_shared_bytes;
  grid.reserved_shared = static_cast<std::uint32_t>(align_to(binder.shared_, kArgumentAlign));
  if (launch.cooperative) {
    auto workspace = memory.clear_workspace();
    if (!workspace) return workspace.error();
    grid.workspace = *workspace;
  }
  grid.program = std::move(program);
  grid.constants = std::move(constants);
  return grid;
}

}  // namespace wm::exec
