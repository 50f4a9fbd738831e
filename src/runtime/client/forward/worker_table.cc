#include "runtime/client/forward/worker_table.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "runtime/client/forward/real_driver.h"

namespace wm::forward {

namespace {

using rewrite::kMaxSms;
using rewrite::PersistentControl;
using rewrite::PersistentQueue;

constexpr std::size_t kLaunchesOfBlock = 512, kMaxBlocks = 8, kMaxBeside = 16;
constexpr std::size_t kQueueBytes = kLaunchesOfBlock * sizeof(PersistentQueue);
constexpr unsigned kNonBlocking = 1, kPortableAndMapped = 3;
constexpr std::uint32_t kAnyNumber = 0x7fffffff;  // workers on an SM
static_assert(kMaxSms == runtime::SmSet().size());

bool can_make() {
  const RealFunctions& f = real();
  return f.cuMemAlloc_v2 != nullptr && f.cuMemHostAlloc != nullptr && f.cuMemcpyHtoDAsync_v2 != nullptr &&
         f.cuMemcpyDtoHAsync_v2 != nullptr && f.cuEventCreate != nullptr && f.cuEventRecord != nullptr &&
         f.cuEventQuery != nullptr && f.cuStreamCreateWithPriority != nullptr &&
         f.cuCtxGetStreamPriorityRange != nullptr && f.cuStreamSynchronize != nullptr && f.cuLaunchKernel != nullptr;
}

bool is_done(CUevent event) { return real().cuEventQuery(event) == CUDA_SUCCESS; }

}  // namespace

std::vector<void*> WorkerKernel::parameters() {
  std::vector<void*> pointers;
  pointers.reserve(offsets.size() + 2);
  for (const std::size_t offset : offsets) pointers.push_back(values.data() + offset);
  pointers.push_back(&control);
  pointers.push_back(&grid);
  return pointers;
}

std::unique_ptr<WorkerTable> WorkerTable::make(std::uint32_t allowed_sms) {
  std::unique_ptr<WorkerTable> table(new WorkerTable);
  return can_make() && table->open(allowed_sms) ? std::move(table) : nullptr;
}

// The memory belongs to the context, and tables end with their context.
WorkerTable::~WorkerTable() = default;

bool WorkerTable::open(std::uint32_t allowed_sms) {
  const RealFunctions& f = real();
  int least = 0, greatest = 0;
  void* counts = nullptr;
  const bool is_open =
      f.cuCtxGetStreamPriorityRange(&least, &greatest) == CUDA_SUCCESS &&
      f.cuStreamCreateWithPriority(&stream_, kNonBlocking, greatest) == CUDA_SUCCESS &&
      f.cuMemAlloc_v2(&control_, sizeof(PersistentControl) + sizeof(PersistentQueue)) == CUDA_SUCCESS &&
      f.cuMemHostAlloc(&counts, (kMaxSms + 1) * sizeof(std::uint32_t), kPortableAndMapped) == CUDA_SUCCESS &&
      zero(control_, sizeof(PersistentControl) + sizeof(PersistentQueue));
  before_ = control_ + sizeof(PersistentControl);
  counts_ = static_cast<std::uint32_t*>(counts);
  return is_open && add_block() && allow(allowed_sms);
}

bool WorkerTable::add_block() {
  const RealFunctions& f = real();
  Block block;
  void* words = nullptr;
  if (f.cuMemAlloc_v2(&block.queues, kQueueBytes) != CUDA_SUCCESS ||
      f.cuMemHostAlloc(&words, kLaunchesOfBlock * sizeof(CompletionWord), kPortableAndMapped) != CUDA_SUCCESS ||
      f.cuEventCreate(&block.zeroed, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
    return false;
  block.complete = static_cast<CompletionWord*>(words);
  if (!zero(block) || f.cuStreamSynchronize(stream_) != CUDA_SUCCESS) return false;
  blocks_.push_back(block);
  return true;
}

bool WorkerTable::zero(Block& block) const {
  const RealFunctions& f = real();
  for (std::size_t i = 0; i < kLaunchesOfBlock; ++i) new (&block.complete[i]) CompletionWord(0);
  block.taken = block.used = 0;
  return zero(block.queues, kQueueBytes) && f.cuEventRecord(block.zeroed, stream_) == CUDA_SUCCESS;
}

// Not by cuMemset, which may run a kernel that would have to wait for room on an SM.
bool WorkerTable::zero(CUdeviceptr address, std::size_t bytes) const {
  static const auto& zeros = *new std::vector<std::byte>(kQueueBytes);
  static_assert(kQueueBytes >= sizeof(PersistentControl) + sizeof(PersistentQueue));
  return real().cuMemcpyHtoDAsync_v2(address, zeros.data(), bytes, stream_) == CUDA_SUCCESS;
}

WorkerTable::Block* WorkerTable::usable_block() {
  if (blocks_[current_].taken < kLaunchesOfBlock) return &blocks_[current_];
  forget_ended();
  for (Block& block : blocks_) {
    if (block.taken == kLaunchesOfBlock && block.used == 0 && !zero(block)) return nullptr;
  }
  const auto is_usable = [](const Block& block) { return block.taken == 0 && is_done(block.zeroed); };
  auto at = std::find_if(blocks_.begin(), blocks_.end(), is_usable);
  if (at == blocks_.end() && blocks_.size() < kMaxBlocks && add_block()) at = blocks_.end() - 1;
  if (at == blocks_.end()) return nullptr;
  current_ = static_cast<std::size_t>(at - blocks_.begin());
  return &*at;
}

std::optional<WorkerTable::Launch> WorkerTable::take() {
  Block* const block = usable_block();
  if (block == nullptr) return std::nullopt;
  const std::size_t index = block->taken++;
  ++block->used;
  return Launch{current_, index,
                control_, block->queues + index * sizeof(PersistentQueue),
                before_,  reinterpret_cast<std::uint64_t>(&block->complete[index])};
}

void WorkerTable::launched(const Launch& launch, WorkerKernel kernel) {
  running_.push_back({launch, std::move(kernel), {}});
  // Launches of a stream end in their order, so that those at the front have ended in most cases.
  while (!running_.empty() && is_complete(running_.front())) {
    --blocks_[running_.front().words.block].used;
    running_.pop_front();
  }
}

void WorkerTable::give_back(const Launch& launch) { --blocks_[launch.block].used; }

void WorkerTable::forget(CUfunction function) {
  for (Running& running : running_) {
    if (running.kernel.function == function) running.kernel.function = nullptr;
  }
}

bool WorkerTable::is_complete(const Running& running) const {
  const Launch& words = running.words;
  return blocks_[words.block].complete[words.index].load(std::memory_order_acquire) != 0 &&
         std::all_of(running.beside.begin(), running.beside.end(),
                     [this](std::size_t place) { return is_done(beside_[place].ended); });
}

void WorkerTable::forget_ended() {
  running_.remove_if([this](const Running& running) {
    if (!is_complete(running)) return false;
    --blocks_[running.words.block].used;
    return true;
  });
}

bool WorkerTable::allow(std::uint32_t sms) {
  std::uint32_t limits[kMaxSms];
  for (std::size_t i = 0; i < kMaxSms; ++i) limits[i] = i < sms ? kAnyNumber : 0;
  // Workers that are added see the new limits.
  const RealFunctions& f = real();
  return f.cuMemcpyHtoDAsync_v2(control_ + offsetof(PersistentControl, limit), limits, sizeof limits, stream_) ==
             CUDA_SUCCESS &&
         f.cuStreamSynchronize(stream_) == CUDA_SUCCESS;
}

std::optional<std::size_t> WorkerTable::free_beside() {
  const RealFunctions& f = real();
  const auto at = std::find_if(beside_.begin(), beside_.end(), [](const Beside& b) { return is_done(b.ended); });
  if (at != beside_.end()) return static_cast<std::size_t>(at - beside_.begin());
  Beside made;
  if (beside_.size() == kMaxBeside || f.cuStreamCreateWithPriority(&made.stream, kNonBlocking, 0) != CUDA_SUCCESS ||
      f.cuEventCreate(&made.ended, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
    return std::nullopt;
  beside_.push_back(made);
  return beside_.size() - 1;
}

unsigned WorkerTable::add_workers() {
  forget_ended();
  std::set<CUstream> seen;
  unsigned added = 0;
  for (Running& running : running_) {
    const bool has_ended = blocks_[running.words.block].complete[running.words.index].load() != 0;
    if (!has_ended && seen.insert(running.kernel.stream).second) added += add_workers(running);
  }
  return added;
}

unsigned WorkerTable::add_workers(Running& running) {
  const RealFunctions& f = real();
  if (running.kernel.function == nullptr) return 0;
  const auto place = free_beside();
  if (!place) return 0;
  WorkerKernel beside = running.kernel;
  beside.grid.workers = 0;
  beside.grid.beside = rewrite::kBesideStream;
  beside.grid.before = running.words.queue + rewrite::kBegunAsCompleted;
  beside.grid.before_total = 1;
  beside.grid.complete = before_ + offsetof(PersistentQueue, left);  // a word that is not read
  auto parameters = beside.parameters();
  if (f.cuLaunchKernel(beside.function, beside.workers, 1, 1, beside.block_x, beside.block_y, beside.block_z,
                       beside.shared_bytes, beside_[*place].stream, parameters.data(), nullptr) != CUDA_SUCCESS)
    return 0;
  running.beside.push_back(*place);
  // Without the event the words of the launch are not used again.
  return f.cuEventRecord(beside_[*place].ended, beside_[*place].stream) == CUDA_SUCCESS ? 1 : 0;
}

unsigned WorkerTable::add_where_few(const runtime::SmSet& resident, std::uint32_t own_sms) {
  forget_ended();
  const std::uint64_t before = std::exchange(first_queue_, running_.empty() ? 0 : running_.front().words.queue);
  if (first_queue_ == 0 || first_queue_ != before) return 0;
  Running& first = running_.front();
  const std::size_t usable = std::min<std::size_t>(own_sms, first.kernel.grid.total);
  const runtime::SmSet own = ~(~runtime::SmSet() << std::min<std::size_t>(own_sms, kMaxSms));
  return 2 * (resident & own).count() < usable && is_under_way(first) ? add_workers(first) : 0;
}

bool WorkerTable::is_under_way(const Running& running) const {
  const RealFunctions& f = real();
  std::uint32_t* const next = counts_ + kMaxSms;
  return f.cuMemcpyDtoHAsync_v2(next, running.words.queue + offsetof(PersistentQueue, next), sizeof *next, stream_) ==
             CUDA_SUCCESS &&
         f.cuStreamSynchronize(stream_) == CUDA_SUCCESS && *next != 0 && *next < running.kernel.grid.total;
}

std::optional<runtime::SmSet> WorkerTable::resident() {
  const RealFunctions& f = real();
  if (f.cuMemcpyDtoHAsync_v2(counts_, control_ + offsetof(PersistentControl, resident), kMaxSms * sizeof(std::uint32_t),
                             stream_) != CUDA_SUCCESS ||
      f.cuStreamSynchronize(stream_) != CUDA_SUCCESS)
    return std::nullopt;
  runtime::SmSet sms;
  for (std::size_t i = 0; i < kMaxSms; ++i) sms[i] = counts_[i] != 0;
  return sms;
}

}  // namespace wm::forward
