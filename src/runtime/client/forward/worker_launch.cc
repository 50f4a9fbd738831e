#include "runtime/client/forward/worker_launch.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "runtime/client/forward/kernel_attributes.h"
#include "runtime/client/forward/real_driver.h"

namespace wm::forward {

namespace {

// With this number of blocks or more, words of 32 bits would not suffice.
constexpr std::uint64_t kTooManyBlocks = rewrite::kBesideStream - 1;
// The most blocks of a grid in its second and third dimension. The driver refuses others, and shall: workers stand in
// one dimension, so that it would not see them.
constexpr unsigned kMaxRows = 65535;
// A worker takes several blocks at a time only where each worker has so many turns.
constexpr std::uint64_t kTurns = 4;

// The blocks of a kernel that fit on an SM, and the number of SMs. The driver takes about as long to tell as to launch,
// so that it is asked once.
class Occupancies {
 public:
  struct Answer {
    unsigned blocks = 0, sms = 0;
  };
  static Occupancies& get() {
    static auto* only = new Occupancies;
    return *only;
  }
  Answer find(CUfunction function, unsigned threads, unsigned shared_bytes) {
    const std::lock_guard lock(mutex_);
    const unsigned generation = FunctionTable::get().generation();
    if (generation != generation_) answers_.clear();
    generation_ = generation;
    const auto [at, is_new] = answers_.try_emplace({function, threads, shared_bytes});
    if (is_new) at->second = ask(function, threads, shared_bytes);
    return at->second;
  }

 private:
  static Answer ask(CUfunction function, unsigned threads, unsigned shared_bytes) {
    const auto kernel = KernelOnDevice::find(function);
    constexpr int kSmCount = 16;  // by its number in the driver's interface
    int sms = 0;
    if (!kernel || real().cuDeviceGetAttribute == nullptr ||
        real().cuDeviceGetAttribute(&sms, kSmCount, kernel->device()) != CUDA_SUCCESS)
      return {};
    return {static_cast<unsigned>(std::max(kernel->occupancy(threads, shared_bytes), 0)), static_cast<unsigned>(sms)};
  }

  std::mutex mutex_;
  unsigned generation_ = 0;
  std::map<std::tuple<CUfunction, unsigned, unsigned>, Answer> answers_;
};

// The memory of all parameters that `extra` names; null: it names none, or not all of the bytes.
const std::byte* parameter_buffer(void** extra, std::size_t bytes) {
  // The names of values in `extra`, by their numbers in the driver's interface.
  constexpr std::uintptr_t kEnd = 0, kBuffer = 1, kBytes = 2;
  const std::byte* buffer = nullptr;
  std::size_t given = 0;
  for (; extra != nullptr && reinterpret_cast<std::uintptr_t>(extra[0]) != kEnd; extra += 2) {
    const auto name = reinterpret_cast<std::uintptr_t>(extra[0]);
    if (name == kBuffer) buffer = static_cast<const std::byte*>(extra[1]);
    if (name == kBytes && extra[1] != nullptr) given = *static_cast<const std::size_t*>(extra[1]);
    if (name > kBytes) return nullptr;
  }
  return given >= bytes ? buffer : nullptr;
}

// False: the program has not given them.
bool copy_parameters(const KernelCall& asked, const std::vector<gates::ParameterPlace>& places, WorkerKernel& to) {
  const std::size_t bytes = places.empty() ? 0 : places.back().offset + std::size_t{places.back().bytes};
  const std::byte* const buffer = asked.parameters == nullptr ? parameter_buffer(asked.extra, bytes) : nullptr;
  if (bytes != 0 && asked.parameters == nullptr && buffer == nullptr) return false;
  to.values.resize(bytes);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const void* const from = buffer != nullptr ? buffer + places[i].offset : asked.parameters[i];
    if (from == nullptr) return false;
    std::memcpy(to.values.data() + places[i].offset, from, places[i].bytes);
    to.offsets.push_back(places[i].offset);
  }
  return true;
}

}  // namespace

WorkerLaunch::WorkerLaunch(WorkerKernel kernel, const WorkerWords::Launch& words)
    : kernel_(std::move(kernel)), words_(words) {}

std::optional<WorkerLaunch> WorkerLaunch::plan(const KernelCall& asked, const RewrittenKernels::Choice& choice,
                                               std::size_t own_sms) {
  const std::uint64_t blocks = asked.blocks();
  if (asked.grid_y > kMaxRows || asked.grid_z > kMaxRows) return std::nullopt;
  if (blocks == 0 || blocks >= kTooManyBlocks || asked.threads() == 0) return std::nullopt;
  const auto fit = Occupancies::get().find(choice.kernel, asked.threads(), asked.shared_bytes);
  WorkerKernel kernel;
  kernel.function = choice.kernel;
  kernel.block_x = asked.block_x;
  kernel.block_y = asked.block_y;
  kernel.block_z = asked.block_z;
  kernel.shared_bytes = asked.shared_bytes;
  kernel.stream = asked.stream;
  if (fit.blocks == 0 || fit.sms == 0 || !copy_parameters(asked, choice.workers->parameters, kernel))
    return std::nullopt;
  const auto words = WorkerWords::get().take();
  if (!words) return std::nullopt;
  // Blocks go to the SMs with most room, so that every SM gets its part of the workers; those on SMs of others leave at
  // once. Few blocks need fewer workers than fit.
  const std::uint64_t own = std::clamp<std::uint64_t>(own_sms, 1, fit.sms);
  const std::uint64_t per_sm = std::min<std::uint64_t>(fit.blocks, (blocks + own - 1) / own);
  kernel.workers = static_cast<unsigned>(per_sm * fit.sms);
  const std::uint64_t turns = blocks / (per_sm * own);
  kernel.control = words->words.control;
  kernel.grid.x = asked.grid_x;
  kernel.grid.y = asked.grid_y;
  kernel.grid.z = asked.grid_z;
  kernel.grid.total = static_cast<std::uint32_t>(blocks);
  kernel.grid.chunk = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(turns / kTurns, 1, choice.workers->chunk));
  kernel.grid.queue = words->words.queue;
  kernel.grid.before = words->words.before;
  kernel.grid.complete = words->words.complete;
  kernel.grid.workers = kernel.workers;
  return WorkerLaunch(std::move(kernel), *words);
}

KernelCall WorkerLaunch::call() {
  parameters_ = kernel_.parameters();
  return {.function = kernel_.function,
          .grid_x = kernel_.workers,
          .block_x = kernel_.block_x,
          .block_y = kernel_.block_y,
          .block_z = kernel_.block_z,
          .shared_bytes = kernel_.shared_bytes,
          .stream = kernel_.stream,
          .parameters = parameters_.data(),
          .extra = nullptr};
}

}  // namespace wm::forward
