#include "runtime/device/cuda/launcher.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "rewrite/ptx/gates.h"
#include "rewrite/ptx/persistent.h"
#include "runtime/device/cuda/image.h"
#include "runtime/device/cuda/launch_counters.h"

namespace wm::runtime::cuda {
namespace {

constexpr std::size_t kLocalAlign = 16;
constexpr std::size_t kSharedUnit = 128;
constexpr std::size_t kChosenItems = 256;

std::size_t rounded_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

// The largest divisor that makes a group of at max_dynamic `limit` items.
std::size_t chosen_size(std::size_t global, std::size_t limit) {
  for (std::size_t n = std::min(global, limit); n > 1; --n) {
    if (global % n == 0) return n;
  }
  return 1;
}

using ImageParameter = rewrite::KernelImages::Parameter;

Status check_image(const ImageParameter& parameter, const KernelArgument& a) {
  if (parameter.kind == ImageParameter::Kind::sampler) {
    return a.kind == ArgumentKind::sampler ? status::kSuccess : status::kInvalidArgumentSize;
  }
  if (a.kind == ArgumentKind::no_memory) return status::kInvalidMemoryObject;
  if (a.kind != ArgumentKind::memory || a.memory == nullptr) return status::kInvalidArgumentSize;
  const CudaImage* const image = of(*a.memory).image();
  if (image == nullptr || !image->has_shape(parameter.shape)) return status::kInvalidMemoryObject;
  if (parameter.needs_array && image->array == nullptr) return status::kInvalidMemoryObject;
  // There is no conversion to sRGB in surfaces.
  const bool is_written = parameter.kind == ImageParameter::Kind::written_image;
  return is_written && image->format.is_srgb ? status::kInvalidMemoryObject : status::kSuccess;
}

}  // namespace

bool Launcher::prepare_gates() {
  if (device_.allocate_words(words_, 2 * std::size_t{rewrite::kOpenGateOffset}) != kSuccess) words_ = 0;
  return words_ != 0;
}

Launcher::Shape Launcher::shape(const KernelLaunch& launch) const {
  Shape shape;
  const CudaKernel& kernel = of(*launch.kernel);
  Size3 local{1, 1, 1};
  if (launch.local) {
    local = *launch.local;
  } else {
    const auto limit = std::min<std::size_t>(static_cast<std::size_t>(kernel.max_threads), kChosenItems);
    local[0] = chosen_size(launch.global[0], limit);
  }
  std::size_t items = 1;
  for (std::uint32_t d = 0; d < 3; ++d) {
    const std::size_t global = d < launch.dimensions ? launch.global[d] : 1;
    const std::size_t size = d < launch.dimensions ? local[d] : 1;
    // Groups of different sizes would need several launches.
    if (size == 0 || global % size != 0) return shape.status = status::kInvalidWorkGroupSize, shape;
    const std::size_t groups = global / size, max_groups = d == 0 ? 0x7fffffff : 0xffff;
    if (groups > max_groups) return shape.status = status::kInvalidWorkGroupSize, shape;
    shape.grid[d] = static_cast<unsigned>(groups);
    shape.block[d] = static_cast<unsigned>(size);
    items *= size;
  }
  if (items > static_cast<std::size_t>(kernel.max_threads)) shape.status = status::kInvalidWorkGroupSize;
  shape.valid = shape.status == status::kSuccess;
  return shape;
}

Status Launcher::check(const CudaKernel& kernel, std::uint32_t index, const KernelArgument& a) {
  if (index >= kernel.layout.parameters.size()) return status::kInvalidKernelArguments;
  const rewrite::AdaptedParameter& p = kernel.layout.parameters[index];
  if (p.image.kind != ImageParameter::Kind::other) return check_image(p.image, a);
  switch (a.kind) {
    case ArgumentKind::memory:
      if (a.memory != nullptr && of(*a.memory).image() != nullptr) return status::kInvalidMemoryObject;
      [[fallthrough]];
    case ArgumentKind::no_memory:
      return p.bytes == sizeof(Address) && !p.local_memory ? status::kSuccess : status::kInvalidArgumentSize;
    case ArgumentKind::local:
      return p.local_memory ? status::kSuccess : status::kInvalidArgumentSize;
    case ArgumentKind::sampler:
      return status::kInvalidArgumentSize;
    default:
      return a.size == p.bytes && !p.local_memory ? status::kSuccess : status::kInvalidArgumentSize;
  }
}

// The values of all parameters, and pointers to them.
struct Launcher::Parameters {
  static constexpr std::size_t kMaxParameters = 1024;  // a launch has at most 4 KB of them
  Parameters() {}                                      // the arrays are filled as far as they are used
  std::array<std::uint64_t, kMaxParameters> words;
  std::array<void*, kMaxParameters> pointers;
  std::array<std::uint32_t, rewrite::kEnvironmentWords> environment{};
  Address gate = 0, table = 0;
  rewrite::PersistentGrid grid;
  std::vector<rewrite::ImageRecord> images;
  std::vector<Address> textures;
  std::size_t count = 0;
  std::size_t shared = 0;
};

Status Launcher::set_image(const ImageParameter& parameter, const CudaImage& image, std::size_t index, Parameters& to) {
  Address surface = 0;
  if (parameter.kind == ImageParameter::Kind::written_image) {
    if (const Code code = image.surface(surface); code != kSuccess) return status::kOutOfResources;
  }
  to.images.push_back(image.record(surface));
  to.pointers[index] = &to.images.back();
  return status::kSuccess;
}

Status Launcher::set_textures(const CudaKernel& kernel, const KernelLaunch& launch, Parameters& to) {
  for (const rewrite::TextureUse& use : kernel.layout.textures) {
    const CudaImage& image = *of(*launch.arguments[use.image].memory).image();
    Sampling sampling =
        use.sampler_parameter
            ? static_cast<const CudaSampler&>(*launch.arguments[*use.sampler_parameter].sampler).sampling
            : sampling_of(use.sampler);
    if (use.by_texels) sampling.is_normalized = sampling.filters = false;
    if (image.texture(sampling, to.textures.emplace_back()) != kSuccess) return status::kOutOfResources;
  }
  to.pointers[to.count++] = to.textures.data();
  return status::kSuccess;
}

Status Launcher::set(const CudaKernel& kernel, const KernelLaunch& launch, const Shape& shape, Parameters& to) const {
  const auto& layout = kernel.layout.parameters;
  if (launch.arguments.size() != layout.size() || layout.size() + 4 > Parameters::kMaxParameters) {
    return status::kInvalidKernelArguments;
  }
  if (kernel.layout.has_images) to.images.reserve(layout.size());  // the driver gets pointers to them
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const KernelArgument& a = launch.arguments[i];
    if (const Status s = check(kernel, static_cast<std::uint32_t>(i), a); s != status::kSuccess) return s;
    to.words[i] = 0;
    to.pointers[i] = &to.words[i];
    if (layout[i].image.kind == ImageParameter::Kind::sampler) continue;
    if (layout[i].image.kind != ImageParameter::Kind::other) {
      if (const Status s = set_image(layout[i].image, *of(*a.memory).image(), i, to); s != status::kSuccess) return s;
    } else if (a.kind == ArgumentKind::memory) {
      to.words[i] = of(*a.memory).address;
    } else if (a.kind == ArgumentKind::local) {
      to.words[i] = to.shared = rounded_up(to.shared, std::max<std::size_t>(kLocalAlign, layout[i].local_align));
      to.shared += a.size;
    } else if (a.kind != ArgumentKind::no_memory) {
      to.pointers[i] = const_cast<void*>(a.bytes);
    }
  }
  to.count = layout.size();
  if (!kernel.layout.textures.empty()) {
    if (const Status s = set_textures(kernel, launch, to); s != status::kSuccess) return s;
  }
  if (!kernel.layout.reads_environment) return status::kSuccess;
  for (std::size_t d = 0; d < 3; ++d) {
    to.environment[3 + d] = static_cast<std::uint32_t>(launch.offset[d]);
    to.environment[6 + d] = shape.grid[d];
  }
  to.environment[9] = launch.dimensions;
  to.pointers[to.count++] = to.environment.data();
  return status::kSuccess;
}

// One more group than allowed must not fit.
std::size_t Launcher::limiting_bytes(std::uint32_t groups) const {
  const auto total = static_cast<std::size_t>(device_.facts().shared_per_multiprocessor);
  return rounded_up(total / (std::size_t{groups} + 1) + 1, kSharedUnit);
}

unsigned Launcher::padded_shared(const CudaKernel& kernel, unsigned needed, std::size_t group_bytes) const {
  const DeviceFacts& facts = device_.facts();
  const auto own =
      static_cast<std::size_t>(kernel.static_shared) + static_cast<std::size_t>(facts.reserved_shared_per_block);
  const std::size_t dynamic = group_bytes > own ? group_bytes - own : 0;
  const auto max_dynamic = static_cast<std::size_t>(std::max(facts.shared_per_block_optin - kernel.static_shared, 0));
  return std::max(needed, static_cast<unsigned>(std::min(dynamic, max_dynamic)));
}

std::uint32_t Launcher::group_limit(const LaunchSharing& sharing, Function function, const Shape& shape,
                                    unsigned shared) const {
  if (sharing.unit_share >= 1 && sharing.max_groups_per_unit == 0) return 0;
  const auto threads = static_cast<int>(shape.block[0] * shape.block[1] * shape.block[2]);
  int fit = 0;
  if (device_.cuda.blocks_per_multiprocessor(&fit, function, threads, shared) != kSuccess || fit <= 0) return 0;
  const auto all = static_cast<std::uint32_t>(fit);
  auto limit = std::max(static_cast<std::uint32_t>(sharing.unit_share * fit), 1U);
  if (sharing.max_groups_per_unit != 0) limit = std::min(limit, sharing.max_groups_per_unit);
  return limit < all ? limit : 0;
}

rewrite::PersistentGrid Launcher::persistent_grid(const WorkerLaunch& workers, const Shape& shape) const {
  const auto counters = [](const LaunchCounters& c) -> const auto& {
    return static_cast<const CudaLaunchCounters&>(c);
  };
  rewrite::PersistentGrid grid;
  grid.x = shape.grid[0];
  grid.y = shape.grid[1];
  grid.z = shape.grid[2];
  grid.chunk = workers.chunk;
  grid.total = grid.x * grid.y * grid.z;
  grid.beside = workers.beside_queue ? rewrite::kBesideStream : 0;
  grid.queue = counters(*workers.counters).queue;
  grid.complete = reinterpret_cast<Address>(counters(*workers.counters).complete);
  grid.before = workers.before != nullptr ? counters(*workers.before).queue : words_ + rewrite::kOpenGateOffset;
  grid.before_total = workers.before != nullptr ? workers.groups_before : 0;
  return grid;
}

Status Launcher::launch(Stream stream, const KernelLaunch& launch, const Shape& shape) {
  const CudaKernel& kernel = of(*launch.kernel);
  Parameters parameters;
  if (const Status s = set(kernel, launch, shape, parameters); s != status::kSuccess) return s;
  const LaunchSharing& sharing = launch.sharing;
  Function function = kernel.function;
  Shape launched = shape;
  if (launch.workers) {
    if (kernel.workers == nullptr || words_ == 0) return status::kInvalidKernelArguments;
    function = kernel.workers;
    parameters.table = of(*launch.workers->table).address;
    parameters.grid = persistent_grid(*launch.workers, shape);
    parameters.pointers[parameters.count++] = &parameters.table;
    parameters.pointers[parameters.count++] = &parameters.grid;
    launched.grid[0] = launch.workers->workers;
    launched.grid[1] = launched.grid[2] = 1;
  } else if (sharing.yields && kernel.gated != nullptr && words_ != 0) {
    function = kernel.gated;
    parameters.gate = words_;
    parameters.pointers[parameters.count++] = &parameters.gate;
  }
  auto shared = static_cast<unsigned>(parameters.shared);
  if (static_cast<int>(shared) + kernel.static_shared > device_.facts().shared_per_block_optin) {
    return status::kOutOfResources;
  }
  if (const std::uint32_t groups = group_limit(sharing, function, shape, shared); groups != 0) {
    shared = padded_shared(kernel, shared, limiting_bytes(groups));
  }
  if (sharing.min_group_bytes != 0) shared = padded_shared(kernel, shared, sharing.min_group_bytes);
  // Kernels for which the driver divides an SM's memory otherwise cannot run beside each other.
  const bool is_beside_others = sharing.unit_share < 1 || sharing.priority > 0 || sharing.min_group_bytes != 0;
  if (is_beside_others) divide_memory_as_others(kernel, function);
  const bool holds = sharing.holds_gates && words_ != 0;
  if (holds) device_.cuda.write_value(stream, words_, 1, 0);
  const Code code =
      device_.cuda.launch(function, launched.grid[0], launched.grid[1], launched.grid[2], shape.block[0],
                          shape.block[1], shape.block[2], shared, stream, parameters.pointers.data(), nullptr);
  if (holds && code != kSuccess) open_gate(stream);
  return status_of(code);
}

void Launcher::open_gate(Stream stream) const {
  if (words_ != 0) device_.cuda.write_value(stream, words_, 0, 0);
}

void Launcher::divide_memory_as_others(const CudaKernel& kernel, Function function) const {
  bool& done = function == kernel.gated ? kernel.gated_is_divided : kernel.is_divided;
  if (done) return;
  constexpr int kAllShared = 100;  // percent
  device_.cuda.set_function_attribute(function, function_attribute::kSharedCarveout, kAllShared);
  done = true;
}

}  // namespace wm::runtime::cuda
