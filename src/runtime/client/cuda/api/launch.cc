#include "runtime/client/cuda/api/launch.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "gpu/occupancy.h"
#include "runtime/client/cuda/api/device_attributes.h"
#include "runtime/client/cuda/api/load_image.h"
#include "runtime/client/cuda/api/occupancy.h"
#include "runtime/client/cuda/state/node_parameters.h"

namespace wm::cuda {
namespace {

// Bytes of a grid's workspace: cooperative groups keep the words of the grid's barrier there.
constexpr std::uint64_t kWorkspaceBytes = 1024;
constexpr int kMaxPriority = 100;

CUresult check_shape(const Driver& driver, const Function& function, const LaunchShape& shape) {
  const gpu::Dim3 &grid = shape.grid, &block = shape.block;
  if (grid.count() == 0 || block.count() == 0) return CUDA_ERROR_INVALID_VALUE;
  if (grid.x > 0x7fffffffU || grid.y > 65535 || grid.z > 65535) return CUDA_ERROR_INVALID_VALUE;
  if (block.x > 1024 || block.y > 1024 || block.z > 64 || block.count() > kMaxThreadsPerBlock)
    return CUDA_ERROR_INVALID_VALUE;
  if (static_cast<std::int64_t>(shape.shared_bytes) > max_dynamic_shared(function)) return CUDA_ERROR_INVALID_VALUE;
  const auto blocks = blocks_per_sm(driver, function, static_cast<std::uint32_t>(block.count()), shape.shared_bytes);
  if (!blocks) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  const std::uint64_t sms = shape.sms == nullptr ? driver.config().sm.count : shape.sms->size();
  if (shape.cooperative && grid.count() > std::uint64_t{*blocks} * sms) return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  return CUDA_SUCCESS;
}

// Hands the bytes of each parameter to `take`.
template <typename Take>
CUresult read_parameters(const exec::Program& program, const LaunchParameters& given, Take&& take) {
  const std::byte* buffer = nullptr;
  std::size_t bytes = 0;
  if (given.extra != nullptr) {
    for (void** at = given.extra; *at != CU_LAUNCH_PARAM_END; at += 2) {
      if (*at == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<const std::byte*>(at[1]);
      if (*at == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<std::size_t*>(at[1]);
    }
  }
  for (std::size_t i = 0; i < program.parameters.size(); ++i) {
    const exec::KernelParameter& p = program.parameters[i];
    const std::byte* from = nullptr;
    if (given.values != nullptr) {
      from = static_cast<const std::byte*>(given.values[i]);
    } else if (buffer != nullptr && p.offset + p.bytes <= bytes) {
      from = buffer + p.offset;
    }
    if (from == nullptr) return CUDA_ERROR_INVALID_VALUE;
    take(from, p.bytes);
  }
  return CUDA_SUCCESS;
}

// The message that a failed assertion of a kernel writes, as CUDA words it.
// A machine with time gives the whole message as one text.
void print_fault(const exec::Fault& fault) { explain(fault.kernel.empty() ? fault.what : fault.to_string()); }

// `owner` names the context of the kernel, which a graph may outlive.
CUresult run_grid(Driver& driver, const void* owner, exec::Grid grid, const runtime::LoadedKernel& kernel,
                  bool cooperative, runtime::StreamTerms terms) {
  if (cooperative) {
    const auto workspace = driver.memory().allocate(kWorkspaceBytes, "workspace of a grid", owner);
    if (!workspace) return CUDA_ERROR_OUT_OF_MEMORY;
    grid.workspace = *workspace;
    if (!driver.memory().fill(grid.workspace, 0, 1, kWorkspaceBytes)) return CUDA_ERROR_UNKNOWN;
  }
  terms.priority += driver.priority;
  const runtime::KernelResult done = driver.runner().run(grid, kernel, terms);
  if (cooperative && !driver.memory().free(grid.workspace)) return CUDA_ERROR_UNKNOWN;
  driver.record(kernel.name, done);
  if (!done.fault) return CUDA_SUCCESS;
  print_fault(*done.fault);
  return result_of(*done.fault);
}

// An attribute of a launch. Those that change no result, as hints for caches, have no effect.
CUresult take_attribute(const CUlaunchAttribute& attribute, LaunchShape& shape) {
  const auto& value = attribute.value;
  switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      shape.cooperative = value.cooperative != 0;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      shape.priority = -std::clamp(value.priority, -kMaxPriority, kMaxPriority);
      shape.has_priority = true;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      if (std::uint64_t{value.cluster.x} * value.cluster.y * value.cluster.z <= 1) return CUDA_SUCCESS;
      explain("clusters of more than one block are not simulated");
      return CUDA_ERROR_NOT_SUPPORTED;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      explain(fmt::format("attribute {} of launches is not simulated", attribute.id));
      return CUDA_ERROR_NOT_SUPPORTED;
    default:
      return attribute.id <= CU_LAUNCH_ATTRIBUTE_LAST ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult launch(CUfunction handle, CUstream stream_handle, const LaunchShape& shape,
                const LaunchParameters& parameters) {
  return with_work_stream(stream_handle, [&](Context& context, Stream& stream) {
    const auto function = driver_of(context).functions.find(handle);
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    Operation operation;
    LaunchShape prioritised = shape;
    if (!shape.has_priority) prioritised.priority = -stream.priority;  // CUDA's greatest priority is the lowest number
    prioritised.stream = stream.id;
    prioritised.sms = stream.sms;
    const CUresult made = launch_operation(context, *function, prioritised, parameters, operation);
    if (made != CUDA_SUCCESS) return made;
    if (Context::is_capturing(stream))
      operation.parameters = launch_parameters(context, *function, prioritised, parameters);
    context.enqueue(stream, std::move(operation));
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult launch_operation(Context& context, Function& function, const LaunchShape& shape,
                          const LaunchParameters& parameters, Operation& operation) {
  Driver& driver = driver_of(context);
  if (!function.kernel->cluster_directive.empty()) {
    explain(fmt::format("kernel '{}' needs clusters of blocks (.{}), which are not simulated", function.name,
                        function.kernel->cluster_directive));
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (const CUresult fits = check_shape(driver, function, shape); fits != CUDA_SUCCESS) return fits;
  // The launch keeps its module: it may be unloaded, or its context destroyed, before the launch has run elsewhere.
  auto module = function.module->weak_from_this().lock();
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const runtime::LoadedKernel& kernel = *function.kernel;
  gpu::Launch launch{kernel.name, shape.grid, shape.block, {}, shape.shared_bytes};
  const CUresult read = read_parameters(*kernel.program, parameters, [&](const std::byte* from, std::size_t bytes) {
    launch.arguments.emplace_back(gpu::Scalar{{from, from + bytes}});
  });
  if (read != CUDA_SUCCESS) return read;
  auto grid = exec::make_grid(kernel.program, kernel.constants, driver.memory().space(), launch, {});
  if (!grid) {
    explain(grid.error().what);
    return CUDA_ERROR_INVALID_VALUE;
  }
  grid->id = driver.next_id();
  grid->print = [&driver](std::string_view text) { driver.print(text); };
  operation.kind = runtime::WorkKind::kernel;
  operation.type = NodeType::kernel;
  operation.run = [&driver, owner = static_cast<const void*>(&context), &kernel, module = std::move(module),
                   grid = *std::move(grid), cooperative = shape.cooperative,
                   terms = runtime::StreamTerms{shape.priority, shape.stream, shape.sms}] {
    return run_grid(driver, owner, grid, kernel, cooperative, terms);
  };
  return CUDA_SUCCESS;
}

std::shared_ptr<const NodeParameters> launch_parameters(const Context& context, Function& function,
                                                        const LaunchShape& shape, const LaunchParameters& parameters) {
  auto made = std::make_shared<NodeParameters>();
  auto& node = made->value.emplace<KernelNode>();
  node.launch = {&function,     shape.grid.x,       shape.grid.y, shape.grid.z, shape.block.x, shape.block.y,
                 shape.block.z, shape.shared_bytes, nullptr,      nullptr,      nullptr,       nullptr};
  node.context = &context;
  node.is_cooperative = shape.cooperative;
  (void)read_parameters(*function.kernel->program, parameters, [&](const std::byte* from, std::size_t bytes) {
    node.values.emplace_back(from, from + bytes);
  });
  for (auto& value : node.values) node.pointers.push_back(value.data());
  node.launch.kernelParams = node.pointers.data();
  return made;
}

CUresult result_of(const exec::Fault& fault) {
  using Kind = exec::Fault::Kind;
  switch (fault.kind) {
    case Kind::out_of_bounds:
    case Kind::read_only:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    case Kind::misaligned:
      return CUDA_ERROR_MISALIGNED_ADDRESS;
    case Kind::bad_call:
      return CUDA_ERROR_INVALID_PC;
    case Kind::illegal_instruction:
      return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case Kind::stack_overflow:
      return CUDA_ERROR_HARDWARE_STACK_ERROR;
    case Kind::assertion:
      return CUDA_ERROR_ASSERT;
    case Kind::deadlock:
    case Kind::instruction_limit:
      return CUDA_ERROR_LAUNCH_TIMEOUT;
    case Kind::memory_limit:
    case Kind::trap:
      break;
  }
  return CUDA_ERROR_LAUNCH_FAILED;
}

}  // namespace wm::cuda

using wm::cuda::LaunchShape;

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** parameters,
                        void** extra) {
  const LaunchShape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, false};
  return wm::cuda::launch(function, stream, shape, {parameters, extra});
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   CUstream stream, void** parameters) {
  const LaunchShape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, true};
  return wm::cuda::launch(function, stream, shape, {parameters, nullptr});
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* c, CUfunction function, void** parameters, void** extra) {
  if (c == nullptr || (c->attrs == nullptr && c->numAttrs != 0)) return CUDA_ERROR_INVALID_VALUE;
  LaunchShape shape{
      {c->gridDimX, c->gridDimY, c->gridDimZ}, {c->blockDimX, c->blockDimY, c->blockDimZ}, c->sharedMemBytes, false};
  for (unsigned i = 0; i < c->numAttrs; ++i) {
    if (const CUresult taken = wm::cuda::take_attribute(c->attrs[i], shape); taken != CUDA_SUCCESS) return taken;
  }
  return wm::cuda::launch(function, c->hStream, shape, {parameters, extra});
}
