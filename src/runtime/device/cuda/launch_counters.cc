#include "runtime/device/cuda/launch_counters.h"

#include <algorithm>
#include <cstring>

#include "rewrite/ptx/persistent.h"

namespace wm::runtime::cuda {
namespace {

constexpr std::size_t kLaunches = 2048;  // a block has the words of so many
constexpr std::size_t kDeviceBytes = kLaunches * sizeof(rewrite::PersistentQueue);
constexpr std::size_t kHostBytes = kLaunches * sizeof(std::uint32_t);
constexpr unsigned kUntimed = 2;

}  // namespace

struct LaunchCounterPool::Block {
  Address queues = 0;
  std::span<std::byte> words;
  Event zeroed = nullptr;
  std::vector<CudaLaunchCounters> launches;
  std::size_t taken = 0, used = 0;  // handed out since it was zeroed, and not given back
};

LaunchCounterPool::LaunchCounterPool(Device& device, HostMemory& host, Stream stream)
    : device_(device), host_(host), stream_(stream) {}

LaunchCounterPool::~LaunchCounterPool() {
  device_.make_current();
  for (const auto& block : blocks_) {
    if (block->zeroed != nullptr) device_.cuda.destroy_event(block->zeroed);
    device_.free_words(block->queues);
    host_.give_back(block->words);
  }
}

std::unique_ptr<LaunchCounterPool::Block> LaunchCounterPool::make_block() {
  auto block = std::make_unique<Block>();
  if (stream_ == nullptr || device_.allocate_words(block->queues, kDeviceBytes) != kSuccess) return nullptr;
  block->words = host_.take(kHostBytes);
  if (block->words.empty() || device_.cuda.create_event(&block->zeroed, kUntimed) != kSuccess) {
    device_.free_words(block->queues);
    if (!block->words.empty()) host_.give_back(block->words);
    return nullptr;
  }
  block->launches.resize(kLaunches);
  for (std::size_t i = 0; i < kLaunches; ++i) {
    CudaLaunchCounters& launch = block->launches[i];
    launch.queue = block->queues + i * sizeof(rewrite::PersistentQueue);
    launch.complete = new (block->words.data() + i * sizeof(std::uint32_t)) std::atomic<std::uint32_t>(0);
  }
  return block;
}

void LaunchCounterPool::zero(Block& block) {
  block.taken = 0;
  std::memset(block.words.data(), 0, kHostBytes);
  device_.cuda.fill_32(block.queues, 0, kDeviceBytes / sizeof(std::uint32_t), stream_);
  device_.cuda.record_event(block.zeroed, stream_);
}

LaunchCounterPool::Block* LaunchCounterPool::usable_block() {
  for (const auto& block : blocks_) {
    if (block->used == 0 && block->taken != 0) zero(*block);
  }
  const auto usable = std::find_if(blocks_.begin(), blocks_.end(), [this](const auto& block) {
    return block->taken == 0 && device_.cuda.query_event(block->zeroed) == kSuccess;
  });
  if (usable != blocks_.end()) return usable->get();
  auto made = make_block();  // words are zero when they are allocated
  if (made == nullptr) return nullptr;
  blocks_.push_back(std::move(made));
  return blocks_.back().get();
}

std::shared_ptr<CudaLaunchCounters> LaunchCounterPool::take() {
  const std::lock_guard lock(mutex_);
  device_.make_current();
  if (current_ == nullptr || current_->taken == kLaunches) current_ = usable_block();
  if (current_ == nullptr) return nullptr;
  Block& block = *current_;
  ++block.used;
  return {&block.launches[block.taken++], [this, &block](CudaLaunchCounters*) { give_back(block); }};
}

void LaunchCounterPool::give_back(Block& block) {
  const std::lock_guard lock(mutex_);
  --block.used;
}

}  // namespace wm::runtime::cuda
